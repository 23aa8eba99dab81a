"""Cells -> grids: two axes each, one surface a test type, everything else the same."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.analyse.results import CellResult, Grid
from leadline.analyse.varying import bound_to_target, by_experiment, varying_settings
from leadline.analyse.wording import settings
from leadline.spec.settings import AXES
from leadline.store.records import Cell

_PREFERRED = ("iodepth", "numjobs", "clients", "storage_nodes", "block_size", "message_size", "ioengine")
_NEVER_AXES = {"rw", "test", "naming", "driver"}


def lay_grids(cells: Sequence[CellResult]) -> list[Grid]:
    """The grids of each experiment; one whose cells have no two settings in common has none."""
    varying = varying_settings(cells, by_experiment)
    experiments: dict[str, list[CellResult]] = {}
    for cell in cells:
        experiments.setdefault(cell.experiment, []).append(cell)
    never = _NEVER_AXES | bound_to_target(cells)
    return [
        grid for name, members in experiments.items() for grid in _grids_of(members, varying[name] - never)
    ]


def _grids_of(cells: list[CellResult], varying: set[str]) -> list[Grid]:
    axes = choose_axes(cells, varying)
    if axes is None:
        return []
    told_apart = sorted(varying - set(axes))
    groups: dict[tuple[object, ...], list[CellResult]] = {}
    for cell in cells:
        groups.setdefault(tuple(cell.cell.get(name) for name in told_apart), []).append(cell)
    return [_grid(axes, told_apart, members) for members in groups.values()]


def choose_axes(cells: Sequence[CellResult], varying: set[str]) -> tuple[str, str] | None:
    """iodepth against numjobs where both vary; else what varies most, filled up with what all cells have.

    None where the cells do not have two settings in common.
    """
    common = set.intersection(*(set(cell.cell) for cell in cells)) - _NEVER_AXES
    levels = {name: len({cell.cell[name] for cell in cells}) for name in common if name in varying}
    ranked = sorted(levels, key=lambda name: (_rank(name), -levels[name], name))
    if not {"iodepth", "numjobs"} <= set(ranked):
        ranked.sort(key=lambda name: (name not in _PREFERRED, -levels[name], _rank(name)))
    rest = sorted(common - set(ranked), key=lambda name: (_rank(name), name not in AXES, name))
    chosen = (ranked + rest)[:2]
    return _oriented(chosen[0], chosen[1]) if len(chosen) == 2 else None


def _oriented(first: str, second: str) -> tuple[str, str]:
    """x before y in the usual order: iodepth, numjobs, block size."""
    return (first, second) if _rank(first) <= _rank(second) else (second, first)


def _rank(name: str) -> int:
    return _PREFERRED.index(name) if name in _PREFERRED else len(_PREFERRED)


def _grid(axes: tuple[str, str], told_apart: list[str], cells: list[CellResult]) -> Grid:
    first = cells[0]
    fixed: Cell = {name: first.cell[name] for name in told_apart if name in first.cell}
    label = settings(fixed, fixed) or settings(first.cell, {"block_size"} - set(axes)) or first.experiment
    return Grid(
        run=first.run,
        experiment=first.experiment,
        label=label,
        fixed=fixed,
        x_axis=axes[0],
        y_axis=axes[1],
        tests=tuple(dict.fromkeys(cell.test for cell in cells)),
        cells=tuple(cells),
    )
