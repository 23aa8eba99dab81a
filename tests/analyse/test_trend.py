"""A trend across repeats is found where chance cannot give it, and then nothing is averaged."""

import itertools
from fractions import Fraction

import pytest

from leadline.analyse.analysis import analyse
from leadline.analyse.results import CellResult, VerdictName
from leadline.analyse.trend import chance_of, find_trend, rising_pairs
from leadline.store.records import Direction

from .metadata_samples import Phase, metadata_record
from .samples import ENVIRONMENT, manifest

JOURNAL_LESS = (28_600, 9_900, 7_300, 6_800)
"""Creates a second on a journal-less ext4, four repeats."""


def created(rates: tuple[float, ...]) -> CellResult:
    """The cell of as many repeats."""
    records = [
        metadata_record(Phase(Direction.FILE_CREATE, rate), ordinal=at, repeat=at)
        for at, rate in enumerate(rates)
    ]
    (cell,) = analyse(records, manifest(), ENVIRONMENT).cells
    return cell


@pytest.mark.parametrize("repeats", [3, 4, 5, 6])
def test_the_chance_is_that_of_all_orders_counted_one_by_one(repeats: int) -> None:
    scores = [abs(rising_pairs(order)) for order in itertools.permutations(range(repeats))]
    for score in set(scores):
        counted = Fraction(sum(other >= score for other in scores), len(scores))
        assert chance_of(score, repeats) == pytest.approx(float(counted))


def test_a_filesystem_that_slows_from_repeat_to_repeat_is_not_averaged() -> None:
    cell = created(JOURNAL_LESS)
    (verdict,) = [verdict for verdict in cell.verdicts if verdict.name is VerdictName.TREND]
    assert "fell over 4 repeats from 28.6k ops/s to 6.80k ops/s, 4.21 x" in verdict.evidence
    assert "not averaged" in verdict.evidence and "8.3 % of cases" in verdict.evidence
    rate = cell.metrics["iops"]
    assert rate.ends == pytest.approx((28_600, 6_800)) and rate.value == pytest.approx(6_800)
    assert rate.low is None and rate.high is None
    assert cell.metrics["mean"].ends is not None
    assert not any(cell.valid(name) for name in cell.metrics)


def test_a_trend_is_not_also_called_unlike_repeats() -> None:
    assert VerdictName.UNLIKE_REPEATS not in {verdict.name for verdict in created(JOURNAL_LESS).verdicts}


@pytest.mark.parametrize(
    ("rates", "found"),
    [
        ((150, 120, 99), True),
        ((149, 120, 100), False),  # 1.49 x: three repeats need 1.5 x
        ((150, 99, 120), False),  # not throughout
        ((99, 120, 150), True),
        ((150, 99), False),  # two repeats have no order
        ((112, 110, 108, 105, 101), True),  # five: 1.11 x is enough, p = 0.017
        ((108, 107, 106, 105, 100), False),  # 1.08 x
        ((112, 110, 105, 108, 101), False),  # five with one pair the other way: p = 0.083
        ((120, 118, 115, 116, 110, 105, 101), True),  # seven may have one such pair
    ],
)
def test_what_n_can_decide(rates: tuple[float, ...], found: bool) -> None:
    assert (find_trend(rates) is not None) is found


def test_a_noisy_machine_needs_a_larger_change() -> None:
    assert find_trend((150, 120, 99), noise_floor=0.10) is not None
    assert find_trend((150, 120, 99), noise_floor=0.20) is None


def test_repeats_that_only_scatter_are_unlike_and_have_a_mean() -> None:
    cell = created((10_000, 14_000, 9_000))
    assert VerdictName.UNLIKE_REPEATS in {verdict.name for verdict in cell.verdicts}
    assert cell.metrics["iops"].ends is None and cell.metrics["iops"].low is not None
