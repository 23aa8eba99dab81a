"""Cells of an all-reduce by size: algorithm bandwidth as measured, bus bandwidth derived from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leadline.analyse.results import CellResult
from leadline.store.all_reduce import EXPERIMENT, bus_bandwidth


@dataclass(frozen=True)
class AllReduceRow:
    """One vector size."""

    size_bytes: int
    cell: CellResult
    bus_bytes_per_second: float | None


@dataclass(frozen=True)
class AllReduce:
    """All sizes of one number of ranks."""

    run: str
    ranks: int
    place: str
    """Of nccl-tests: "in place" or "out of place"; empty: out of place, by leadline."""
    rows: tuple[AllReduceRow, ...]


def all_reduces(cells: Sequence[CellResult]) -> tuple[AllReduce, ...]:
    """In the order of the cells; nothing where there was none."""
    groups: dict[tuple[str, int, str], list[CellResult]] = {}
    for cell in cells:
        if cell.cell.get("test") == EXPERIMENT and "ranks" in cell.cell:
            key = (cell.run, int(cell.cell["ranks"]), str(cell.cell.get("place", "")))
            groups.setdefault(key, []).append(cell)
    return tuple(
        AllReduce(run, ranks, place, tuple(sorted(map(_row, members), key=lambda row: row.size_bytes)))
        for (run, ranks, place), members in groups.items()
    )


def _row(cell: CellResult) -> AllReduceRow:
    rate = cell.metrics.get("bandwidth")
    bus = bus_bandwidth(rate.value, int(cell.cell["ranks"])) if rate else None
    return AllReduceRow(int(cell.cell["message_size"]), cell, bus)
