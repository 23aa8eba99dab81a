"""Ratios of like cells, with intervals that know what both sides know."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from leadline.analyse.analysis import analyse
from leadline.analyse.comparisons import compare, compare_runs
from leadline.analyse.results import CellResult, Estimate
from leadline.store.records import StepRecord

from .samples import CLEAN, ENVIRONMENT, manifest, measurement, record


def cells_of(*records: StepRecord) -> tuple[CellResult, ...]:
    return analyse(records, manifest(), ENVIRONMENT).cells


def with_bandwidth(value: float, low: float | None, high: float | None) -> CellResult:
    (cell,) = cells_of(record(measurement()))
    return replace(cell, metrics={"bandwidth": Estimate(value, low, high, 3, "by hand")})


def engines(left: float, right: float, **changes: int) -> list[StepRecord]:
    return [
        record(measurement(iops=iops), ordinal=n, cell={**CLEAN, "ioengine": engine, **changes})
        for n, (engine, iops) in enumerate((("io_uring", left), ("libaio", right)))
    ]


def test_engines_are_compared_at_equal_cells() -> None:
    found = analyse(engines(20_000, 15_000), manifest(), ENVIRONMENT).comparisons
    assert [(item.axis, item.left.cell["ioengine"], item.right.cell["ioengine"]) for item in found] == [
        ("ioengine", "io_uring", "libaio")
    ]
    assert found[0].ratios["bandwidth"].value == pytest.approx(0.75)
    assert found[0].differs


def test_cells_that_differ_in_two_settings_are_not_compared() -> None:
    left, right = engines(20_000, 15_000)
    other = replace(right, cell={**right.cell, "iodepth": 16})
    assert analyse([left, other], manifest(), ENVIRONMENT).comparisons == ()


def test_block_sizes_are_compared_with_the_next_smaller_one() -> None:
    records = [
        record(measurement(block_size=size), ordinal=n, cell={**CLEAN, "block_size": size})
        for n, size in enumerate((4096, 65_536, 1 << 20))
    ]
    found = analyse(records, manifest(), ENVIRONMENT).comparisons
    assert [(item.left.cell["block_size"], item.right.cell["block_size"]) for item in found] == [
        (4096, 65_536),
        (65_536, 1 << 20),
    ]


def test_buffered_is_compared_with_direct() -> None:
    records = [
        record(measurement(), ordinal=n, cell={**CLEAN, "direct": direct})
        for n, direct in enumerate((True, False))
    ]
    (found,) = analyse(records, manifest(), ENVIRONMENT).comparisons
    assert (found.axis, found.left.cell["direct"], found.right.cell["direct"]) == ("direct", False, True)


def test_a_difference_within_the_noise_floor_does_not_count() -> None:
    left, right = with_bandwidth(100, 99, 101), with_bandwidth(108, 107, 109)
    assert compare("ioengine", replace(left, noise_floor=0.05), replace(right, noise_floor=0.01)).differs
    assert not compare("ioengine", replace(left, noise_floor=0.10), replace(right, noise_floor=0.01)).differs


def test_overlapping_intervals_do_not_count_as_a_difference() -> None:
    assert not compare("ioengine", with_bandwidth(100, 80, 120), with_bandwidth(120, 100, 140)).differs


def test_without_intervals_nothing_is_told_apart() -> None:
    found = compare("ioengine", with_bandwidth(100, None, None), with_bandwidth(900, None, None))
    assert found.ratios["bandwidth"].value == 9
    assert found.ratios["bandwidth"].low is None
    assert found.differs is None


def test_the_ratio_interval_covers_the_true_ratio_19_times_in_20() -> None:
    draws = np.random.default_rng(5).normal([100.0, 150.0], [3.0, 5.0], (400, 2))
    half = 1.96 * np.array([3.0, 5.0])
    hits = 0
    for left, right in draws:
        found = compare(
            "ioengine",
            with_metrics(left, left - half[0], left + half[0]),
            with_metrics(right, right - half[1], right + half[1]),
        ).ratios["bandwidth"]
        assert found.low is not None and found.high is not None
        hits += found.low <= 1.5 <= found.high
    assert 0.92 <= hits / 400 <= 0.98


_TEMPLATE = with_bandwidth(1, None, None)


def with_metrics(value: float, low: float, high: float) -> CellResult:
    return replace(_TEMPLATE, metrics={"bandwidth": Estimate(value, low, high, 3, "by hand")})


def test_swapping_the_sides_inverts_the_ratio_and_its_interval() -> None:
    left, right = with_bandwidth(100, 90, 115), with_bandwidth(140, 120, 150)
    forth, back = (compare("x", *pair).ratios["bandwidth"] for pair in ((left, right), (right, left)))
    assert forth.value * back.value == pytest.approx(1)
    assert forth.low is not None and back.high is not None
    assert math.log(forth.low) == pytest.approx(-math.log(back.high))


def test_runs_are_compared_cell_by_cell() -> None:
    first = analyse([record(measurement(iops=20_000))], manifest(), ENVIRONMENT, "before")
    second = analyse([record(measurement(iops=22_000))], manifest(), ENVIRONMENT, "after")
    (found,) = compare_runs([first, second])
    assert (found.axis, found.left.run, found.right.run) == ("run", "before", "after")
    assert found.ratios["iops"].value == pytest.approx(1.1)


def test_a_run_alone_is_compared_with_nothing() -> None:
    assert compare_runs([analyse([record(measurement())], manifest(), ENVIRONMENT)]) == []
