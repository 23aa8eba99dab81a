"""The section "Local disks against their sheets" and its table in the terminal. No arithmetic here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup
from rich.console import Console
from rich.table import Table
from rich.text import Text

from leadline.analyse.disks import DiskLine, in_words
from leadline.analyse.results import Results
from leadline.analyse.wording import digits, percent
from leadline.report import wording
from leadline.report.page import templates

ABSENT = "–"
HEADS = ("disk", "test", "nominal", "measured at best", "95 % interval", "n", "of nominal", "what is off")
NARROW = 110
"""Below this many characters a line the interval is left to the report."""
IN_NARROW = (0, 1, 2, 3, 6, 7)
NARROWEST = 76
IN_NARROWEST = (0, 1, 3, 6, 7)
ADVICE = (
    "Well below its sheet (under 70 %): too few requests in flight or too small blocks, the disk's link or firmware, "
    "wear, or what lies between."
)
DECIMAL = 1000.0
STEPS = ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"))
"""Sheets are printed in powers of ten, and so is what is laid beside them."""


@dataclass(frozen=True)
class Row:
    """One disk in one test, in words."""

    fields: tuple[str, ...]
    """By HEADS."""
    at: str
    """Settings of the best cell."""
    is_off: bool
    width: str
    """Percent of the longest bar."""


def rows(one: Results) -> list[Row]:
    """Of one run."""
    longest = max((line.ratio or 0.0 for line in one.disks), default=0.0) or 1.0
    return [_row(line, max(longest, 1.0)) for line in one.disks]


def disks_section(results: Sequence[Results]) -> Markup | None:
    """None where no sheet is stated, or no local disk was measured."""
    parts = [(one.label, rows(one)) for one in results if one.disks]
    if not parts:
        return None
    template = templates().get_template("disks.html.j2")
    return Markup(template.render(parts=parts, heads=HEADS, advice=ADVICE, several=len(results) > 1))


def show_disks(one: Results, console: Console) -> None:
    """Nothing where no sheet is stated."""
    if not one.disks:
        return
    console.print(_table(rows(one), console.width))
    if any(line.is_off for line in one.disks):
        console.print(Text(f"  {ADVICE}", style="dim"))
    console.print()


def _table(several: Sequence[Row], width: int) -> Table:
    table = Table(title="Local disks against their sheets", title_justify="left", box=None, pad_edge=False)
    places = _shown(width)
    for place in places:
        words = place in (0, 1, len(HEADS) - 1)
        table.add_column(
            HEADS[place], justify="left" if words else "right", overflow="fold", no_wrap=not words
        )
    for row in several:
        style = "yellow" if row.is_off else ""
        table.add_row(*(Text(row.fields[place], style=style) for place in places))
    return table


def _shown(width: int) -> Sequence[int]:
    if width >= NARROW:
        return range(len(HEADS))
    return IN_NARROW if width >= NARROWEST else IN_NARROWEST


def _row(line: DiskLine, longest: float) -> Row:
    names = " + ".join(line.disks)
    source = "" if line.source == "sheet" else f" {line.source}"
    return Row(
        fields=(
            f"{line.host}: {names}" if line.host else names,
            line.test,
            f"{_rate(line.metric, line.nominal)}{source}",
            *_measured(line),
            percent(line.ratio) if line.ratio is not None else ABSENT,
            in_words(line),
        ),
        at=wording.cell_phrase(line.cell.cell) if line.cell else "",
        is_off=line.is_off,
        width=f"{100 * (line.ratio or 0.0) / longest:.2f}",
    )


def _measured(line: DiskLine) -> Iterator[str]:
    """Figure, interval and n."""
    figure, cell = line.figure, line.cell
    if figure is None or cell is None:
        yield from (ABSENT, ABSENT, ABSENT)
        return
    mark = "" if cell.valid(line.metric) else "○ "
    yield mark + _rate(line.metric, figure.value)
    known = figure.low is not None and figure.high is not None
    yield (
        f"{_rate(line.metric, figure.low or 0)} to {_rate(line.metric, figure.high or 0)}"
        if known
        else "none"
    )
    yield str(figure.n)


def _rate(metric: str, value: float) -> str:
    """As sheets print it: "7.1 GB/s", "1,000,000 IOPS"."""
    if metric == "iops":
        return wording.measure("rate", value)
    size, unit = next(((size, unit) for size, unit in STEPS if value >= size), (1.0, "B/s"))
    return f"{digits(value / size)} {unit}"
