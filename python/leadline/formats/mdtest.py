"""mdtest's summary (v4), read and written: the table that everybody in the field knows.

Max, Min, Mean and Std Dev are of iterations; the deviation is that of a sample (n - 1), 0 for one iteration. mdtest counts
failed operations in its rates and says nothing of them; a table written here holds successful ones only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev

from leadline.formats.fields import FormatError

OPERATIONS = {
    "directory create": "Directory creation",
    "directory stat": "Directory stat",
    "directory rename": "Directory rename",
    "directory remove": "Directory removal",
    "file create": "File creation",
    "file stat": "File stat",
    "file read": "File read",
    "file remove": "File removal",
    "tree create": "Tree creation",
    "tree remove": "Tree removal",
}
"""What is done to what -> how mdtest's table calls it, in the table's order."""

HEADING = re.compile(r"^SUMMARY rate\b.*\(of (\d{1,9}) iterations?\)", re.MULTILINE)
TASKS = re.compile(r"launched with (\d{1,9}) total task")
VERSION = re.compile(r"^mdtest-(\S{1,40})", re.MULTILINE)
NUMBER = r"(\d{1,18}(?:\.\d{1,9})?)"
ROW = re.compile(
    rf"^[ \t]*([A-Z][a-z]+ [a-z]+)[ \t]+{NUMBER}[ \t]+{NUMBER}[ \t]+{NUMBER}[ \t]+{NUMBER}", re.MULTILINE
)


@dataclass(frozen=True)
class Row:
    """Operations a second over the iterations."""

    maximum: float
    minimum: float
    mean: float
    standard_deviation: float

    @classmethod
    def of(cls, rates: Sequence[float]) -> Row:
        """From one rate an iteration, at least one."""
        return cls(max(rates), min(rates), mean(rates), stdev(rates) if len(rates) > 1 else 0.0)


@dataclass(frozen=True)
class Summary:
    """What mdtest printed at the end."""

    iterations: int
    rows: Mapping[str, Row]
    """By the keys of OPERATIONS; rows of phases that did not run (mdtest prints 0.000) are left out."""
    ranks: int | None = None
    version: str | None = None


def read_summary(text: str) -> Summary:
    """The last summary in mdtest's output; raises FormatError when there is none."""
    headings = list(HEADING.finditer(text))
    if not headings:
        raise FormatError('this is no output of mdtest: "SUMMARY rate" with a table below it is missing')
    names = {title: name for name, title in OPERATIONS.items()}
    rows = {
        names[match[1]]: Row(*(float(match[column]) for column in range(2, 6)))
        for match in ROW.finditer(text, headings[-1].end())
        if match[1] in names
    }
    version, tasks = VERSION.search(text), TASKS.search(text)
    return Summary(
        int(headings[-1][1]),
        {name: row for name, row in rows.items() if row.maximum > 0},
        int(tasks[1]) if tasks else None,
        version[1] if version else None,
    )


def write_summary(rates: Mapping[str, Sequence[float]], iterations: int) -> str:
    """The table of these rates, one an iteration, by the keys of OPERATIONS; what has none is not in it."""
    lines = [
        f"SUMMARY rate (in ops/sec): (of {iterations} iterations)",
        f"   {'Operation':<22}{'Max':>16}{'Min':>16}{'Mean':>16}{'Std Dev':>16}",
        f"   {'---------':<22}{'---':>16}{'---':>16}{'----':>16}{'-------':>16}",
    ]
    for name, title in OPERATIONS.items():
        if rates.get(name):
            row = Row.of(rates[name])
            figures = (row.maximum, row.minimum, row.mean, row.standard_deviation)
            lines.append(f"   {title:<22}" + "".join(f"{figure:>16.3f}" for figure in figures))
    return "\n".join(lines)
