"""What the Rust pjdfstest prints: a line a case with `ok`, `FAILED` or `skipped`, below it why, at the end a summary.

The lines are plain text for people; there is no JSON, and no time a case.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from leadline.formats.fields import FormatError
from leadline.store.conformance import Case, Outcome

WORDS = {
    "ok": Outcome.PASSED,
    "FAILED": Outcome.FAILED,
    "skipped": Outcome.SKIPPED,
    "failed as expected": Outcome.FAILED,
    "PASSED UNEXPECTEDLY": Outcome.PASSED,
}
COLOUR = re.compile(r"\x1b\[[0-9;]{0,10}m")
CASE = re.compile(rf"^([a-z_0-9]{{1,60}}(?:::[a-z_0-9]{{1,80}}){{1,6}}) +({'|'.join(WORDS)})$")
SUMMARY = re.compile(r"^Summary: .* (\d{1,9}) total$")
BACKTRACE = "Backtrace:"


@dataclass(frozen=True)
class Report:
    """What a run printed."""

    cases: tuple[Case, ...]
    total: int
    """As its summary counts."""


def read_report(text: str) -> Report:
    """Raises FormatError where the summary is missing (it was killed) or counts other cases than were printed."""
    cases: list[Case] = []
    reasons: list[str] = []
    for line in COLOUR.sub("", text).splitlines():
        if match := SUMMARY.match(line):
            _explain(cases, reasons)
            return _checked(Report(tuple(cases), int(match[1])))
        if match := CASE.match(line):
            _explain(cases, reasons)
            cases.append(Case(match[1], WORDS[match[2]]))
            reasons = []
        else:
            reasons.append(line)
    raise FormatError("the output of pjdfstest ends without a summary")


def _checked(report: Report) -> Report:
    if len(report.cases) != report.total:
        raise FormatError(f"pjdfstest counts {report.total} cases and printed {len(report.cases)}")
    return report


def _explain(cases: list[Case], lines: list[str]) -> None:
    """What was printed below a case belongs to it."""
    if cases and (reason := _one_line(lines)):
        case = cases[-1]
        cases[-1] = Case(case.name, case.outcome, reason)


def _one_line(lines: list[str]) -> str:
    said = lines[: lines.index(BACKTRACE)] if BACKTRACE in lines else lines
    return "; ".join(dict.fromkeys(" ".join(line.split()) for line in said if line.strip()))
