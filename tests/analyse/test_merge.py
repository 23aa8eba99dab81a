"""Repeats, jobs and hosts become one cell from totals and merged bins only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.analyse.estimates import STATED, estimate_metrics
from leadline.analyse.merge import gather_trials, merged_histogram, overlap_share
from leadline.store.histogram import Histogram
from leadline.store.records import Direction, Latency, StepRecord

from .samples import CLEAN, MIB, SECOND_NS, failed, measurement, record

BINS = st.dictionaries(st.integers(1, 10**10), st.integers(1, 10**6), min_size=1, max_size=30)


def merge(*measurements: object, **known: object) -> dict[str, float]:
    (trials,) = gather_trials([record(*measurements, **known)])  # type: ignore[arg-type]
    return {name: estimate.value for name, estimate in estimate_metrics(trials, None).items()}


def fio_bins(samples: np.ndarray) -> Histogram:
    """Samples on fio's grid: 64 bins an octave, mid-points (stat.h)."""
    exponent = np.maximum(np.floor(np.log2(samples)) - 6, 0)
    width = 2.0**exponent
    mid = (np.floor(samples / width) * width + width / 2).astype(np.int64)
    values, counts = np.unique(mid, return_counts=True)
    return Histogram(values, counts.astype(np.int64))


def test_merged_p99_of_16_unlike_jobs_is_within_0_8_percent_of_the_pooled_truth() -> None:
    generator = np.random.default_rng(11)
    jobs = [generator.lognormal(np.log(2e5 * (1 + job)), 0.3 + 0.05 * job, 20_000) for job in range(16)]
    truth = np.sort(np.concatenate(jobs))[int(np.ceil(0.99 * 320_000)) - 1]
    parts = [
        measurement(2_000, seconds=10, job=job, shape=fio_bins(samples)) for job, samples in enumerate(jobs)
    ]
    (trials,) = gather_trials([record(*parts)])
    merged = estimate_metrics(trials, None)["p99"].value
    averaged = np.mean([np.percentile(samples, 99) for samples in jobs])
    assert abs(merged / truth - 1) < 0.008
    assert abs(averaged / truth - 1) > 0.10


@given(BINS, BINS)
def test_merging_is_commutative(left: dict[int, int], right: dict[int, int]) -> None:
    a, b = Histogram.from_bins(left), Histogram.from_bins(right)
    one, other = Histogram.merge([a, b]), Histogram.merge([b, a])
    assert np.array_equal(one.values_ns, other.values_ns)
    assert np.array_equal(one.counts, other.counts)


@given(BINS, BINS, BINS)
def test_merging_is_associative(first: dict[int, int], second: dict[int, int], third: dict[int, int]) -> None:
    a, b, c = (Histogram.from_bins(part) for part in (first, second, third))
    one = Histogram.merge([Histogram.merge([a, b]), c])
    other = Histogram.merge([a, Histogram.merge([b, c])])
    assert np.array_equal(one.values_ns, other.values_ns)
    assert np.array_equal(one.counts, other.counts)


@given(BINS)
def test_percentiles_rise_with_their_fraction_and_stay_within_the_data(bins: dict[int, int]) -> None:
    shape = Histogram.from_bins(bins)
    (trials,) = gather_trials([record(measurement(shape=shape))])
    found = estimate_metrics(trials, None)
    values = [found[name].value for name in ("p50", "p90", "p99", "p99.9")]
    assert values == sorted(values)
    assert shape.values_ns[0] <= values[0]
    assert values[-1] <= shape.values_ns[-1]
    for name in ("p50", "p90", "p99", "p99.9"):
        low, high = found[name].low, found[name].high
        assert low is None or low <= found[name].value
        assert high is None or high >= found[name].value


def test_the_estimated_percentiles_are_those_of_the_histogram() -> None:
    (trials,) = gather_trials([record(measurement(iops=12_345))])
    shape = trials.histogram
    assert shape is not None
    assert estimate_metrics(trials, None)["p99"].value == shape.percentile(0.99)


def test_bandwidth_is_all_bytes_over_the_runtime_of_the_slowest_job() -> None:
    quick = replace(measurement(job=0), size_bytes=100 * MIB, runtime_ns=5 * SECOND_NS)
    slow = replace(measurement(job=1), size_bytes=100 * MIB, runtime_ns=10 * SECOND_NS)
    assert merge(quick, slow)["bandwidth"] == 20 * MIB


