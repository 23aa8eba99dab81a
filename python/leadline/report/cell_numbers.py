"""Cells by number: figures and pairs refer to a cell of the table instead of holding it again."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from leadline.analyse.results import CellResult


class CellNumbers:
    """The place of a cell in the table, also for a copy of it: the analysis may have added verdicts meanwhile."""

    def __init__(self, cells: Iterable[CellResult]) -> None:
        listed = list(cells)
        self._alive = listed  # an id names a cell only while the cell lives
        self._by_object = {id(cell): number for number, cell in enumerate(listed)}
        self._by_key = {key(cell): number for number, cell in enumerate(listed)}

    def __getitem__(self, cell: CellResult) -> int:
        number = self._by_object.get(id(cell))
        return self._by_key[key(cell)] if number is None else number


def key(cell: CellResult) -> Hashable:
    """What makes a cell the same measured point."""
    return (cell.run, cell.experiment, cell.test, cell.direction, frozenset(cell.cell.items()))
