"""Surfaces: one a grid and test, the metric is chosen when it is drawn; cells stay visible as points on it."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.analyse.results import CellResult, Grid, Results
from leadline.report import wording
from leadline.report.figures.curves import sort_key
from leadline.report.figures.figure import Axis, Surface
from leadline.spec.settings import SETTINGS


def surfaces(results: Sequence[Results]) -> list[Surface]:
    """Every test of every grid of every run, ready for menus of run, grid and test."""
    found = []
    for one in results:
        repeated = len({grid.label for grid in one.grids}) < len(one.grids)
        for grid in one.grids:
            label = f"{grid.experiment}: {grid.label}" if repeated else grid.label
            found += [surface(grid, label, test) for test in grid.tests]
    return found


def surface(grid: Grid, label: str, test: str) -> Surface:
    """One test of a grid as rows and columns of cells."""
    cells = [cell for cell in grid.cells if cell.test == test]
    x_values = axis_values(cells, grid.x_axis)
    y_values = axis_values(cells, grid.y_axis)
    at = {(cell.cell.get(grid.x_axis), cell.cell.get(grid.y_axis)): cell for cell in cells}
    return Surface(
        keys={"run": grid.run, "grid": label, "test": test},
        x=setting_axis(grid.x_axis),
        y=setting_axis(grid.y_axis),
        x_values=x_values,
        y_values=y_values,
        rows=tuple(tuple(at.get((x, y)) for x in x_values) for y in y_values),
    )


def axis_values(cells: Sequence[CellResult], name: str) -> tuple[float | str, ...]:
    """The distinct values along an axis, ascending."""
    values = {cell.cell[name] for cell in cells if name in cell.cell}
    return tuple(sorted(values, key=sort_key))


def setting_axis(name: str) -> Axis:
    """An axis of cells' settings; logarithmic where the setting doubles from cell to cell."""
    logarithmic = name in SETTINGS and SETTINGS[name].logarithmic
    return Axis(name, wording.setting_label(name), None, logarithmic)
