"""Which settings tell cells apart: they name the lines, choose the axes of grids and head tables."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

from leadline.analyse.results import CellResult
from leadline.store.records import Scalar

Group = Callable[[CellResult], Hashable]
TARGET = "target"


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
    return {name: varying_names(members) for name, members in groups.items()}


def varying_names(cells: Sequence[CellResult]) -> set[str]:
    """Settings that take more than one value in these cells, or that only some of them have."""
    values: dict[str, set[Scalar]] = {}
    having: dict[str, int] = {}
    for cell in cells:
        for name, value in cell.cell.items():
            values.setdefault(name, set()).add(value)
            having[name] = having.get(name, 0) + 1
    return {name for name, taken in values.items() if len(taken) > 1 or having[name] < len(cells)}


def bound_to_target(cells: Sequence[CellResult]) -> set[str]:
    """Settings that follow from the target: they differ between targets and never within one (its ioengine, its mount options)."""
    if not any(TARGET in cell.cell for cell in cells):
        return set()
    taken: dict[str, dict[Scalar | None, set[Scalar | None]]] = {}
    names = dict.fromkeys(name for cell in cells for name in cell.cell)
    for cell in cells:
        for name in names:
            values = taken.setdefault(name, {})
            values.setdefault(cell.cell.get(TARGET), set()).add(cell.cell.get(name))
    return {name for name in names if name != TARGET and _follows(taken[name])}


def of_target(name: str) -> bool:
    """Whether a setting belongs to how a target is made up, and not to the load on it."""
    return name in (TARGET, "storage_nodes") or name.startswith(f"{TARGET}.")


def _follows(by_target: dict[Scalar | None, set[Scalar | None]]) -> bool:
    """One value for each target, and not the same for all."""
    distinct = set().union(*by_target.values())
    return len(distinct) > 1 and all(len(values) == 1 for values in by_target.values())
