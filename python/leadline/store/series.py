"""Quantities over time that were sampled together: one table, one row a quantity.

A step has some fifty counters with the same sampling times; kept one by one, 10,000 steps are half a million rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Series:
    """A quantity over time: `times_ns` since the step's start, monotonic; values are rates or gauges as `unit` says."""

    name: str
    unit: str
    times_ns: list[int]
    values: list[float]


@dataclass(frozen=True, eq=False)
class SeriesTable:
    """`values[i, k]` is quantity `names[i]`, in `units[i]`, at `times_ns[k]`."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    times_ns: NDArray[np.int64]
    values: NDArray[np.float64]

    @classmethod
    def group(cls, series: Iterable[Series]) -> tuple[SeriesTable, ...]:
        """One table for all series with the same times, in the order in which times first occur."""
        groups: dict[tuple[int, ...], list[Series]] = {}
        for each in series:
            groups.setdefault(tuple(each.times_ns), []).append(each)
        return tuple(cls._of(times, members) for times, members in groups.items())

    @classmethod
    def _of(cls, times_ns: tuple[int, ...], members: list[Series]) -> SeriesTable:
        values = np.array([each.values for each in members], dtype=np.float64).reshape(
            len(members), len(times_ns)
        )
        names, units = tuple(each.name for each in members), tuple(each.unit for each in members)
        return cls(names, units, np.array(times_ns, dtype=np.int64), values)

    def __iter__(self) -> Iterator[Series]:
        times_ns = self.times_ns.tolist()
        for name, unit, values in zip(self.names, self.units, self.values.tolist(), strict=True):
            yield Series(name, unit, times_ns, values)

    def __eq__(self, other: object) -> bool:
        """By content, NaN equal to NaN."""
        return isinstance(other, SeriesTable) and repr(list(self)) == repr(list(other))

    __hash__ = None  # type: ignore[assignment]
