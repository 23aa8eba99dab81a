"""Which settings tell the cells of an experiment apart: they name the lines, choose the axes of grids and
head tables.
"""

from __future__ import annotations

from collections.abc import Iterable

from leadline.analyse.results import CellResult
from leadline.store.records import Scalar


def varying_settings(cells: Iterable[CellResult]) -> dict[str, set[str]]:
    """By experiment: settings that take more than one value in it, or that only some of its cells have."""
    values: dict[str, dict[str, set[Scalar | None]]] = {}
    counts: dict[str, int] = {}
    having: dict[tuple[str, str], int] = {}
    for cell in cells:
        experiment = values.setdefault(cell.experiment, {})
        counts[cell.experiment] = counts.get(cell.experiment, 0) + 1
        for name, value in cell.cell.items():
            experiment.setdefault(name, set()).add(value)
            having[cell.experiment, name] = having.get((cell.experiment, name), 0) + 1
    return {
        experiment: {
            name
            for name, taken in settings.items()
            if len(taken) > 1 or having[experiment, name] < counts[experiment]
        }
        for experiment, settings in values.items()
    }
