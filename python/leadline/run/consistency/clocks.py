"""How far another host's clock is from ours, as bounds that hold at every moment: pure arithmetic on readings.

A reading is a question and its answer: the host looked at its clock after the question had left and before the answer came, however
long either was on its way. So each reading bounds what has to be added to the host's clock, without any guess about the way there.
Between readings the bounds widen by the fastest drift that is allowed; what no clock within it could have shown has jumped. Within the
bounds the likeliest time is taken from a straight line through the readings, those with short ways weighing most.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul

DRIFT_PARTS = 2000
"""Two clocks drift apart by at most one part in so many, 500 ppm: the most by which adjtimex(2) lets a clock be slewed."""

WAY_NOISE_NS = 5_000
"""Ways there and back differ by this much even where both are short, so that no single reading decides."""


@dataclass(frozen=True)
class Reading:
    """One question and its answer."""

    asked_ns: int
    """On our clock, before the question left."""
    there_first_ns: int
    there_last_ns: int
    """On the host's clock, between question and answer."""
    answered_ns: int
    """On our clock, when the answer had come."""

    @property
    def round_trip_ns(self) -> int:
        """On the way, there and back."""
        return self.answered_ns - self.asked_ns - (self.there_last_ns - self.there_first_ns)

    @property
    def least_ns(self) -> int:
        """What has to be added to the host's clock is not less."""
        return self.asked_ns - self.there_first_ns

    @property
    def most_ns(self) -> int:
        """And not more."""
        return self.answered_ns - self.there_last_ns


class ClockBounds:
    """What has to be added to the host's clock at any moment, and how far that may be off."""

    def __init__(self, readings: Sequence[Reading]) -> None:
        """At least one; in the order in which they were made."""
        self._readings = sorted(readings, key=lambda reading: reading.there_first_ns)
        least = [(each.there_first_ns, DRIFT_PARTS * each.least_ns) for each in self._readings]
        most = [(each.there_last_ns, -DRIFT_PARTS * each.most_ns) for each in self._readings]
        self._least, self._most = _Cones(least), _Cones(most)
        self._line = _Line.through(self._readings)

    def at(self, there_ns: int) -> tuple[int, int]:
        """What to add to that time of the host's clock, and the bound of the error."""
        sides = self._least.top(there_ns) // DRIFT_PARTS, -(self._most.top(there_ns) // DRIFT_PARTS)
        least, most = min(sides), max(sides)  # they change places where the clock jumped
        likeliest = min(max(self._line.at(there_ns), least), most)
        return likeliest, max(most - likeliest, likeliest - least) + 1

    @property
    def shortest_round_trip_ns(self) -> int:
        """Half of it is what the bounds come to at best."""
        return min(each.round_trip_ns for each in self._readings)

    @property
    def jumped_ns(self) -> int:
        """By how much at least the clock went another way than any drift explains; 0 where drift explains it all."""
        excess = max(
            self._least.top(reading.there_last_ns) - DRIFT_PARTS * reading.most_ns
            for reading in self._readings
        )
        return max(0, -(-excess // DRIFT_PARTS))


@dataclass(frozen=True)
class _Line:
    """A clock that drifts evenly."""

    time_ns: int
    offset_ns: int
    slope: float
    begin_ns: float
    """Beyond `offset_ns` at `time_ns`."""

    def at(self, there_ns: int) -> int:
        return self.offset_ns + round(self.begin_ns + self.slope * (there_ns - self.time_ns))

    @classmethod
    def through(cls, readings: Sequence[Reading]) -> _Line:
        """Weighted least squares, which stays within the drift that is allowed; sums begin at the first reading, for precision."""
        first = readings[0]
        time_ns, offset_ns = first.there_first_ns, first.least_ns
        weights = [1 / (WAY_NOISE_NS + each.round_trip_ns) ** 2 for each in readings]
        times = [each.there_first_ns - time_ns for each in readings]
        offsets = [(each.least_ns + each.most_ns) / 2 - offset_ns for each in readings]
        total = sum(weights)
        middle = sum(map(mul, weights, times)) / total
        height = sum(map(mul, weights, offsets)) / total
        spread = sum(weight * (each - middle) ** 2 for weight, each in zip(weights, times, strict=True))
        rows = zip(weights, times, offsets, strict=True)
        climb = sum(weight * (each - middle) * (offset - height) for weight, each, offset in rows)
        slope = min(max(climb / spread if spread else 0.0, -1 / DRIFT_PARTS), 1 / DRIFT_PARTS)
        return cls(time_ns, offset_ns, slope, height - slope * middle)


class _Cones:
    """The upper edge of peaks (time, height) that fall off by one a nanosecond to both sides."""

    def __init__(self, peaks: Sequence[tuple[int, int]]) -> None:
        self._times = [time for time, _ in peaks]
        self._falling = list(accumulate((height + time for time, height in peaks), max))
        self._rising = list(accumulate((height - time for time, height in reversed(peaks)), max))[::-1]

    def top(self, time_ns: int) -> int:
        """The height of the edge there."""
        place = bisect_right(self._times, time_ns)
        sides = []
        if place:
            sides.append(self._falling[place - 1] - time_ns)
        if place < len(self._times):
            sides.append(self._rising[place] + time_ns)
        return max(sides)
