"""A trend across repeats: each run finds another filesystem than the one before, so no mean of them means anything.

A journal-less ext4 slows down up to 17 times while files come and go. Mann and Kendall's test asks whether the order of the
repeats is one that chance gives. What it can decide depends on n: of three repeats every sixth order rises throughout and
every sixth falls, so below five repeats no order is rare enough, and only a large change counts (docs/concepts/verdicts.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

FEWEST_REPEATS = 3
DECISIVE_REPEATS = 5
"""From here on an order can be rarer than one in twenty."""
LARGEST_CHANCE = 0.05
SMALLEST_RATIO, SMALLEST_RATIO_OF_FEW = 1.10, 1.50
"""Larger of first and last over the smaller: with enough repeats, and with three or four that all go one way."""
NOISE_FACTOR, NOISE_FACTOR_OF_FEW = 1.5, 3.0


@dataclass(frozen=True)
class Trend:
    """How far the repeats went, and how often chance would order them so."""

    first: float
    last: float
    repeats: int
    chance: float
    """Two-sided."""
    threshold: float
    """The ratio from which on it counts."""

    @property
    def ratio(self) -> float:
        """Larger over smaller, of first and last."""
        return max(self.first, self.last) / min(self.first, self.last)


def find_trend(values: Sequence[float], noise_floor: float | None = None) -> Trend | None:
    """Of the repeats in the order in which they ran; None where there is none, or too few repeats to say."""
    repeats = len(values)
    if repeats < FEWEST_REPEATS or min(values) <= 0:
        return None
    few, noise = repeats < DECISIVE_REPEATS, noise_floor or 0.0
    threshold = (
        max(SMALLEST_RATIO_OF_FEW, 1 + NOISE_FACTOR_OF_FEW * noise)
        if few
        else max(SMALLEST_RATIO, 1 + NOISE_FACTOR * noise)
    )
    score = rising_pairs(values)
    found = Trend(values[0], values[-1], repeats, chance_of(abs(score), repeats), threshold)
    ordered = abs(score) == repeats * (repeats - 1) // 2 if few else found.chance <= LARGEST_CHANCE
    goes_along = (values[-1] - values[0]) * score > 0
    return found if ordered and goes_along and found.ratio >= threshold else None


def rising_pairs(values: Sequence[float]) -> int:
    """Kendall's S: pairs that rise less pairs that fall; equal ones count neither way."""
    return sum(
        (later > earlier) - (later < earlier)
        for place, earlier in enumerate(values)
        for later in values[place + 1 :]
    )


def chance_of(score: int, repeats: int) -> float:
    """How often |S| is at least this large when every order is equally likely."""
    counts = _orders_by_inversions(repeats)
    pairs = repeats * (repeats - 1) // 2
    as_large = sum(count for inversions, count in enumerate(counts) if abs(pairs - 2 * inversions) >= score)
    return as_large / sum(counts)


@cache
def _orders_by_inversions(repeats: int) -> tuple[int, ...]:
    """How many of all orders have 0, 1, 2 ... pairs that fall (the Mahonian numbers)."""
    counts = [1]
    for number in range(2, repeats + 1):
        longer = [0] * (len(counts) + number - 1)
        for place, count in enumerate(counts):
            for further in range(number):
                longer[place + further] += count
        counts = longer
    return tuple(counts)
