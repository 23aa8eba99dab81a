"""Knees: definitions, laws, and the published curve whose knee the article states."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from leadline.analyse.saturation import find_peak, find_saturation

BESIDE = Path(__file__).parents[3] / "shared/data/3fs-journal"
JOURNAL = Path(os.environ.get("LEADLINE_JOURNAL_DATA", BESIDE))
LOADS = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0]
RATES = st.lists(st.integers(1, 10_000), min_size=8, max_size=8)


def saturating(half: float) -> list[float]:
    """Michaelis-Menten: half of the ceiling of 1000 at this load."""
    return [1000 * load / (load + half) for load in LOADS]


def test_the_knee_of_the_published_64k_random_read_curve_is_found_where_the_article_sees_it() -> None:
    # The article reads iodepth 16-32 off its plot, on a grid of 8, 16, 32: N90 lies between 8 and 16, nearer to 16.
    path = JOURNAL / "64k_ssd_xfs_iouring_xl170_1.json"
    if not path.exists():
        pytest.skip(f"the published 3FS journal grids are not at {JOURNAL} (LEADLINE_JOURNAL_DATA)")
    grid = json.loads(path.read_text(encoding="utf-8"))["randread"]
    curve = sorted((float(depth), jobs["1"]["bandwidth_gb"]) for depth, jobs in grid.items() if "1" in jobs)
    found = find_saturation([load for load, _ in curve], [rate for _, rate in curve])
    assert found is not None
    assert found.knee_load is not None and 12 <= found.knee_load <= 17
    assert found.onset_load is not None and 3 <= found.onset_load <= 5
    assert not found.censored
    assert found.collapse_load is None


def test_a_plateau_has_the_median_of_its_top_three_as_peak() -> None:
    assert find_peak([10, 50, 95, 100, 98]) == 98


def test_a_lone_spike_is_its_own_peak() -> None:
    assert find_peak([10, 50, 100, 60, 55]) == 100


def test_the_knee_is_interpolated_over_the_logarithm_of_the_load() -> None:
    found = find_saturation([1, 4, 16], [50, 80, 100])
    assert found is not None
    assert found.knee_load == pytest.approx(8)  # half way from 80 to 100, half way from 4 to 16 in logarithms


def test_onset_is_the_peak_over_the_rate_at_load_one() -> None:
    found = find_saturation([1, 2, 4, 8], [100, 200, 400, 410])
    assert found is not None
    assert found.onset_load == pytest.approx(4.1)


def test_onset_is_unknown_when_load_one_was_not_measured() -> None:
    found = find_saturation([2, 4, 8], [100, 150, 160])
    assert found is not None
    assert found.onset_load is None


@pytest.mark.parametrize(("last", "censored"), [(111, True), (109, False)])
def test_a_last_doubling_that_gains_more_than_10_percent_censors(last: float, censored: bool) -> None:
    found = find_saturation([1, 2, 4, 8], [25, 50, 100, last])
    assert found is not None
    assert found.censored is censored


@pytest.mark.parametrize(("last", "collapse"), [(84, 32.0), (86, None)])
def test_a_fall_of_more_than_15_percent_below_the_peak_is_a_collapse(
    last: float, collapse: float | None
) -> None:
    found = find_saturation([1, 4, 16, 32], [20, 60, 100, last])
    assert found is not None
    assert found.peak_load == 16
    assert found.collapse_load == collapse


def test_a_low_rate_before_the_peak_is_no_collapse() -> None:
    found = find_saturation([1, 2, 4, 8], [80, 10, 90, 100])
    assert found is not None
    assert found.collapse_load is None


def test_two_points_have_no_knee() -> None:
    assert find_saturation([1, 2], [1, 2]) is None


def test_a_curve_without_throughput_has_no_knee() -> None:
    assert find_saturation([1, 2, 4], [0, 0, 0]) is None


@given(RATES, st.floats(0.001, 1e9))
def test_scaling_the_throughput_does_not_move_the_knee(rates: list[int], factor: float) -> None:
    plain, scaled = find_saturation(LOADS, rates), find_saturation(LOADS, [rate * factor for rate in rates])
    assert plain is not None and scaled is not None
    assert scaled.knee_load == pytest.approx(plain.knee_load)
    assert scaled.onset_load == pytest.approx(plain.onset_load)
    assert (scaled.peak_load, scaled.collapse_load, scaled.censored) == (
        plain.peak_load,
        plain.collapse_load,
        plain.censored,
    )


@given(RATES)
def test_a_curve_that_never_falls_never_collapses(rates: list[int]) -> None:
    found = find_saturation(LOADS, sorted(rates))
    assert found is not None
    assert found.collapse_load is None


@given(st.floats(0.5, 20))
def test_a_concave_curve_begins_to_queue_before_it_saturates(half: float) -> None:
    found = find_saturation(LOADS, saturating(half))
    assert found is not None and found.onset_load is not None and found.knee_load is not None
    assert found.onset_load * 0.9 <= found.knee_load * 1.05


@given(RATES)
def test_the_knee_lies_within_what_was_measured(rates: list[int]) -> None:
    found = find_saturation(LOADS, rates)
    assert found is not None and found.knee_load is not None
    assume(found.knee_load > 0)
    assert LOADS[0] <= found.knee_load <= LOADS[-1]
    assert found.knee_load <= found.peak_load * (1 + 1e-9)
