"""One load forecast three ways: on a napkin, by bounds, by queues. All from the same network, so at equal knowledge."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from leadline.analyse.prediction.paths import Parts, network_of
from leadline.analyse.prediction.predictions import Forecast
from leadline.analyse.prediction.queueing import EXACT, rounds_per_second, rounds_with
from leadline.analyse.prediction.stations import NETWORK, Correction, Network, Resource, Stations
from leadline.analyse.prediction.workload import Load, Work, circulating, in_flight, offered, work_of

AS_BASELINES = Correction()
GAIN = 1.1
"""A resource binds where doubling the requests in flight gains less than a tenth, as with knees."""


@dataclass
class Forecaster:
    """Remembers the curves, for the cells of a test share them."""

    parts: Parts
    _curves: dict[tuple[int, Network], list[float]] = field(default_factory=dict)
    _networks: dict[tuple[str, int, int, int], Network] = field(default_factory=dict)
    _corrected: dict[tuple[Network, Correction], Network] = field(default_factory=dict)

    def network(self, load: Load) -> Network:
        """Raises UserError where a baseline is missing."""
        place = load.test, load.block_size, load.clients, _files(load, self.parts)
        if place not in self._networks:
            self._networks[place] = network_of(self.parts, load)
        return self._networks[place]

    def napkin(self, load: Load) -> Forecast:
        """The least of the caps, each as if it were alone; the latency of the disks at that load and of the wire."""
        cluster, work = self.parts.cluster, work_of(load, self.parts.cluster)
        network = self.network(load)
        waiting = float(in_flight(load, cluster))
        caps = [_cap(kind, waiting) / work.parts for kind in network.stations]
        disks = _of(network, Resource.DISK)
        seconds = disks.visits * waiting / _rate(disks, waiting) + network.delay_seconds
        wire = _of(network, Resource.CLIENT_NIC).service_seconds
        return Forecast(min(caps), (seconds + wire) * 1e9)

    def bounds(self, load: Load) -> Forecast:
        """No more than the narrowest resource gives, and no more than requests alone on an idle cluster would."""
        network, work = self.network(load), work_of(load, self.parts.cluster)
        alone = circulating(load, self.parts.cluster) / network.alone_seconds
        return self._forecast(load, min(alone, network.most_rounds), work)

    def queueing(self, load: Load, correction: Correction = AS_BASELINES) -> Forecast:
        """The closed network of queues; corrections come from probes."""
        network, work = self.network(load), work_of(load, self.parts.cluster)
        if correction != AS_BASELINES:
            place = network, correction
            network = self._corrected.setdefault(place, network.corrected(correction))
        return self._forecast(load, self._rounds(network, circulating(load, self.parts.cluster)), work)

    def shares(self, load: Load, iops: float) -> dict[str, float]:
        """How far each resource would be used at that throughput."""
        parts = work_of(load, self.parts.cluster).parts
        customers = circulating(load, self.parts.cluster)
        return {
            kind.resource: min(1.0, iops * parts / kind.most_rounds_with(customers))
            for kind in self.network(load).stations
        }

    def binding(self, load: Load) -> str:
        """What is used up, where twice as many requests would gain little; else where a lone request spends its time."""
        network = self.network(load)
        customers = circulating(load, self.parts.cluster)
        rounds = self._rounds(network, customers)
        if self._rounds(network, 2 * customers) < GAIN * rounds:
            return str(
                max(network.stations, key=lambda kind: rounds / kind.most_rounds_with(customers)).resource
            )
        longest = max(network.stations, key=lambda kind: kind.alone_seconds)
        if network.delay_seconds > longest.alone_seconds:
            return "latency (software, wire)"
        return f"latency ({longest.resource})"

    def _forecast(self, load: Load, rounds: float, work: Work) -> Forecast:
        return Forecast.of(rounds / work.parts, offered(load, self.parts.cluster))

    def _rounds(self, network: Network, customers: int) -> float:
        if customers > EXACT or network.pinned is not None:
            return rounds_with(network, customers)
        size = 1 << max(6, (customers - 1).bit_length())
        if (size, network) not in self._curves:
            self._curves[size, network] = rounds_per_second(network, size)
        return self._curves[size, network][customers - 1]


def network_share(shares: dict[str, float]) -> float:
    """Of the fullest part of the network."""
    return max(shares.get(resource, 0.0) for resource in NETWORK)


def _files(load: Load, parts: Parts) -> int:
    """Files matter only where they limit the disks that are reached."""
    cluster = parts.cluster
    return load.numjobs * load.files if cluster.chunk_size is None or cluster.stripe is not None else 0


def _of(network: Network, resource: Resource) -> Stations:
    return next(kind for kind in network.stations if kind.resource is resource)


def _rate(kind: Stations, waiting: float) -> float:
    return float(kind.rates(np.array([waiting]))[0])


def _cap(kind: Stations, waiting: float) -> float:
    """Rounds a second at this kind alone, with as many requests at each of its stations as there are in all."""
    return kind.count * _rate(kind, waiting) / kind.visits
