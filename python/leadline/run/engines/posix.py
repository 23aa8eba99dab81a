"""The conformance engine: a suite run on a step's mount, in a process of its own; its result is a document and no rate."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from leadline.plan.steps import Step
from leadline.run.seams import Completed, Invocation, Now, Outcome, Place

WORKER = "leadline.run.posix.worker"
DOCUMENT = "posix"
RESULT = "posix.json"
PROGRESS = re.compile(r"case (\d{1,9}) (\d{1,9})\s*")


class PosixEngine:
    """`leadline posix` as a step."""

    def check(self, steps: Sequence[Step]) -> None:
        """The suites themselves are looked for before (run/needs.py)."""

    def prepare(self, step: Step, place: Place, scratch: Path) -> Invocation:
        """A target of the lab is leadline's own, so it may be mounted read-only for the cases about that."""
        seconds = step.options.get("case_timeout")
        document = {
            "path": str(place.data),
            "suite": step.cell["suite"],
            "checkout": step.options.get("checkout"),
            "remount": bool(step.site.target),
            "label": label_of(step),
            "case_seconds": float(seconds) if seconds else None,
            "facts": _facts(step),
            "result": str(scratch / RESULT),
        }
        asked = scratch / "wishes.json"
        asked.write_text(json.dumps(document), encoding="utf-8")
        argv = (sys.executable, "-m", WORKER, str(asked))
        return Invocation(argv, scratch, scratch, step.timeout_seconds, by_hand=_by_hand(step, place))

    def collect(self, step: Step, invocation: Invocation, completed: Completed) -> Outcome:
        """Failed cases are the result and no fault of the step."""
        path = invocation.scratch / RESULT
        raw = {"posix.txt": completed.stderr.encode()}
        if completed.exit_code != 0 or not path.is_file():
            said = completed.stderr.strip().splitlines()
            return Outcome(reason=said[-1] if said else "the suite ended without a result", raw=raw)
        return Outcome(raw=raw, documents={DOCUMENT: path.read_text(encoding="utf-8")})

    def now(self, line: str) -> Now | None:
        """How many of the cases are done; there is no rate."""
        found = PROGRESS.fullmatch(line)
        return Now(0.0, 0.0, int(found[1]) / int(found[2])) if found else None


def label_of(step: Step) -> str | None:
    """As columns are headed: the target with its options; a directory is named after its filesystem."""
    site = step.site
    if not site.target:
        return str(step.cell["target"]) if "target" in step.cell else None
    options = ", ".join(f"{name}={value}" for name, value in site.options)
    return f"{site.label or site.target}{f' ({options})' if options else ''}"


def _facts(step: Step) -> dict[str, object]:
    site = step.site
    return {"target": site.target, "options": dict(site.options)} if site.target else {}


def _by_hand(step: Step, place: Place) -> tuple[str, ...]:
    site = step.site
    if not site.target:
        where: tuple[str, ...] = (str(place.data.parent),)
    else:
        options = (word for name, value in site.options for word in ("--option", f"{name}={value}"))
        where = ("--target", site.target, *options)
    suite = () if step.cell["suite"] == "rust" else ("--suite", str(step.cell["suite"]))
    return ("leadline", "posix", *where, *suite)
