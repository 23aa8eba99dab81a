"""A closed queueing network, as a value: stations that requests visit, and a delay at which nobody waits.

Of one kind of customer. Stations of a kind are alike and visited alike; that is how clusters are built.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rates = Callable[[Floats], Floats]
"""Numbers of requests at one station -> requests a second that it serves then."""


class Resource(StrEnum):
    """What can bind, as it is named to people."""

    CLIENT_SOFTWARE = "client software"
    CLIENT_NIC = "client NIC"
    SWITCH = "switch"
    STORAGE_NIC = "storage NIC"
    SERVER_SOFTWARE = "server software"
    DISK = "disks"


DEEPEST, SAMPLES = 2.0**20, 128
"""How far, and at how many loads, a rate is looked at."""
NETWORK = (Resource.CLIENT_NIC, Resource.SWITCH, Resource.STORAGE_NIC)


def steady(service_seconds: float) -> Rates:
    """One server: the same rate whatever waits."""
    return lambda waiting: np.full_like(waiting, 1.0 / service_seconds)


@dataclass(frozen=True)
class Stations:
    """Stations of one kind, each with its own queue."""

    resource: Resource
    count: int
    visits: float
    """How often a customer passes through this kind on one round, over all stations of it."""
    rates: Rates
    peak_rate: float
    """The most that one station serves, whatever waits."""
    variability: float = 1.0
    """Squared coefficient of variation of a service: 1 exponential, 0 always the same. At most 1."""

    @property
    def alone_seconds(self) -> float:
        """Service of a customer who is alone, over all visits of a round."""
        return self.visits / float(self.rates(np.ones(1))[0])

    @property
    def most_rounds(self) -> float:
        """Rounds a second at which every station of this kind is busy all the time."""
        return self.count * self.peak_rate / self.visits

    def most_rounds_with(self, customers: int) -> float:
        """The same from this load on: a disk that serves less the more it is asked is full long before its peak."""
        loads = np.geomspace(max(1.0, customers / self.count), DEEPEST, SAMPLES)
        return self.count * float(self.rates(loads).max()) / self.visits


@dataclass(frozen=True)
class Network:
    """What a request goes through."""

    stations: tuple[Stations, ...]
    delay_seconds: float = 0.0

    @property
    def binding(self) -> Stations:
        """The kind that is used up first."""
        return min(self.stations, key=lambda kind: kind.most_rounds)

    @property
    def most_rounds(self) -> float:
        """Rounds a second that no number of customers exceeds."""
        return self.binding.most_rounds

    @property
    def alone_seconds(self) -> float:
        """One round of a customer who is alone."""
        return self.delay_seconds + sum(kind.alone_seconds for kind in self.stations)

    def slowed(self, delay_seconds: float, speed: float) -> Network:
        """The same with a further delay, and every station at `speed` times its rate."""
        stations = tuple(_at_speed(kind, speed) for kind in self.stations)
        return Network(stations, self.delay_seconds + delay_seconds)


def _at_speed(kind: Stations, speed: float) -> Stations:
    return replace(kind, rates=lambda waiting: kind.rates(waiting) * speed, peak_rate=kind.peak_rate * speed)
