"""The original C and shell pjdfstest, where the user has it: each of its scripts run as prove(1) runs it, and its TAP read.

leadline does not bring this suite. A script is one case; it passes when all its assertions hold.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.formats.tap import Script, read_script
from leadline.run.posix.suite import Spoken, speak
from leadline.store.conformance import Case, Outcome

VARIABLE = "LEADLINE_PJDFSTEST"
SCRIPT_SECONDS = 600.0
REASONS = 3
"""So many failed assertions are quoted."""


@dataclass(frozen=True)
class CSuite:
    """A built checkout."""

    checkout: Path
    script_seconds: float = SCRIPT_SECONDS
    kind: str = "c"

    @property
    def version(self) -> str:
        """The commit, where git knows one."""
        commit = _git_commit(self.checkout)
        return f"pjdfstest (C){f' at {commit}' if commit else ''}"

    @cached_property
    def names(self) -> Sequence[str]:
        """`chmod/00.t` and so on."""
        folder = self.checkout / "tests"
        return sorted(str(path.relative_to(folder)) for path in folder.glob("*/*.t"))

    @property
    def facts(self) -> Mapping[str, Any]:
        """Where it stands."""
        return {"checkout": str(self.checkout)}

    def run(self, name: str, directory: Path) -> Case:
        """One script, with the directory as its working directory."""
        script = self.checkout / "tests" / name
        spoken = speak(("sh", str(script)), directory, self.script_seconds)
        return _case(name, spoken, self.script_seconds)


def find_checkout(given: Path | None) -> Path:
    """As given, or named by LEADLINE_PJDFSTEST; raises UserError for what is no built checkout."""
    named = given or (Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None)
    if named is None:
        raise UserError(
            f"the C suite does not come with leadline; give your checkout with --checkout DIR or {VARIABLE}, or take --suite rust"
        )
    if not (named / "tests" / "misc.sh").is_file() or not any((named / "tests").glob("*/*.t")):
        raise UserError(
            f"{named} is no checkout of pjdfstest: tests/misc.sh and tests/*/*.t are expected in it"
        )
    if not os.access(named / "pjdfstest", os.X_OK):
        raise UserError(
            f"{named / 'pjdfstest'} is not built yet; run autoreconf -ifs && ./configure && make pjdfstest there"
        )
    return named.resolve()


def _case(name: str, spoken: Spoken, script_seconds: float) -> Case:
    script = read_script(spoken.text)
    outcome, reason = _judged(script, spoken, script_seconds)
    return Case(name, outcome, reason, spoken.seconds, len(script.assertions), len(script.failed))


def _judged(script: Script, spoken: Spoken, script_seconds: float) -> tuple[Outcome, str]:
    if spoken.hung:
        return Outcome.FAILED, f"did not end within {script_seconds:g} s"
    if script.tests_nothing:
        return Outcome.NOT_APPLICABLE, "the script tests nothing on this system"
    if script.failed:
        quoted = [each.text or "an assertion does not hold" for each in script.failed[:REASONS]]
        more = len(script.failed) - len(quoted)
        return Outcome.FAILED, "; ".join(quoted) + (f"; and {more} more" if more else "")
    if script.bailed_out is not None:
        return Outcome.FAILED, f"it bailed out: {script.bailed_out}"
    if not script.complete or spoken.exit_code:
        said = " ".join(spoken.complaint.split())[:200]
        planned = "no plan" if script.planned is None else f"{script.planned} planned"
        return Outcome.FAILED, f"it broke off: {len(script.assertions)} assertions, {planned}; {said}".rstrip(
            "; "
        )
    return Outcome.PASSED, ""


def _git_commit(folder: Path) -> str | None:
    try:
        asked = subprocess.run(
            ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"],
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return asked.stdout.strip() or None if asked.returncode == 0 and (folder / ".git").exists() else None
