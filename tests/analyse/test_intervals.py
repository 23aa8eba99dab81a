"""The intervals cover the truth as often as they promise; the naive one does not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.analyse.intervals import (
    NORMAL_QUANTILE,
    batch_half_widths,
    percentile_ranks,
    t_half_width,
    t_quantile,
)


def autocorrelated(correlation: float, samples: int, rows: int, seed: int = 7) -> np.ndarray:
    """AR(1) series around 0, stationary from the first sample on."""
    noise = np.random.default_rng(seed).standard_normal((rows, samples))
    series = np.empty_like(noise)
    series[:, 0] = noise[:, 0] / math.sqrt(1 - correlation**2)
    for place in range(1, samples):
        series[:, place] = correlation * series[:, place - 1] + noise[:, place]
    return series


@pytest.mark.parametrize(("correlation", "samples"), [(0.5, 60), (0.8, 300), (0.9, 300), (0.9, 1000)])
def test_batch_means_cover_the_truth_of_an_autocorrelated_series(correlation: float, samples: int) -> None:
    series = autocorrelated(correlation, samples, rows=2000)
    half_widths, batches = batch_half_widths(series)
    given_up = batches == 0
    covered = np.abs(series.mean(axis=1)) <= half_widths
    assert 0.90 <= covered[~given_up].mean() <= 0.98
    assert given_up.mean() < 0.15


@pytest.mark.parametrize(("correlation", "samples"), [(0.8, 300), (0.9, 300), (0.9, 1000)])
def test_the_naive_interval_covers_less_than_70_percent_of_the_same_series(
    correlation: float, samples: int
) -> None:
    series = autocorrelated(correlation, samples, rows=2000)
    naive = NORMAL_QUANTILE * series.std(axis=1, ddof=1) / math.sqrt(samples)
    assert (np.abs(series.mean(axis=1)) <= naive).mean() < 0.70


def test_batch_means_do_not_widen_independent_samples_beyond_98_percent() -> None:
    series = autocorrelated(0.0, 60, rows=2000)
    half_widths, _ = batch_half_widths(series)
    assert 0.93 <= np.nanmean(np.abs(series.mean(axis=1)) <= half_widths) <= 0.98


def test_a_series_of_fewer_than_five_samples_has_no_interval() -> None:
    half_widths, batches = batch_half_widths(np.ones((1, 4)))
    assert math.isnan(half_widths[0])
    assert batches[0] == 0


def test_a_series_that_only_climbs_has_no_interval() -> None:
    _, batches = batch_half_widths(np.linspace(0, 1, 60)[np.newaxis])
    assert batches[0] == 0


def test_a_constant_series_has_an_interval_of_no_width() -> None:
    half_widths, batches = batch_half_widths(np.full((1, 40), 3.0))
    assert half_widths[0] == 0
    assert batches[0] >= 5


@pytest.mark.parametrize(
    ("degrees", "quantile"), [(1, 12.706), (2, 4.303), (30, 2.042), (60, 2.000), (120, 1.980)]
)
def test_t_quantiles_agree_with_the_printed_table(degrees: int, quantile: float) -> None:
    assert t_quantile(degrees) == pytest.approx(quantile, abs=0.002)


def test_the_t_interval_over_three_repeats_is_the_textbook_one() -> None:
    assert t_half_width([9.0, 10.0, 11.0]) == pytest.approx(4.303 / math.sqrt(3))


def test_ranks_of_the_median_of_ten_samples_are_those_of_the_binomial_table() -> None:
    assert percentile_ranks(10, 0.5) == (2, 9)


def test_ranks_of_p99_of_a_hundred_samples_leave_the_data_above() -> None:
    low, high = percentile_ranks(100, 0.99)
    assert low == 97  # at least 4 of 100 lie above with 1.8 %, at least 3 with 7.9 %
    assert high == 101


@pytest.mark.parametrize(("samples", "fraction"), [(50, 0.5), (300, 0.9), (2_000, 0.99), (20_000, 0.999)])
def test_order_statistics_cover_the_true_percentile(samples: int, fraction: float) -> None:
    low, high = percentile_ranks(samples, fraction)
    draws = np.sort(np.random.default_rng(3).exponential(size=(1000, samples)), axis=1)
    truth = -math.log(1 - fraction)
    covered = (draws[:, low - 1] <= truth) & (truth <= draws[:, min(high, samples) - 1])
    assert 0.93 <= covered.mean() <= 0.995


@given(st.integers(1, 10_000_000), st.sampled_from([0.5, 0.9, 0.99, 0.999]))
def test_ranks_enclose_the_percentile_itself(samples: int, fraction: float) -> None:
    low, high = percentile_ranks(samples, fraction)
    assert 0 <= low <= math.ceil(samples * fraction) <= high <= samples + 1 or samples * fraction < 1


@given(st.integers(1, 100_000), st.sampled_from([0.5, 0.9, 0.99, 0.999]))
def test_ranks_of_a_fraction_mirror_those_of_its_complement(samples: int, fraction: float) -> None:
    low, high = percentile_ranks(samples, fraction)
    mirrored_low, mirrored_high = percentile_ranks(samples, 1 - fraction)
    assert abs(low + mirrored_high - samples - 1) <= 1
    assert abs(high + mirrored_low - samples - 1) <= 1