def test_the_mean_latency_weighs_jobs_by_their_operations() -> None:
    many = measurement(iops=3_000, mean_ns=1e6, job=0)
    few = measurement(iops=1_000, mean_ns=5e6, job=1)
    assert merge(many, few)["mean"] == pytest.approx(2e6)


def test_repeats_become_one_cell_with_a_t_interval() -> None:
    records = [
        record(measurement(iops=iops), ordinal=n, repeat=n) for n, iops in enumerate((900, 1000, 1100))
    ]
    (trials,) = gather_trials(records)
    found = estimate_metrics(trials, None)["iops"]
    assert (found.value, found.n, found.method) == (1000, 3, "t interval over 3 repeats")
    assert found.low == pytest.approx(1000 - 4.303 * 100 / np.sqrt(3))


def test_percentile_intervals_span_the_repeats() -> None:
    records = [record(measurement(iops=iops), ordinal=n, repeat=n) for n, iops in enumerate((1_000, 2_000))]
    (trials,) = gather_trials(records)
    found = estimate_metrics(trials, None)["p50"]
    medians = sorted(trial.histogram.percentile(0.5) for trial in trials.trials if trial.histogram)
    assert found.low is not None and found.low <= medians[0]
    assert found.high is not None and found.high >= medians[1]


def test_a_percentile_beyond_the_data_has_an_open_end() -> None:
    (trials,) = gather_trials([record(measurement(iops=50))])
    found = estimate_metrics(trials, None)["p99.9"]
    assert found.high is None
    assert found.low is not None


def test_the_median_of_three_samples_is_open_at_both_ends() -> None:
    (trials,) = gather_trials([record(measurement(shape=Histogram.from_bins({10: 1, 20: 1, 30: 1})))])
    found = estimate_metrics(trials, None)["p50"]
    assert (found.value, found.low, found.high) == (20, None, None)


def test_one_job_without_a_histogram_leaves_the_cell_without_percentiles() -> None:
    blind = replace(measurement(job=1), latency=Latency(100, 1e6))
    assert merged_histogram([measurement(job=0), blind]) is None
    assert "p99" not in merge(measurement(job=0), blind)


def test_stated_percentiles_are_shown_as_stated_and_without_interval() -> None:
    stated = replace(measurement(), latency=Latency(100, 1e6, stated_percentiles_ns={"0.99": 3e6}))
    (trials,) = gather_trials([record(stated)])
    found = estimate_metrics(trials, None)["p99"]
    assert (found.value, found.low, found.high, found.method) == (3e6, None, None, STATED)


def test_stated_percentiles_of_two_jobs_are_never_merged() -> None:
    stated = Latency(100, 1e6, stated_percentiles_ns={"0.99": 3e6})
    assert "p99" not in merge(*(replace(measurement(job=job), latency=stated) for job in (0, 1)))


def test_a_mixed_cell_becomes_two_cells_named_by_direction() -> None:
    mixed = {**CLEAN, "rw": "randrw"}
    both = record(measurement(direction=Direction.READ), measurement(direction=Direction.WRITE), cell=mixed)
    assert [trials.test for trials in gather_trials([both])] == ["randrw, read", "randrw, write"]


def test_failed_steps_are_not_merged() -> None:
    assert gather_trials([failed()]) == []


def test_concurrency_counts_jobs_and_hosts() -> None:
    two_hosts = [measurement(host="a"), measurement(host="b")]
    (trials,) = gather_trials([record(*two_hosts, cell={**CLEAN, "iodepth": 8, "numjobs": 2})])
    assert trials.concurrency == 8 * 2 * 2


def test_littles_law_gives_the_depth_that_was_kept() -> None:
    (trials,) = gather_trials([record(measurement(iops=5_000, concurrency=3))])
    assert trials.effective_concurrency == pytest.approx(3)


def test_overlap_is_the_shortest_over_the_longest_job() -> None:
    parts = [measurement(seconds=8, job=0), measurement(seconds=10, job=1)]
    (trials,) = gather_trials([record(*parts)])
    assert overlap_share(trials.trials[0]) == pytest.approx(0.8)


def test_order_of_records_does_not_matter() -> None:
    records: list[StepRecord] = [record(measurement(iops=1000 + n), ordinal=n, repeat=n) for n in range(3)]
    (forward,) = gather_trials(records)
    (backward,) = gather_trials(records[::-1])
    assert estimate_metrics(forward, None) == estimate_metrics(backward, None)
