"""What conformance suites found, in one sentence a suite: counts of each filesystem, never a share of one suite beside the other's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from leadline.analyse.conformance import Tally, tally
from leadline.analyse.results import Answer
from leadline.analyse.wording import listed
from leadline.store.conformance import Conformance

RIGHT = "Is it right?"


def conformance_in_words(runs: Sequence[Conformance]) -> Iterable[Answer]:
    """Those that failed nothing together, then each of the others, the fewest failures first."""
    for version in dict.fromkeys(run.version for run in runs):
        counted = [(run, tally("total", run.cases)) for run in runs if run.version == version]
        clean = [f"{run.label} ({_passed(total)})" for run, total in counted if not total.failed]
        broken = sorted(
            ((run, total) for run, total in counted if total.failed), key=lambda one: one[1].failed
        )
        parts = [f"no case failed on {listed(clean)}"] if clean else []
        parts += [f"{_failed(total)} on {run.label}{_calls(run)}" for run, total in broken]
        yield Answer(RIGHT, f"POSIX, {version}: {'; '.join(parts)}.")


def _passed(total: Tally) -> str:
    skipped = f", {total.skipped} skipped" if total.skipped else ""
    return f"{total.passed} passed{skipped}"


def _failed(total: Tally) -> str:
    return f"{total.failed} of {total.tested} failed"


def _calls(run: Conformance) -> str:
    """Of which calls, where they are few."""
    calls = list(dict.fromkeys(case.call for case in run.cases if case.outcome == "failed"))
    return f" ({', '.join(calls[:6])}{' ...' if len(calls) > 6 else ''})"
