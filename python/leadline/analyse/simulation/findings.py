"""What a simulation found, in the terms of the other results: throughput, latencies, who binds, what to doubt."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from leadline.analyse import wording
from leadline.analyse.prediction.stations import Resource
from leadline.analyse.simulation.scenarios import Scenario
from leadline.store.histogram import Histogram

USED_UP = 0.9
"""From this share of what it can do, a resource binds; no queue is long far below it."""
STEADY = 0.02
"""So far may the first half of the requests be from half of the time."""
FALLEN_BEHIND = 0.02
"""So much less than arrives is answered where the cluster does not keep up, beyond what chance may do."""
DEVIATIONS = 4
"""Of the number of arrivals, which come by chance."""
KINDS = {
    "client_software": Resource.CLIENT_SOFTWARE,
    "client_nic_out": Resource.CLIENT_NIC,
    "client_nic_in": Resource.CLIENT_NIC,
    "switch": Resource.SWITCH,
    "storage_nic_in": Resource.STORAGE_NIC,
    "storage_nic_out": Resource.STORAGE_NIC,
    "storage_software": Resource.SERVER_SOFTWARE,
    "storage_disk": Resource.DISK,
}
"""The engine's names, to those that predictions use."""


@dataclass(frozen=True)
class Use:
    """All resources of a kind, in the direction that is used more."""

    mean: float
    """Share of what they can do, 0..1."""
    highest: float
    """Of the one that is used most."""


WAYS = ("read", "write")


@dataclass(frozen=True)
class Bound:
    """What holds a point up."""

    kind: Resource
    how: Literal["all", "one", "none"]
    """All of the kind are used up, a single one that others wait for, or nothing."""
    share: float
    """So far is it used."""


@dataclass(frozen=True)
class OfWay:
    """The reads, or the writes, of a mixed load."""

    iops: float
    mean_ns: float | None
    """None where nothing was answered."""
    latencies: Histogram

    def percentile_ns(self, fraction: float) -> float | None:
        """None where nothing was answered."""
        return float(self.latencies.percentile(fraction)) if self.latencies.total else None


@dataclass(frozen=True)
class Finding:
    """One scenario, simulated."""

    scenario: Scenario
    outcome: Mapping[str, Any]

    @property
    def bandwidth(self) -> float:
        """Bytes of the application a second."""
        return float(self.outcome["bytes_per_second"])

    @property
    def iops(self) -> float:
        """Requests a second."""
        return float(self.outcome["operations_per_second"])

    @property
    def mean_ns(self) -> float | None:
        """None where nothing was answered."""
        mean = self.outcome["latency"]["mean_ns"]
        return None if mean is None else float(mean)

    def percentile_ns(self, fraction: float) -> float | None:
        """None where nothing was answered."""
        return float(self._latencies.percentile(fraction)) if self._latencies.total else None

    def of_way(self, way: str) -> OfWay:
        """Of a mixed load: WAYS has the names."""
        latency = self.outcome[f"{way}_latency"]
        seconds = self.outcome["window_ns"] / 1e9
        mean = latency["mean_ns"]
        return OfWay(
            latency["count"] / seconds,
            None if mean is None else float(mean),
            Histogram.from_bins(dict(latency["bins"])),
        )

    @cached_property
    def _latencies(self) -> Histogram:
        return Histogram.from_bins(dict(self.outcome["latency"]["bins"]))

    @cached_property
    def uses(self) -> dict[Resource, Use]:
        """By kind, in the order of a request's way."""
        found: dict[Resource, Use] = {}
        for each in self.outcome["resources"]:
            kind, use = (
                KINDS[each["name"]],
                Use(each["mean_utilisation"], min(1.0, each["highest_utilisation"])),
            )
            if kind not in found or use.mean > found[kind].mean:
                found[kind] = use
        return found

    @property
    def bound(self) -> Bound:
        """Who is used up."""
        kind, use = max(self.uses.items(), key=lambda item: item[1].mean)
        if use.mean >= USED_UP:
            return Bound(kind, "all", use.mean)
        alone, busiest = max(self.uses.items(), key=lambda item: item[1].highest)
        if busiest.highest >= USED_UP and busiest.highest > 2 * busiest.mean:
            return Bound(alone, "one", busiest.highest)
        return Bound(kind, "none", use.mean)

    @property
    def binding(self) -> str:
        """The same in words; where nobody is used up, requests wait for each other's turn or for the time that each takes."""
        kind, how, share = self.bound.kind, self.bound.how, self.bound.share
        return {
            "all": f"{kind} {share:.0%}",
            "one": f"one of {kind}, {share:.0%}",
            "none": f"latency ({kind} {share:.0%})",
        }[how]

    @property
    def _shortfall_by_chance(self) -> float:
        return DEVIATIONS / math.sqrt(max(self.outcome["operations"], 1))

    @property
    def doubts(self) -> list[str]:
        """What not to trust, a sentence each."""
        found = []
        if self.outcome["failed_operations"]:
            found.append(
                f"{wording.count(self.outcome['failed_operations'])} requests failed: what they asked for lies on failed "
                "nodes only; throughput and latency are of the others"
            )
        arriving = self.scenario.settings["arrivals_per_second"]
        if arriving is not None and self.iops < arriving * (1 - self._shortfall_by_chance - FALLEN_BEHIND):
            found.append(
                f"{wording.iops(arriving)} arrive and {wording.iops(self.iops)} are answered: the queue grows as long as it lasts, "
                "and latency with it"
            )
        elif abs(self.outcome["first_half_share"] - 0.5) > STEADY + self._shortfall_by_chance:
            found.append(
                f"half of the requests took {self.outcome['first_half_share']:.0%} of the time: queues still change; raise "
                "`operations` and `warm_up` in [simulation]"
            )
        return found
