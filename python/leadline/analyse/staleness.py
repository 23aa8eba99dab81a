"""How likely an answer is stale so long after a change: P(stale | delay), and the cache time that it shows.

Each probe looked once, at a delay that was drawn before (current-status data), so the maximum-likelihood curve that never rises is the
isotonic regression of stale on delay, by pooling adjacent violators (Ayer et al., Ann. Math. Statist. 26, 1955). Bands come from drawing
objects again with replacement. A cache that forgets after T shows 1 until T minus the age of what was cached, and 0 from T on: the knee and
the foot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from leadline.store.histories import DelaySample

Floats = NDArray[np.float64]

RESAMPLES = 400
GRID_POINTS = 120
BAND = (2.5, 97.5)
"""Percentiles: 95 % of what drawing again gives."""
HIGH, LOW = 0.9, 0.1
"""Above it an answer is as good as always stale, below it as good as never."""
EVEN = 0.5
FEWEST_SAMPLES = 20
"""Of one mechanism; with less, no time is told."""


@dataclass(frozen=True)
class Timeout:
    """A delay that the curve shows, in seconds, and the interval in which it lies with 95 %."""

    seconds: float
    low_seconds: float
    high_seconds: float


@dataclass(frozen=True)
class Staleness:
    """One mechanism."""

    mechanism: str
    samples: int
    stale: int
    delays_seconds: tuple[float, ...]
    """Where the curve is told, ascending."""
    probability: tuple[float, ...]
    band_low: tuple[float, ...]
    band_high: tuple[float, ...]
    longest_stale_seconds: float | None
    """The longest delay after which an answer was stale; None when none was."""
    longest_probed_seconds: float
    knee: Timeout | None
    """Until then an answer is almost certainly stale; None when it hardly ever is, or there are too few samples."""
    foot: Timeout | None
    """From then on no answer is stale. None when nothing was stale, or something still was at the longest delays."""
    cache_time: Timeout | None
    """How long what was cached was believed, counted from the look that cached it: where P(stale) falls to a half by age. None where the
    ages are not known, or the fall was not seen."""

    def at(self, delay_seconds: float) -> float:
        """P(stale) so long after a change: of the next longer delay that was probed."""
        place = int(np.searchsorted(self.delays_seconds, delay_seconds))
        return self.probability[min(place, len(self.probability) - 1)]


def staleness(samples: Sequence[DelaySample], seed: int = 0) -> tuple[Staleness, ...]:
    """One result a mechanism, in the order in which they first occur."""
    order = list(dict.fromkeys(sample.mechanism for sample in samples))
    by_mechanism = sorted(samples, key=lambda sample: order.index(sample.mechanism))
    groups = groupby(by_mechanism, key=lambda sample: sample.mechanism)
    return tuple(_staleness(mechanism, list(members), seed) for mechanism, members in groups)


def falling(values: Sequence[float]) -> list[float]:
    """The sequence that never rises and lies nearest to these values by least squares: adjacent violators are pooled."""
    pools: list[tuple[float, int]] = []  # mean and length
    for value in values:
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] < pools[-1][0]:
            (mean, length), (last_mean, last_length) = pools[-2], pools[-1]
            total = length + last_length
            pools[-2:] = [((mean * length + last_mean * last_length) / total, total)]
    return [mean for mean, length in pools for _ in range(length)]


@dataclass(frozen=True)
class _Curve:
    delays: Floats
    stale: NDArray[np.bool_]
    fitted: Floats

    @classmethod
    def of(cls, delays: Floats, stale: NDArray[np.bool_]) -> _Curve:
        order = np.argsort(delays, kind="stable")
        delays, stale = delays[order], stale[order]
        return cls(delays, stale, np.array(falling(stale.astype(float).tolist())))

    def on(self, grid: Floats) -> Floats:
        """As a step function: between two probes, what the shorter one showed."""
        places = np.searchsorted(self.delays, grid, side="right") - 1
        return np.where(places < 0, self.fitted[0], self.fitted[np.maximum(places, 0)])

    def knee(self) -> float:
        """Half-way between the last delay that is as good as always stale and the next."""
        last = np.flatnonzero(self.fitted >= HIGH)
        return self._edge(int(last[-1])) if len(last) else 0.0

    def foot(self) -> float:
        """Half-way between the last delay that is stale at all and the next."""
        last = np.flatnonzero(self.stale)
        return self._edge(int(last[-1])) if len(last) else 0.0

    def fall(self) -> tuple[float, float]:
        """The last that is more often stale than not, and the next one: the fall lies between them."""
        last = np.flatnonzero(self.fitted >= EVEN)
        place = int(last[-1]) if len(last) else 0
        return float(self.delays[place]), float(self.delays[min(place + 1, len(self.delays) - 1)])

    def falls(self) -> bool:
        """Whether it is seen from nearly always to nearly never."""
        return bool(self.fitted[0] >= HIGH and self.fitted[-1] < LOW and not self.stale[-1])

    def _edge(self, place: int) -> float:
        return float(self.delays[place : place + 2].mean())


def _staleness(mechanism: str, members: Sequence[DelaySample], seed: int) -> Staleness:
    delays = np.array([sample.delay_ns for sample in members]) / 1e9
    stale = np.array([sample.stale for sample in members], dtype=bool)
    curve = _Curve.of(delays, stale)
    grid = np.linspace(0.0, float(delays.max()), GRID_POINTS)
    resamples = _drawn_again(members, seed)
    drawn = [_Curve.of(delays[chosen], stale[chosen]) for chosen in resamples]
    band = np.percentile([each.on(grid) for each in drawn], BAND, axis=0)
    told = len(members) >= FEWEST_SAMPLES
    ends = told and stale.any() and curve.fitted[-1] < LOW and not curve.stale[-1]
    return Staleness(
        mechanism,
        len(members),
        int(stale.sum()),
        tuple(grid.tolist()),
        tuple(curve.on(grid).tolist()),
        tuple(band[0].tolist()),
        tuple(band[1].tolist()),
        float(delays[stale].max()) if stale.any() else None,
        float(delays.max()),
        _timeout(curve.knee(), [each.knee() for each in drawn]) if told and curve.fitted[0] >= HIGH else None,
        _foot(curve, [each.foot() for each in drawn]) if ends else None,
        _cache_time(members, stale, resamples) if told else None,
    )


def _cache_time(
    members: Sequence[DelaySample], stale: NDArray[np.bool_], resamples: Sequence[NDArray[np.int64]]
) -> Timeout | None:
    """By the age of what was cached when it was looked at: there a cache that forgets falls from 1 to 0 at once."""
    if any(sample.age_ns is None for sample in members):
        return None
    ages = np.array([sample.delay_ns + (sample.age_ns or 0) for sample in members]) / 1e9
    curve = _Curve.of(ages, stale)
    if not curve.falls():
        return None
    edges = np.array([_Curve.of(ages[chosen], stale[chosen]).fall() for chosen in resamples])
    low, high = np.percentile(edges[:, 0], BAND[0]), np.percentile(edges[:, 1], BAND[1])
    return Timeout(sum(curve.fall()) / 2, float(low), float(high))


def _timeout(seconds: float, drawn: Sequence[float]) -> Timeout:
    low, high = np.percentile(drawn, BAND)
    return Timeout(seconds, min(float(low), seconds), max(float(high), seconds))


def _foot(curve: _Curve, drawn: Sequence[float]) -> Timeout:
    """Drawing again never finds a later stale answer than there is, so above, the interval ends where three more fresh answers lie: had
    one of two been stale there, all three would be fresh in one of eight cases, and with the tail of a cache in fewer."""
    found = _timeout(curve.foot(), drawn)
    last = int(np.flatnonzero(curve.stale)[-1])
    beyond = float(curve.delays[min(last + 3, len(curve.delays) - 1)])
    return Timeout(found.seconds, found.low_seconds, max(found.high_seconds, beyond))


def _drawn_again(members: Sequence[DelaySample], seed: int) -> list[NDArray[np.int64]]:
    """Places of the samples of as many objects, drawn with replacement; all samples of an object together."""
    places: dict[int, list[int]] = {}
    for place, sample in enumerate(members):
        places.setdefault(sample.object, []).append(place)
    objects = [np.array(each) for each in places.values()]
    draw = np.random.default_rng(seed)
    draws = (draw.integers(0, len(objects), len(objects)) for _ in range(RESAMPLES))
    return [np.concatenate([objects[number] for number in chosen]) for chosen in draws]
