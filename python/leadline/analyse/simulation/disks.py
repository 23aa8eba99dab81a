"""What one disk serves, by how many requests are on it: from a local baseline, or from what [cluster.disk] states.

Stated figures make the curve that they allow at best: requests do not disturb each other until the disk works on as many
as it can, or its bandwidth is used up. What comes on top waits in line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from leadline.analyse.prediction.baselines import TESTS
from leadline.analyse.prediction.paths import Parts
from leadline.errors import UserError
from leadline.spec.cluster import Disk, Service
from leadline.spec.units import format_size

DEEPEST = 1 << 16
"""As far as the engine tells depths apart."""
LAST_DEPTH = 512
"""Baselines are read at whole depths up to this, then at doublings: nobody measured closer."""
Curve = list[tuple[int, float]]
"""Requests on one disk, and requests a second that it then serves; rising from 1."""


@dataclass(frozen=True)
class Stated:
    """One disk under requests of one kind, as it is stated."""

    seconds: float
    """Of a request that is alone."""
    most_per_second: float
    at_once: float
    """Requests that do not disturb each other."""

    def at(self, depth: float) -> float:
        """Requests a second with so many on the disk."""
        return min(min(depth, self.at_once) / self.seconds, self.most_per_second)

    @property
    def curve(self) -> Curve:
        """Straight up to the knee, level beyond."""
        knee = min(self.at_once, self.most_per_second * self.seconds, DEEPEST)
        depths = {1, max(1, math.floor(knee)), max(1, math.ceil(knee))}
        return [(depth, self.at(depth)) for depth in sorted(depths)]


def stated_curve(disk: Disk, test: str, part_bytes: int, copied: bool) -> Curve:
    """`copied`: a write reads its chunk first. Raises UserError where [cluster.disk] does not say enough."""
    found = _stated(disk, test, part_bytes)
    if copied:
        reading = _stated(disk, "randread", part_bytes)
        both = 1 / found.most_per_second + 1 / reading.most_per_second
        most = 1 / both if both else math.inf
        found = Stated(found.seconds + reading.seconds, most, min(found.at_once, reading.at_once))
    return found.curve


def measured_curve(parts: Parts, test: str, part_bytes: int, copied: bool) -> Curve:
    """From a baseline of one disk, as deep as it goes; raises UserError where it holds no such requests."""
    curve = parts.curve(test, part_bytes)
    deepest = min(int(curve.loads[-1]), DEEPEST)
    further = (depth for depth in (LAST_DEPTH << step for step in range(1, 8)) if depth < deepest)
    whole = sorted({*range(1, min(deepest, LAST_DEPTH) + 1), *further, deepest})
    depths = np.array(whole, dtype=np.float64)
    rates = curve.rates(depths)
    if copied:
        known = ("randread", part_bytes) in parts.baselines.disks
        reading = parts.curve("randread" if known else "read", part_bytes).rates(depths)
        rates = 1 / (1 / rates + 1 / reading)
    return [(int(depth), float(rate)) for depth, rate in zip(depths, rates, strict=True)]


def _stated(disk: Disk, test: str, part_bytes: int) -> Stated:
    assert test in TESTS
    way = test.removeprefix("rand")
    bandwidth: float | None = getattr(disk, test) or getattr(disk, way)
    most = bandwidth / part_bytes if bandwidth else math.inf
    services: tuple[Service, ...] = getattr(disk, f"{way}_service")
    if services:
        seconds = _service_seconds(services, way, part_bytes)
        return Stated(seconds, max(most, 1 / seconds), disk.parallelism or (math.inf if bandwidth else 1))
    if bandwidth is None:
        raise UserError(
            f"[cluster.disk] says neither `{way}` (a bandwidth) nor `{way}_service` (measured times); "
            "give one of them, or a baseline of one disk with --baseline"
        )
    latency: float = getattr(disk, f"{way}_latency") or 0.0
    return Stated(latency + 1 / most, most, disk.parallelism or math.inf)


def _service_seconds(services: tuple[Service, ...], way: str, part_bytes: int) -> float:
    by_size = {service.size: service.time for service in services}
    if part_bytes not in by_size:
        known = ", ".join(format_size(size) for size in sorted(by_size))
        raise UserError(
            f"`{way}_service` in [cluster.disk] is measured at {known}, but requests reach the disks as "
            f"{format_size(part_bytes)}; measure one disk at that size"
        )
    return by_size[part_bytes]
