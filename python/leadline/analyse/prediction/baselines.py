"""Baselines as predictions read them: what one disk and one NIC did alone, out of measured cells.

A disk's baseline is its throughput by the number of requests at it, for each test and size of request: nothing is
taken from another size, for a disk at 4 KiB says little of the same disk at 1 MiB.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leadline.analyse.prediction.service_curves import ServiceCurve, service_curve
from leadline.analyse.results import CellResult, VerdictName
from leadline.store.records import Cell, Scalar

NOT_THE_DISK = {
    VerdictName.CACHED,
    VerdictName.IMPOSSIBLE,
    VerdictName.INCOMPLETE,
    VerdictName.NOT_OVERLAPPING,
    VerdictName.SHORT_WINDOW,
}
"""Cells whose rate has one of these did not measure what a disk does at that load."""
Slowness = tuple[Scalar | None, ...]
"""Latency, channels and bandwidth of a channel that a lab's disk was given; None where its disks answer when they can."""
TESTS = ("read", "randread", "write", "randwrite")


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
    made_slow: frozenset[Slowness] = frozenset()
    """How the lab slowed the measured disks down."""


def read_baselines(cells: Sequence[CellResult]) -> Baselines:
    """From the cells of one or several runs; cells of other kinds are passed over."""
    by_curve: dict[tuple[str, int], list[CellResult]] = defaultdict(list)
    left_out = 0
    for cell in cells:
        block = cell.cell.get("block_size")
        if cell.test not in TESTS or not isinstance(block, int) or not cell.metrics:
            continue
        if any(verdict.name in NOT_THE_DISK for verdict in cell.spoiled("iops")):
            left_out += 1
        elif cell.metrics["iops"].value > 0:
            by_curve[cell.test, block].append(cell)
    curves = {key: service_curve(found) for key, found in by_curve.items()}
    slow = frozenset(slowness_of(cell.cell) for found in by_curve.values() for cell in found)
    return Baselines(curves, _network(cells), left_out, slow)


def slowness_of(cell: Cell) -> Slowness:
    """From the conditions among a cell's settings."""
    return tuple(cell.get(key) for key in ("disk_latency", "disk_channels", "disk_channel_bandwidth"))


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
