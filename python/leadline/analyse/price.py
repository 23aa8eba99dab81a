"""The price of consistency: what a cache's time buys in rates of metadata, and what it costs in staleness and lost appends.

Joins cells on metadata with cells on consistency by what they stand on. A price needs the same target under at least two sets of options.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from leadline.analyse.consistency import Sounded
from leadline.analyse.merge import cell_key
from leadline.analyse.results import CellResult, Results
from leadline.analyse.visibility import CellWindow
from leadline.errors import UserError
from leadline.spec.settings import is_of_site
from leadline.spec.units import parse_duration
from leadline.store.records import Direction
from leadline.store.visibility import Cell as GridCell
from leadline.store.visibility import Ending

ENOUGH = 0.9
"""Of the best rate: the least cache time that has so much of it is the one to name."""


@dataclass(frozen=True)
class Point:
    """A target under one set of options."""

    label: str
    """What tells it from the other points: "1 s", or "attr-cache 1, entry-cache 0"."""
    cache_seconds: float | None
    """Where all that differs are times, and all are the same here."""
    rates: Mapping[Direction, CellResult]
    """By operation; of several cells on the site the fastest valid one."""
    stale_ns: float
    """The longest window of any change that is seen in the end; infinite where one outlasted the patience."""
    stale_cell: str
    """Which change that was."""
    patience_seconds: float
    lost: int
    """Trials of appends by turns in which a record was lost for good."""
    appends: int
    """n: such trials that were decided."""

    @property
    def loses(self) -> bool:
        """Whether anything appended was lost."""
        return self.lost > 0

    def rate(self, direction: Direction) -> float | None:
        """Operations a second."""
        cell = self.rates.get(direction)
        found = cell.metrics.get("iops") if cell else None
        return found.value if found else None


@dataclass(frozen=True)
class Price:
    """A target under several sets of options, from the least stale to the most."""

    run: str
    target: str
    options: tuple[str, ...]
    """Those that differ between its points."""
    points: tuple[Point, ...]
    operations: tuple[Direction, ...]
    """That every point has a rate of."""

    def gain(self, direction: Direction) -> float:
        """The best rate over that of the least stale point."""
        rates = [point.rate(direction) or 0.0 for point in self.points]
        return max(rates) / rates[0] if rates[0] else 0.0

    @property
    def dearest(self) -> Direction:
        """The operation to which the caches matter most."""
        return max(self.operations, key=self.gain)

    @property
    def enough(self) -> Point:
        """The least stale point that has most of the best rate of that operation."""
        best = max(point.rate(self.dearest) or 0.0 for point in self.points)
        return next(point for point in self.points if (point.rate(self.dearest) or 0.0) >= ENOUGH * best)


def prices(results: Results) -> tuple[Price, ...]:
    """One a target that was measured and sounded under several sets of options."""
    groups: dict[str, list[Sounded]] = {}
    for each in results.consistency:
        if each.visibility is not None and each.target and not each.cell.get("control"):
            groups.setdefault(each.target, []).append(each)
    found = (_price(target, members, results) for target, members in groups.items())
    return tuple(price for price in found if price is not None)


def _price(target: str, several: Sequence[Sounded], results: Results) -> Price | None:
    by_site: dict[object, list[Sounded]] = {}
    for each in several:
        by_site.setdefault(cell_key(each.site), []).append(each)
    differing = _differing([members[0].options for members in by_site.values()])
    never = _never_seen_anywhere(several)
    points = [_point(members, differing, never, results.cells) for members in by_site.values()]
    points = sorted((each for each in points if each.rates), key=_least_stale_first)
    shared = [way for way in Direction if points and all(each.rate(way) for each in points)]
    if len(points) < 2 or not shared:
        return None
    return Price(results.label, target, differing, tuple(points), tuple(shared))


def _least_stale_first(point: Point) -> tuple[float, float]:
    """By the cache's time where there is one: what was measured scatters."""
    return (point.stale_ns if point.cache_seconds is None else point.cache_seconds, point.stale_ns)


def _differing(options: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    names = dict.fromkeys(name for each in options for name in each)
    return tuple(name for name in names if len({each.get(name) for each in options}) > 1)


def _never_seen_anywhere(several: Iterable[Sounded]) -> set[GridCell]:
    """Changes that no set of options lets a reader see: they are not what the caches' time costs."""
    seen: dict[GridCell, list[bool]] = {}
    for each in several:
        for found in each.windows:
            seen.setdefault(found.cell, []).append(found.ending is Ending.NEVER)
    return {cell for cell, never in seen.items() if all(never)}


def _point(
    sounded: Sequence[Sounded], differing: Sequence[str], never: set[GridCell], cells: Sequence[CellResult]
) -> Point:
    first = sounded[0]
    found = [each for one in sounded for each in one.windows]
    late = [each for each in found if each.cell not in never and each.worst_ns and not _is_append(each)]
    worst = max(late, key=lambda each: each.worst_ns or 0.0, default=None)
    appends = [each for each in found if _is_append(each)]
    options = {name: first.options.get(name, "default") for name in differing}
    seconds = _one_time(options.values())
    return Point(
        label=_label(options, seconds),
        cache_seconds=seconds,
        rates=_rates(first, cells),
        stale_ns=(worst.worst_ns or 0.0) if worst else 0.0,
        stale_cell=str(worst.cell) if worst else "",
        patience_seconds=max(
            float(one.visibility.settings["patience_seconds"]) for one in sounded if one.visibility
        ),
        lost=sum(each.endings.get(Ending.LOST, 0) for each in appends),
        appends=sum(each.decided for each in appends),
    )


def _is_append(found: CellWindow) -> bool:
    """Appends by turns, which are lost and not late."""
    return found.cell.mutation == "append" and found.cell.probe == "append"


def _label(options: Mapping[str, str], seconds: float | None) -> str:
    if seconds is not None:
        return f"{seconds:g} s"
    return ", ".join(f"{name} {value}" for name, value in options.items())


def _one_time(values: Iterable[str]) -> float | None:
    """The time that all of them say; None where they differ or are no times."""
    several = set(values)
    if len(several) != 1:
        return None
    (value,) = several
    try:
        return float(value) if re.fullmatch(r"[\d.]+", value) else parse_duration(value)
    except (UserError, ValueError):
        return None


def _rates(sounded: Sounded, cells: Iterable[CellResult]) -> dict[Direction, CellResult]:
    """The fastest valid cell of each operation on the same site, else the fastest."""
    site = cell_key(sounded.site)
    best: dict[Direction, CellResult] = {}
    for cell in cells:
        own = cell_key({name: value for name, value in cell.cell.items() if is_of_site(name)})
        unfit = not cell.direction.is_of_names or cell.direction.is_of_trees
        if unfit or own != site or "iops" not in cell.metrics:
            continue
        known = best.get(cell.direction)
        if known is None or _rank(cell) > _rank(known):
            best[cell.direction] = cell
    return best


def _rank(cell: CellResult) -> tuple[bool, float]:
    value = cell.metrics["iops"].value
    return cell.valid("iops"), value if math.isfinite(value) else 0.0
