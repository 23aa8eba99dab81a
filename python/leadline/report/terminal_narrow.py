"""The table of cells where a terminal is too narrow for a column a setting: settings in one column, failures below the rate.

What is never cut is the verdict: a figure without it would look like one to be trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from leadline.analyse.results import CellResult
from leadline.analyse.wording import FULL_PATH

VERDICT_WIDTH = 16
"""The longest word of a verdict's name."""
TEST_WIDTH = 16
"""The longest operation of metadata."""
BOUNDLESS = 10_000
"""What a table needs is only told where there is room for it."""
GAPS = 6
"""Two blanks between four columns."""
COMMON_WAY = f", {FULL_PATH}"


@dataclass(frozen=True)
class NarrowRow:
    """One cell in words."""

    cell: CellResult
    settings: str
    figure: str
    verdict: Text


def fits(table: Table, console: Console) -> bool:
    """Whether every column has the width that it must have. What does not wrap is not narrowed either, which rich does not count."""
    for column in table.columns:
        if column.no_wrap:
            widest = max(cell_len(str(each)) for each in (column.header, *column.cells))
            column.min_width = min(widest, column.max_width or widest)
    boundless = console.options.update(width=BOUNDLESS)
    return Measurement.get(console, boundless, table).minimum <= console.width


def first_that_fits(tables: Iterable[Table], console: Console) -> Table:
    """Of the same table with less and less in it; the last where none fits."""
    for table in tables:
        if fits(table, console):
            break
    return table


def narrow_table(title: str, metric: str, rows: Sequence[NarrowRow], width: int) -> Table:
    """Four columns that fit in `width`; where all go by full paths, the title says so and not every row."""
    common = all(row.cell.test.endswith(COMMON_WAY) for row in rows)
    table = Table(
        title=f"{title}{COMMON_WAY if common else ''}", title_justify="left", box=None, pad_edge=False
    )
    figures = max(len(metric), *(len(line) for row in rows for line in _figure(row).splitlines()))
    left = max(width - figures - VERDICT_WIDTH - GAPS, 2)
    test = min(TEST_WIDTH, left - left // 3)
    table.add_column("test", width=test, overflow="fold")
    table.add_column("at", width=max(left - test, 1), overflow="fold")
    table.add_column(metric, width=figures, justify="right", no_wrap=True)
    table.add_column("verdict", width=VERDICT_WIDTH, overflow="fold")
    for row in rows:
        name = row.cell.test.removesuffix(COMMON_WAY) if common else row.cell.test
        table.add_row(Text(name), Text(row.settings), Text(_figure(row)), row.verdict)
    return table


def _figure(row: NarrowRow) -> str:
    failed = sum(row.cell.failed.values())
    return f"{row.figure}\n{failed:,} failed" if failed else row.figure
