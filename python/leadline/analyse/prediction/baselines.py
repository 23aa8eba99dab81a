"""Baselines as predictions read them: what one disk and one NIC did alone, out of measured cells.

A disk's baseline is its throughput by the number of requests at it, for each test and size of request: nothing is
taken from another size, for a disk at 4 KiB says little of the same disk at 1 MiB.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

import numpy as np

from leadline.analyse.prediction.stations import Floats
from leadline.analyse.results import CellResult, VerdictName

NOT_THE_DISK = {
    VerdictName.CACHED,
    VerdictName.IMPOSSIBLE,
    VerdictName.INCOMPLETE,
    VerdictName.NOT_OVERLAPPING,
}
"""Cells with one of these did not measure what a disk does at that load."""
TESTS = ("read", "randread", "write", "randwrite")
LIGHTEST = 3
"""Cells from which the evenness of a service is taken: one alone may hold the start of its run."""
NINETIETH = 1.2815515655446004
"""The normal distribution's 90th percentile, in standard deviations."""


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

    @property
    def peak(self) -> float:
        """The most that was served at any load."""
        return max(self.iops)

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


@dataclass(frozen=True)
class NetworkBaseline:
    """What one NIC sent to another, by message size; empty where it was not measured."""

    bandwidths: Mapping[int, float]
    """Bytes per second."""
    round_trip_seconds: float | None

    @property
    def peak(self) -> float | None:
        """Bytes per second at the best size."""
        return max(self.bandwidths.values(), default=None)

    def bandwidth(self, message_bytes: float) -> float:
        """Bytes per second for messages of this size; raises ValueError where nothing was measured."""
        sizes = sorted(self.bandwidths)
        logs = [math.log(size) for size in sizes]
        return float(np.interp(math.log(message_bytes), logs, [self.bandwidths[size] for size in sizes]))


@dataclass(frozen=True)
class Baselines:
    """All that was measured of the parts."""

    disks: Mapping[tuple[str, int], ServiceCurve]
    """By test and size of request."""
    network: NetworkBaseline
    left_out: int = 0
    """Cells of disks whose verdict says that they did not measure the disk."""


def read_baselines(cells: Sequence[CellResult]) -> Baselines:
    """From the cells of one or several runs; cells of other kinds are passed over."""
    by_curve: dict[tuple[str, int], list[CellResult]] = defaultdict(list)
    left_out = 0
    for cell in cells:
        block = cell.cell.get("block_size")
        if cell.test not in TESTS or not isinstance(block, int) or not cell.metrics:
            continue
        if any(verdict.name in NOT_THE_DISK for verdict in cell.verdicts):
            left_out += 1
        elif cell.metrics["iops"].value > 0:
            by_curve[cell.test, block].append(cell)
    curves = {key: _curve(found) for key, found in by_curve.items()}
    return Baselines(curves, _network(cells), left_out)


def _curve(cells: Sequence[CellResult]) -> ServiceCurve:
    by_load: dict[float, list[CellResult]] = defaultdict(list)
    for cell in cells:
        by_load[_load(cell)].append(cell)
    loads = sorted(by_load)
    rates = [[cell.metrics["iops"].value for cell in by_load[load]] for load in loads]
    twice = [max(found) / min(found) - 1 for found in rates if len(found) > 1]
    lightest = [cell for load in loads for cell in by_load[load]][:LIGHTEST]
    return ServiceCurve(
        loads=tuple(loads),
        iops=tuple(median(found) for found in rates),
        variability=median(map(_variability, lightest)),
        spread=median(twice) if twice else 0.0,
    )


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


def _network(cells: Iterable[CellResult]) -> NetworkBaseline:
    """The best of the tests by size; the round trip of the smallest message. Sends and writes state half of one."""
    bandwidths: dict[int, float] = {}
    trips: dict[int, float] = {}
    for cell in cells:
        test, size = str(cell.cell.get("test", "")), cell.cell.get("message_size")
        if not isinstance(size, int) or size < 1:
            continue
        if test.endswith("_bw") and "bandwidth" in cell.metrics:
            bandwidths[size] = max(cell.metrics["bandwidth"].value, bandwidths.get(size, 0.0))
        if test.endswith("_lat") and "mean" in cell.metrics:
            whole = cell.metrics["mean"].value / 1e9 * (1 if "read" in test else 2)
            trips[size] = min(whole, trips.get(size, math.inf))
    return NetworkBaseline(bandwidths, trips[min(trips)] if trips else None)
