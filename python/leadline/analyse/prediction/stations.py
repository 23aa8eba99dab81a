"""A closed queueing network, as a value: stations that requests visit, and a delay at which nobody waits.

Of one kind of customer. Stations of a kind are alike and visited alike; that is how clusters are built.
"""

from __future__ import annotations

import math
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
    FURTHER = "a further part"


RARE = 1e-4
"""Chances that are left out."""
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
    count: float
    """How many; a mean where chance says how many files lie on."""
    visits: float
    """How often a customer passes through this kind on one round, over all stations of it."""
    rates: Rates
    peak_rate: float
    """The most that one station serves, whatever waits."""
    variability: float = 1.0
    """Squared coefficient of variation of a service: 1 exponential, 0 always the same. At most 1."""
    is_passed_through: bool = False
    """Whether one who is alone spends no time of his own here, for it goes by while he is at a slower station."""

    @property
    def service_seconds(self) -> float:
        """What it takes to serve a customer on a round, over all visits."""
        return self.visits / float(self.rates(np.ones(1))[0])

    @property
    def alone_seconds(self) -> float:
        """What of that a customer who is alone waits for."""
        return 0.0 if self.is_passed_through else self.service_seconds

    @property
    def most_rounds(self) -> float:
        """Rounds a second at which every station of this kind is busy all the time."""
        return self.count * self.peak_rate / self.visits

    def most_rounds_with(self, customers: int) -> float:
        """The same from this load on: a disk that serves less the more it is asked is full long before its peak."""
        loads = np.geomspace(max(1.0, customers / self.count), DEEPEST, SAMPLES)
        return self.count * float(self.rates(loads).max()) / self.visits


@dataclass(frozen=True)
class Correction:
    """What baselines do not show: a target that is later, slower or faster than its parts, or has one part more."""

    delay_seconds: float = 0.0
    """Further time of a request."""
    speed: float = 1.0
    """Rates of all parts, over those of the baselines."""
    further_seconds: float = 0.0
    """Service of a further part that all requests pass, one at a time; 0: there is none."""


@dataclass(frozen=True)
class Pinned:
    """Files of which each lies at one place, chosen by chance: whoever works on a file never meets those of other places."""

    files: int
    places: int

    @property
    def taken(self) -> float:
        """Places with any file, in the mean."""
        return self.places * (1.0 - (1.0 - 1.0 / self.places) ** self.files)

    def likely(self) -> dict[int, float]:
        """Files that may lie at a given place, with the chance; what is rare is left out."""
        chances: dict[int, float] = {}
        for files in range(1, self.files + 1):
            chance = self._chance(files)
            if chance > RARE:
                chances[files] = chance
            elif files > self.files / self.places:
                break
        return chances

    def _chance(self, files: int) -> float:
        """Binomial, in logarithms: there may be very many files."""
        ways = math.lgamma(self.files + 1) - math.lgamma(files + 1) - math.lgamma(self.files - files + 1)
        there = (self.files - files) * math.log1p(-1.0 / self.places)
        return math.exp(ways - files * math.log(self.places) + there)


@dataclass(frozen=True)
class Network:
    """What a request goes through."""

    stations: tuple[Stations, ...]
    delay_seconds: float = 0.0
    pinned: Pinned | None = None
    """None where every request goes wherever chance sends it. Stations at the places are then counted as far as they are taken."""

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

    def corrected(self, by: Correction) -> Network:
        """The same as the target turned out to be."""
        stations = [_at_speed(kind, by.speed) for kind in self.stations]
        if by.further_seconds:
            rates, rate = steady(by.further_seconds), 1.0 / by.further_seconds
            stations.append(Stations(Resource.FURTHER, 1, 1.0, rates, rate, variability=0.0))
        return replace(self, stations=tuple(stations), delay_seconds=self.delay_seconds + by.delay_seconds)

    def at_one_place(self) -> Network:
        """What requests of one place meet: its own stations, and of what all share as much as falls to one place."""
        assert self.pinned is not None
        taken = self.pinned.taken
        stations = tuple(replace(kind, count=kind.count / taken) for kind in self.stations)
        return Network(stations, self.delay_seconds)


def _at_speed(kind: Stations, speed: float) -> Stations:
    return replace(kind, rates=lambda waiting: kind.rates(waiting) * speed, peak_rate=kind.peak_rate * speed)
