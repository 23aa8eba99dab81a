"""P(stale | delay): the curve that never rises, and the cache time of simulated caches whose time is known."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.analyse.staleness import FEWEST_SAMPLES, falling, staleness
from leadline.store.histories import DelaySample

SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@given(SHARES)
def test_the_curve_never_rises_and_keeps_the_mean(values: list[float]) -> None:
    fitted = falling(values)
    assert all(one >= other - 1e-9 for one, other in pairwise(fitted))
    assert sum(fitted) == pytest.approx(sum(values))
    assert min(values) - 1e-9 <= min(fitted) and max(fitted) <= max(values) + 1e-9


@given(SHARES)
def test_what_never_rises_is_left_as_it_is(values: list[float]) -> None:
    down = sorted(values, reverse=True)
    assert falling(down) == pytest.approx(down)
    assert falling(falling(values)) == pytest.approx(falling(values))


@given(st.lists(st.integers(0, 1), min_size=2, max_size=7), st.randoms(use_true_random=False))
def test_no_other_falling_curve_lies_nearer(values: list[int], draw: random.Random) -> None:
    def far(curve: list[float]) -> float:
        return sum((one - other) ** 2 for one, other in zip(curve, values, strict=True))

    other = sorted((draw.random() for _ in values), reverse=True)
    assert far(falling([float(value) for value in values])) <= far(other) + 1e-9


def probed(
    timeout_seconds: float, n: int, seed: int, oldest_seconds: float = 0.2, longest_seconds: float = 2.0
) -> list[DelaySample]:
    """Probes of a cache that believes what it has for so long."""
    draw = random.Random(seed)
    samples = []
    for number in range(n):
        age, delay = draw.uniform(0, oldest_seconds), draw.uniform(0, longest_seconds)
        stale = age + delay < timeout_seconds
        samples.append(DelaySample("unlink -> stat", round(delay * 1e9), stale, number, round(age * 1e9)))
    return samples


@pytest.mark.parametrize("timeout_seconds", [0.3, 1.0, 1.7])
def test_the_cache_time_lies_in_its_interval(timeout_seconds: float) -> None:
    for seed in range(20):
        (found,) = staleness(probed(timeout_seconds, 150, seed))
        time = found.cache_time
        assert time is not None and time.low_seconds <= timeout_seconds <= time.high_seconds
        assert time.high_seconds - time.low_seconds < 0.3
        assert found.knee is not None and found.foot is not None
        assert timeout_seconds - 0.3 < found.knee.low_seconds
        assert found.knee.seconds <= found.foot.seconds < timeout_seconds + 0.1


def test_the_curve_is_that_of_the_mechanism() -> None:
    (found,) = staleness(probed(1.0, 2000, 1))
    for delay_seconds, expected in ((0.4, 1.0), (0.9, 0.5), (1.5, 0.0)):
        assert found.at(delay_seconds) == pytest.approx(expected, abs=0.2)
    inside = zip(found.band_low, found.probability, found.band_high, strict=True)
    assert all(low - 1e-9 <= share <= high + 1e-9 for low, share, high in inside)


def changed(samples: list[DelaySample], change: Callable[[DelaySample], bool]) -> list[DelaySample]:
    return [
        DelaySample(each.mechanism, each.delay_ns, change(each), each.object, each.age_ns) for each in samples
    ]


def test_nothing_stale_has_no_time_and_nothing_fresh_has_no_end() -> None:
    samples = probed(1.0, 100, 3)
    (fresh,) = staleness(changed(samples, lambda each: False))
    assert (fresh.stale, fresh.knee, fresh.foot, fresh.cache_time) == (0, None, None, None)
    (never,) = staleness(changed(samples, lambda each: True))
    assert never.foot is None and never.cache_time is None and never.at(1.0) == 1.0


def test_few_samples_and_unknown_ages_tell_no_time() -> None:
    (few,) = staleness(probed(1.0, FEWEST_SAMPLES - 1, 4))
    assert (few.knee, few.foot, few.cache_time) == (None, None, None)
    without = [
        DelaySample(each.mechanism, each.delay_ns, each.stale, each.object) for each in probed(1.0, 150, 5)
    ]
    (found,) = staleness(without)
    assert found.cache_time is None and found.foot is not None


def test_mechanisms_are_told_apart_in_the_order_in_which_they_come() -> None:
    samples = probed(1.0, 40, 6)
    other = [DelaySample("append -> length", each.delay_ns, False, each.object) for each in samples]
    mixed = [each for pair in zip(other, samples, strict=True) for each in pair]
    assert [each.mechanism for each in staleness(mixed)] == ["append -> length", "unlink -> stat"]
    assert staleness([]) == ()
