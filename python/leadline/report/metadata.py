"""The section "Metadata": for each tree and way a table as mdtest prints it, published rates in grey, and one line an operation.

A rate never stands without its errors, nor a doubtful one without its mark; one with a trend shows its first and last repeat.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from leadline.analyse.attribution import what_binds
from leadline.analyse.order import PHASES
from leadline.analyse.phases import Phase
from leadline.analyse.results import CellResult, Results
from leadline.analyse.wording import count, digits, failures, listed, percent
from leadline.published.tables import PublishedTable
from leadline.report import wording
from leadline.report.metadata_trees import (
    LOAD,
    load_words,
    published_rates,
    published_title,
    ranks,
    tree_title,
)
from leadline.store.records import Direction

TAILS = ("p50", "p99", "p99.9")


@dataclass(frozen=True)
class Rate:
    """One figure of the first table."""

    text: str
    failed: str = ""
    doubts: str = ""
    evidence: str = ""


@dataclass(frozen=True)
class RateRow:
    """All operations at one load; `source` cites a published row."""

    load: str
    rates: tuple[Rate | None, ...]
    source: str = ""


@dataclass(frozen=True)
class OperationRow:
    """One operation at one load, with everything that must stand beside its rate."""

    operation: str
    load: str
    rate: Rate
    interval: str
    errors: str
    n: str
    method: str
    tails: tuple[str, ...]
    first_done: str
    requests: str
    binds: str


@dataclass(frozen=True)
class Tree:
    """Cells that differ in their load only."""

    run: str
    title: str
    operations: tuple[str, ...]
    rates: tuple[RateRow, ...]
    rows: tuple[OperationRow, ...]
    counts_requests: bool
    has_published: bool


def trees(results: Sequence[Results], beside: Sequence[PublishedTable] = ()) -> list[Tree]:
    """All trees of all runs, in the order of their cells."""
    return [_tree(one, cells, beside) for one in results for cells in _by_tree(one.cells)]


def _by_tree(cells: Iterable[CellResult]) -> Iterable[list[CellResult]]:
    groups: dict[tuple[object, ...], list[CellResult]] = {}
    for cell in cells:
        if cell.phase is not None and cell.direction.is_of_names:
            rest = frozenset((name, value) for name, value in cell.cell.items() if name not in LOAD)
            groups.setdefault((cell.experiment, rest), []).append(cell)
    return groups.values()


def _tree(one: Results, cells: list[CellResult], beside: Sequence[PublishedTable]) -> Tree:
    present = {cell.direction for cell in cells}
    operations = tuple(direction for direction in PHASES if direction in present)
    ordered = sorted(cells, key=_load)
    rates = tuple(_rate_rows(ordered, operations, beside, one.manifest.name))
    return Tree(
        run=one.label,
        title=tree_title(cells[0]),
        operations=tuple(map(str, operations)),
        rates=rates,
        rows=tuple(
            _operation_row(cell, one)
            for direction in operations
            for cell in ordered
            if cell.direction is direction
        ),
        counts_requests=any(cell.phase and cell.phase.requests for cell in cells),
        has_published=any(row.source for row in rates),
    )


def _load(cell: CellResult) -> tuple[int, tuple[float, ...]]:
    values = (cell.cell.get(name, 1) for name in LOAD)
    return ranks(cell), tuple(float(value) for value in values if isinstance(value, int | float))


def _rate_rows(
    cells: Sequence[CellResult],
    operations: Sequence[Direction],
    beside: Sequence[PublishedTable],
    campaign: str,
) -> Iterable[RateRow]:
    """By ascending load; below each number of processes what was published of it, once."""
    rows: dict[tuple[object, ...], dict[Direction, CellResult]] = {}
    for cell in cells:
        rows.setdefault(_load(cell), {})[cell.direction] = cell
    left = {table.name: published_rates(table, cells[0], campaign) for table in beside}
    titles = {table.name: published_title(table, cells[0]) for table in beside}
    for members in rows.values():
        first = next(iter(members.values()))
        yield RateRow(
            load_words(first), tuple(_rate(members[name]) if name in members else None for name in operations)
        )
        for name, rates in left.items():
            if published := rates.pop(ranks(first), None):
                yield _published_row(titles[name], ranks(first), published, operations)
    for name, rates in left.items():
        for number, published in rates.items():
            yield _published_row(titles[name], int(number), published, operations)


def _published_row(
    title: str, number: int, published: Mapping[Direction, float], operations: Sequence[Direction]
) -> RateRow:
    load = "1 process" if number == 1 else f"{number} processes"
    rates = tuple(Rate(count(published[name])) if name in published else None for name in operations)
    return RateRow(load, rates, title)


def _rate(cell: CellResult) -> Rate:
    estimate, spoiled = cell.metrics.get("iops"), cell.spoiled("iops")
    failed = f"{sum(cell.failed.values()):,} failed" if cell.failed else ""
    if estimate is None:
        return Rate("none", failed)
    text = count(estimate.value)
    if estimate.ends:
        text = f"{count(estimate.ends[0])} \u2192 {text}"
    return Rate(
        text=text,
        failed=failed,
        doubts=listed(dict.fromkeys(str(verdict.name) for verdict in spoiled)),
        evidence="; ".join(verdict.evidence for verdict in spoiled),
    )


def _operation_row(cell: CellResult, one: Results) -> OperationRow:
    estimate, phase = cell.metrics.get("iops"), cell.phase
    known = estimate is not None and estimate.low is not None and estimate.high is not None
    name, share = what_binds(cell, one)
    return OperationRow(
        operation=str(cell.direction),
        load=load_words(cell),
        rate=_rate(cell),
        interval=f"{count(estimate.low or 0)} to {count(estimate.high or 0)}"
        if known and estimate
        else "none",
        errors=failures(cell.failed) if cell.failed else "0",
        n=f"{estimate.n:,}" if estimate else "0",
        method=estimate.method if estimate else "",
        tails=tuple(_tail(cell, tail) for tail in TAILS),
        first_done=_per_second(phase.first_done_per_second if phase else None),
        requests=_requests(phase),
        binds=f"{name}, {percent(share)}" if share is not None else name,
    )


def _requests(phase: Phase | None) -> str:
    """ "2.00 FUSE, 0.0100 metadata": what one operation asks for, at each door."""
    each = phase.requests_per_operation if phase else {}
    return ", ".join(f"{digits(share)} {kind}".strip() for kind, share in each.items()) or "\u2013"


def _tail(cell: CellResult, name: str) -> str:
    found = cell.metrics.get(name)
    if found is None:
        return "\u2013"
    return ("" if cell.valid(name) else "\u25cb ") + wording.measure("latency", found.value)


def _per_second(rate: float | None) -> str:
    return "\u2013" if rate is None else count(rate)
