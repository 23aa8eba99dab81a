"""What is known of another host's clock: the truth always lies within the bounds, whatever the way there does; and a jump is seen."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from leadline.run.consistency.clock_watch import HostClock
from leadline.run.consistency.clocks import ClockBounds, Reading

SECOND = 1_000_000_000
Clock = Callable[[int], int]
"""The time of a simulated host at a time of ours."""


def reading(draw: random.Random, clock: Clock, now_ns: int, there_ns: int, back_ns: int) -> Reading:
    thinking_ns = draw.randrange(50_000)
    first_ns = now_ns + there_ns
    last_ns = first_ns + thinking_ns
    return Reading(now_ns, clock(first_ns), clock(last_ns), last_ns + back_ns)


def drifting(draw: random.Random) -> Clock:
    """Ahead or behind by anything, and faster or slower by up to 490 ppm, another rate every second."""
    ahead_ns = draw.randrange(-(10**16), 10**16)
    rates_ppm = [draw.uniform(-490, 490) for _ in range(40)]

    def clock(now_ns: int) -> int:
        whole, part_ns = divmod(now_ns, SECOND)
        gained_ns = sum(rates_ppm[:whole]) * 1000 + rates_ppm[whole] * part_ns / 1e6
        return now_ns + ahead_ns + round(gained_ns)

    return clock


@pytest.mark.parametrize("seed", range(30))
def test_the_true_offset_lies_within_the_bounds_at_every_moment_whatever_drift_and_delays(seed: int) -> None:
    draw = random.Random(seed)
    clock = drifting(draw)
    readings = []
    for now_ns in range(0, 30 * SECOND, draw.choice([SECOND // 2, 5 * SECOND, 29 * SECOND])):
        # The ways there and back are as different as can be.
        there_ns, back_ns = draw.choice([(10_000, 3_000_000), (3_000_000, 10_000), (200_000, 200_000)])
        readings.append(reading(draw, clock, now_ns + 1, there_ns, back_ns))
    bounds = ClockBounds(readings)
    assert bounds.jumped_ns == 0
    for _ in range(500):
        now_ns = draw.randrange(31 * SECOND)
        offset_ns, error_ns = bounds.at(clock(now_ns))
        assert abs(clock(now_ns) + offset_ns - now_ns) <= error_ns


def test_between_readings_five_times_a_second_the_bounds_stay_half_a_round_trip_and_50_us() -> None:
    draw, ahead_ns = random.Random(0), 5 * SECOND
    clock = lambda now_ns: now_ns + ahead_ns  # noqa: E731
    bounds = ClockBounds([reading(draw, clock, n * SECOND // 5, 100_000, 100_000) for n in range(50)])
    worst_ns = max(bounds.at(ahead_ns + now_ns)[1] for now_ns in range(SECOND, 8 * SECOND, 1_234_567))
    assert 100_000 + 45_000 < worst_ns <= 100_000 + 51_000


def test_time_never_goes_backwards_on_the_way_to_our_clock() -> None:
    draw = random.Random(1)
    clock = drifting(draw)
    bounds = ClockBounds([reading(draw, clock, n * SECOND, 10_000 * n + 5, 400_000) for n in range(5)])
    times = [clock(2 * SECOND) + step for step in range(-3000, 3000)] + [
        clock(n * SECOND // 7) for n in range(30)
    ]
    shifted = [time + bounds.at(time)[0] for time in sorted(times)]
    assert shifted == sorted(shifted)


@pytest.mark.parametrize("jump_ns", [-50_000_000, 4_000_000, 50_000_000])
@pytest.mark.parametrize("readings", [2, 30])
def test_a_jump_that_no_drift_explains_is_seen_with_its_size(jump_ns: int, readings: int) -> None:
    draw = random.Random(2)

    def clock(now_ns: int) -> int:
        return now_ns + 7 * SECOND + (jump_ns if now_ns > SECOND else 0)

    step_ns = 2 * SECOND // (readings - 1)
    made = [reading(draw, clock, n * step_ns, 50_000, 50_000) for n in range(readings)]
    seen_ns = ClockBounds(made).jumped_ns
    # Drift over the two seconds between readings could explain 1 ms of it, and the round trips 0.2 ms.
    assert abs(jump_ns) - 1_300_000 <= seen_ns <= abs(jump_ns)


def test_a_jump_is_said_in_words_and_no_jump_is_not() -> None:
    readings = iter([Reading(0, 100, 100, 50), Reading(1000, 90_001_100, 90_001_100, 1050)])
    clock = HostClock("node7", lambda: next(readings))
    clock.read(1)
    assert clock.doubt() == "" and clock.here(100) in range(51)
    clock.read(1)
    assert clock.doubt() == "the clock of node7 jumped by at least 90 ms"


def test_the_likeliest_time_follows_an_even_drift_through_ways_that_are_long_now_and_then() -> None:
    draw = random.Random(3)
    clock = lambda now_ns: now_ns + 9 * SECOND + now_ns // 50_000  # noqa: E731  20 ppm
    ways = [(50_000, 45_000), (45_000, 50_000), (50_000, 2_000_000), (900_000, 50_000)]
    bounds = ClockBounds([reading(draw, clock, n * SECOND // 5, *draw.choice(ways)) for n in range(50)])
    wrong_ns = [
        abs(clock(now) + bounds.at(clock(now))[0] - now) for now in range(0, 10 * SECOND, SECOND // 7)
    ]
    assert max(wrong_ns) < 10_000, "half a round trip of the shortest would be 50 us"
