"""What one disk served by how many requests were at it, out of measured cells.

Where cells of equal load differ, a disk's curve is mostly chance. Then each load also takes its nearest neighbours, as
many cells as it takes for their median to be known to a tenth; a disk that repeats itself keeps every cell as it is.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median

import numpy as np

from leadline.analyse.prediction.stations import Floats
from leadline.analyse.results import CellResult, VerdictName

KNOWN_TO = 0.1
"""Standard error of a load's throughput that is asked for, as a share of it."""
MEDIAN_VARIANCE = math.pi / 2
"""Variance of a median over that of a mean, of normal figures."""
LIGHTEST = 3
"""Cells from which the evenness of a service is taken: one alone may hold the start of its run."""
NINETIETH = 1.2815515655446004
"""The normal distribution's 90th percentile, in standard deviations."""
Measured = Mapping[float, Sequence[float]]
"""Requests at the disk -> requests a second, of each cell."""


@dataclass(frozen=True)
class ServiceCurve:
    """What one disk served, by how many requests were at it."""

    loads: tuple[float, ...]
    """Rising."""
    iops: tuple[float, ...]
    variability: float
    """Squared coefficient of variation of a service, alone on the disk."""
    spread: float
    """Largest over smallest throughput among cells with as many requests, less 1; the median. 0 where no load came twice."""
    peak: float
    """The most that was served at any load, neighbours aside: a bound is not below what was seen."""

    def rates(self, waiting: Floats) -> Floats:
        """Between loads on straight lines in logarithms; beyond them as at the last."""
        found = np.interp(np.log(waiting), self._log_loads, self._log_iops)
        return np.asarray(np.exp(found), dtype=np.float64)

    @cached_property
    def _log_loads(self) -> Floats:
        return np.log(np.asarray(self.loads, dtype=np.float64))

    @cached_property
    def _log_iops(self) -> Floats:
        return np.log(np.asarray(self.iops, dtype=np.float64))


def service_curve(cells: Sequence[CellResult]) -> ServiceCurve:
    """From all cells of one test and size that measured the disk."""
    by_load: dict[float, list[CellResult]] = defaultdict(list)
    for cell in cells:
        by_load[_load(cell)].append(cell)
    loads = sorted(by_load)
    measured = {load: [cell.metrics["iops"].value for cell in by_load[load]] for load in loads}
    twice = [max(found) / min(found) - 1 for found in measured.values() if len(found) > 1]
    needed = _cells_needed(measured)
    lightest = [cell for load in loads for cell in by_load[load]][:LIGHTEST]
    return ServiceCurve(
        loads=tuple(loads),
        iops=tuple(median(_around(load, measured, needed)) for load in loads),
        variability=median(map(_variability, lightest)),
        spread=median(twice) if twice else 0.0,
        peak=max(map(median, measured.values())),
    )


def _cells_needed(measured: Measured) -> float:
    """Cells whose median is known to a tenth, by how far cells of equal load lie apart."""
    deviations, free = 0.0, 0
    for found in measured.values():
        logs = [math.log(value) for value in found]
        deviations += sum((each - fmean(logs)) ** 2 for each in logs)
        free += len(logs) - 1
    return MEDIAN_VARIANCE * deviations / free / KNOWN_TO**2 if free else 1.0


def _around(load: float, measured: Measured, needed: float) -> list[float]:
    """Of this load, then of those nearest by factor, both sides at once, until there are as many as needed."""
    found: list[float] = []
    for near in _by_distance(load, measured):
        found += [value for each in near for value in measured[each]]
        if len(found) >= needed:
            break
    return found


def _by_distance(load: float, loads: Mapping[float, object]) -> Iterator[list[float]]:
    distances: dict[float, list[float]] = defaultdict(list)
    for each in loads:
        distances[round(abs(math.log2(each / load)), 6)].append(each)
    for distance in sorted(distances):
        yield distances[distance]


def _load(cell: CellResult) -> float:
    """Requests at the disk: as asked for, or as kept where Little's law says otherwise."""
    inert = any(verdict.name is VerdictName.INERT_AXIS for verdict in cell.verdicts)
    kept = cell.effective_concurrency if inert else None
    return max(1.0, round(kept) if kept else float(cell.concurrency))


def _variability(cell: CellResult) -> float:
    """From median and 90th percentile, as of a lognormal; 1 where they are not known, which is never too hopeful."""
    middle, high = cell.metrics.get("p50"), cell.metrics.get("p90")
    if middle is None or high is None or middle.value <= 0:
        return 1.0
    deviation = math.log(max(1.0, high.value / middle.value)) / NINETIETH
    return min(1.0, math.expm1(min(deviation**2, 1.0)))
