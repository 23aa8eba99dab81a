"""Which settings tell cells apart: they name the lines, choose the axes of grids and head tables."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from leadline.analyse.results import CellResult
from leadline.store.records import Scalar

Group = Callable[[CellResult], Hashable]


def by_experiment(cell: CellResult) -> Hashable:
    """Cells of one experiment share a grid."""
    return cell.experiment


def by_test(cell: CellResult) -> Hashable:
    """Cells of one test in one experiment share a plot of lines."""
    return cell.experiment, cell.test


def varying_settings(cells: Iterable[CellResult], group: Group) -> dict[Hashable, set[str]]:
    """By group: settings that take more than one value in it, or that only some of its cells have."""
    groups: dict[Hashable, list[CellResult]] = {}
    for cell in cells:
        groups.setdefault(group(cell), []).append(cell)
    return {name: _varying(members) for name, members in groups.items()}


def _varying(cells: list[CellResult]) -> set[str]:
    values: dict[str, set[Scalar]] = {}
    having: dict[str, int] = {}
    for cell in cells:
        for name, value in cell.cell.items():
            values.setdefault(name, set()).add(value)
            having[name] = having.get(name, 0) + 1
    return {name for name, taken in values.items() if len(taken) > 1 or having[name] < len(cells)}
