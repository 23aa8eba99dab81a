"""How many rounds a second a closed network makes with N customers: mean value analysis, one customer after the other.

Exact for product-form networks, load-dependent stations included (Reiser and Lavenberg 1980): each station keeps the
probabilities of its queue. Disks serve far more evenly than product form wants, which costs up to 17 % at moderate
load; so a customer who finds a service under way waits for what is left of it, not for a whole one (Reiser 1979).
With exponential service that correction is nothing, and the result exact again. Beyond EXACT customers the stations
meet the mean queue of the others (Schweitzer 1979): there nothing but the limits matters.
"""

from __future__ import annotations

import numpy as np

from leadline.analyse.prediction.stations import Floats, Network, Pinned, Stations

EXACT = 2048
"""Customers: time grows with their square."""
_TRIES = 500
_CLOSE = 1e-7


def rounds_per_second(network: Network, customers: int) -> list[float]:
    """Rounds a second with 1, 2 ... `customers` customers, which are at most EXACT."""
    assert 1 <= customers <= EXACT
    queues = [_Queue(kind, network, customers) for kind in network.stations]
    most, found = network.most_rounds, []
    for inside in range(1, customers + 1):
        seconds = network.delay_seconds + sum(queue.residence(inside) for queue in queues)
        rounds = min(inside / seconds, most)
        for queue in queues:
            queue.take(inside, rounds)
        found.append(rounds)
    return found


def rounds_with(network: Network, customers: int) -> float:
    """Rounds a second with this many; approximate beyond EXACT."""
    if network.pinned is not None:
        return _pinned(network, network.pinned, customers)
    if customers <= EXACT:
        return rounds_per_second(network, customers)[-1]
    return _fixed_point(network, customers)


def _pinned(network: Network, pinned: Pinned, customers: int) -> float:
    """Every place by itself, with each number of files that may lie there, by its chance."""
    one, chances = network.at_one_place(), pinned.likely()
    inside = {files: max(1, round(files * customers / pinned.files)) for files in chances}
    least = [count for count in inside.values() if count <= EXACT]
    curve = rounds_per_second(one, max(least)) if least else []
    rounds = {
        count: curve[count - 1] if count <= EXACT else rounds_with(one, count) for count in inside.values()
    }
    mean = sum(chance * rounds[inside[files]] for files, chance in chances.items())
    return min(pinned.places * mean, network.most_rounds)


def residual_share(kind: Stations, network: Network) -> float:
    """The part of a service, 0 to 1/2, that is over when someone comes while it is under way.

    Half of it where services are even; nothing where they are exponential, and nothing for one who comes straight back
    to the station that he left: there the next service has just begun.
    """
    straight_back = kind.alone_seconds / network.alone_seconds / kind.count
    return (1.0 - kind.variability) / 2 * (1.0 - straight_back)


class _Queue:
    """One station of a kind: how many are there, as probabilities."""

    def __init__(self, kind: Stations, network: Network, customers: int) -> None:
        self._kind, self._over = kind, residual_share(kind, network)
        self._numbers: Floats = np.arange(1, customers + 1, dtype=np.float64)
        self._rates: Floats = kind.rates(self._numbers)
        self._seconds: Floats = self._numbers / self._rates  # until one who joins as the j-th is done
        self._chances: Floats = np.zeros(customers + 1)
        self._chances[0] = 1.0
        self._length = self._busy = self._residence = 0.0

    def residence(self, inside: int) -> float:
        """Seconds of a round spent at this kind by the last of `inside` customers."""
        chances = self._chances[:inside]
        seconds = self._seconds[:inside]
        met = float(np.dot(self._numbers[: inside - 1], chances[1:]))
        shrink = max(0.0, self._length - self._over * self._busy) / met if met > 0 else 1.0
        if self._over > 0 and shrink != 1.0:
            seconds = np.interp(1 + (self._numbers[:inside] - 1) * shrink, self._numbers, self._seconds)
        self._residence = self._kind.visits * float(np.dot(seconds, chances))
        return self._residence - (self._kind.service_seconds - self._kind.alone_seconds)

    def take(self, inside: int, rounds: float) -> None:
        """The queue as it stands with that many customers at that rate."""
        share = rounds * self._kind.visits / self._kind.count
        self._chances[1 : inside + 1] = share / self._rates[:inside] * self._chances[:inside]
        busy = float(self._chances[1 : inside + 1].sum())
        if busy > 1:  # rounding, or the correction, near saturation
            self._chances[1 : inside + 1] /= busy
        self._busy = min(busy, 1.0)
        self._chances[0] = 1.0 - self._busy
        self._length = rounds * self._residence / self._kind.count


def _fixed_point(network: Network, customers: int) -> float:
    rounds = 0.0
    lengths = [customers / len(network.stations) / kind.count for kind in network.stations]
    for _ in range(_TRIES):
        pairs = list(zip(network.stations, lengths, strict=True))
        seconds = [_mean_residence(kind, network, length, rounds, customers) for kind, length in pairs]
        rounds = customers / (network.delay_seconds + sum(seconds))
        before = lengths
        lengths = [rounds * each / kind.count for kind, each in zip(network.stations, seconds, strict=True)]
        if np.allclose(lengths, before, rtol=_CLOSE, atol=0):
            break
    return min(rounds, network.most_rounds)


def _mean_residence(kind: Stations, network: Network, length: float, rounds: float, customers: int) -> float:
    """As `_Queue.residence`, with the mean in place of the probabilities."""
    busy = min(1.0, rounds / kind.most_rounds)
    met = max(0.0, length * (customers - 1) / customers - residual_share(kind, network) * busy)
    place = np.array([1.0 + met])
    own = kind.service_seconds - kind.alone_seconds
    return kind.visits * float(place[0] / kind.rates(place)[0]) - own
