"""Every verdict: a seeded cell that provokes it, and one beside the threshold that does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from leadline.analyse.analysis import analyse
from leadline.analyse.results import CellResult, VerdictName
from leadline.store.histogram import Histogram
from leadline.store.records import Direction, JobUse, StepKind, StepRecord
from leadline.store.series import Series

from .samples import (
    CLEAN,
    ENVIRONMENT,
    GIB,
    MIB,
    SECOND_NS,
    failed,
    histogram,
    manifest,
    measurement,
    record,
)

BUFFERED = {**CLEAN, "direct": False}
WRITE = {**CLEAN, "rw": "randwrite"}
FUSE = {**ENVIRONMENT, "filesystem": {"type": "fuse.juicefs", "is_fuse": True, "is_network": True}}


def sound(
    *records: StepRecord,
    environment: Mapping[str, Any] = ENVIRONMENT,
    limits: Mapping[str, float] | None = None,
) -> list[CellResult]:
    return list(analyse(records, manifest(limits=limits or {}), environment).cells)


def evidence(cell: CellResult, name: VerdictName) -> str:
    """The evidence of one verdict; empty when it was not passed."""
    return "; ".join(verdict.evidence for verdict in cell.verdicts if verdict.name is name)


def names(cell: CellResult) -> set[VerdictName]:
    return {verdict.name for verdict in cell.verdicts}


def only_buffered(cells: list[CellResult]) -> CellResult:
    (cell,) = (cell for cell in cells if not cell.cell["direct"])
    return cell


def repeats(*rates: float, cell: Mapping[str, Any] = CLEAN) -> list[StepRecord]:
    return [record(measurement(iops=rate), ordinal=n, repeat=n, cell=cell) for n, rate in enumerate(rates)]


def reference_step(kind: StepKind, iops: float, block_size: int = 65_536, **known: Any) -> StepRecord:
    return record(measurement(iops=iops, block_size=block_size), kind=kind, experiment=str(kind), **known)


def test_a_clean_cell_has_no_verdict() -> None:
    (cell,) = sound(*repeats(20_000, 20_100, 19_900))
    assert cell.verdicts == ()
    assert all(cell.valid(name) for name in ("bandwidth", "iops", "mean", "p50", "p90", "p99"))


# impossible


@pytest.mark.parametrize(("share", "impossible"), [(1.03, True), (1.01, False)])
def test_more_than_the_stated_limit_of_the_direction_is_impossible(share: float, impossible: bool) -> None:
    (cell,) = sound(record(measurement()), limits={"read": 20_000 * 65_536 / share})
    found = evidence(cell, VerdictName.IMPOSSIBLE)
    assert bool(found) is impossible
    assert not impossible or "1.22 GiB/s is 1.03 x the stated limit for read, 1.19 GiB/s" in found


def test_the_smallest_limit_on_the_path_counts() -> None:
    (cell,) = sound(record(measurement()), limits={"read": 10 * GIB, "network": 1 * GIB})
    assert "network" in evidence(cell, VerdictName.IMPOSSIBLE)


def test_the_limit_of_a_test_stands_in_for_that_of_its_direction() -> None:
    (cell,) = sound(record(measurement()), limits={"read": 1 * GIB, "randread": 2 * GIB})
    assert VerdictName.IMPOSSIBLE not in names(cell)


@pytest.mark.parametrize(("copied_iops", "impossible"), [(19_000, True), (20_000, False)])
def test_more_than_memory_copies_is_impossible(copied_iops: float, impossible: bool) -> None:
    (cell,) = sound(reference_step(StepKind.MEMORY, copied_iops), record(measurement(), ordinal=1))
    assert bool(evidence(cell, VerdictName.IMPOSSIBLE)) is impossible


def test_two_jobs_may_copy_twice_what_one_does() -> None:
    jobs = [measurement(iops=10_000, job=job, concurrency=4) for job in (0, 1)]
    two_jobs = record(*jobs, ordinal=1, cell={**CLEAN, "numjobs": 2, "iodepth": 4})
    (cell,) = sound(reference_step(StepKind.MEMORY, 12_000), two_jobs)
    assert VerdictName.IMPOSSIBLE not in names(cell)


@pytest.mark.parametrize(("share", "impossible"), [(0.89, True), (0.91, False)])
def test_direct_reads_that_the_devices_did_not_see_are_impossible(share: float, impossible: bool) -> None:
    part = measurement()
    (cell,) = sound(record(part, totals={"disk.vda.read_bytes": share * part.size_bytes}))
    found = evidence(cell, VerdictName.IMPOSSIBLE)
    assert bool(found) is impossible
    assert not impossible or "saw 89 % of the bytes (at least 90 %)" in found


@pytest.mark.parametrize(("share", "impossible"), [(0.89, True), (0.91, False)])
def test_direct_writes_that_the_devices_did_not_see_are_impossible(share: float, impossible: bool) -> None:
    part = measurement(direction=Direction.WRITE)
    (cell,) = sound(record(part, cell=WRITE, totals={"disk.vda.write_bytes": share * part.size_bytes}))
    assert bool(evidence(cell, VerdictName.IMPOSSIBLE)) is impossible


def test_without_device_counters_nothing_is_said_about_devices() -> None:
    (cell,) = sound(record(measurement(), totals={}))
    assert VerdictName.IMPOSSIBLE not in names(cell)


def test_reads_on_tmpfs_need_no_device() -> None:
    memory = {**ENVIRONMENT, "filesystem": {"type": "tmpfs", "is_memory": True}}
    (cell,) = sound(record(measurement(), totals={"disk.vda.read_bytes": 0.0}), environment=memory)
    assert VerdictName.IMPOSSIBLE not in names(cell)


# cached


@pytest.mark.parametrize(
    ("dataset", "caches", "cached"), [(4, "kept", True), (16, "kept", False), (4, "dropped", False)]
)
def test_buffered_reads_of_a_dataset_below_memory_are_cached_unless_caches_were_dropped(
    dataset: int, caches: str, cached: bool
) -> None:
    facts = {"dataset_bytes": dataset * GIB, "caches": caches}
    (cell,) = sound(record(measurement(), cell=BUFFERED, facts=facts))
    found = evidence(cell, VerdictName.CACHED)
    assert bool(found) is cached
    assert not cached or "buffered reads of 4 GiB where memory holds 8 GiB" in found


def test_a_control_group_limits_the_memory_that_can_cache() -> None:
    facts = {"dataset_bytes": 4 * GIB, "caches": "kept"}
    limited = {**ENVIRONMENT, "memory": {"total_bytes": 8 * GIB, "cgroup_limit_bytes": 2 * GIB}}
    (cell,) = sound(record(measurement(), cell=BUFFERED, facts=facts), environment=limited)
    assert VerdictName.CACHED not in names(cell)


def test_the_reason_why_caches_stayed_is_in_the_evidence() -> None:
    facts = {"dataset_bytes": GIB, "caches": "drop not permitted", "caches_reason": "/proc is read-only"}
    (cell,) = sound(record(measurement(), cell=BUFFERED, facts=facts))
    assert "not dropped (/proc is read-only)" in evidence(cell, VerdictName.CACHED)


@pytest.mark.parametrize(("share", "cached"), [(0.5, True), (0.95, False)])
def test_buffered_reads_that_the_devices_hardly_saw_are_cached(share: float, cached: bool) -> None:
    part = measurement()
    totals = {"disk.vda.read_bytes": share * part.size_bytes}
    (cell,) = sound(record(part, cell=BUFFERED, totals=totals))
    assert bool(evidence(cell, VerdictName.CACHED)) is cached


def test_direct_reads_on_fuse_without_device_bytes_are_cached_and_not_impossible() -> None:
    (cell,) = sound(record(measurement(), totals={"disk.vda.read_bytes": 0.0}), environment=FUSE)
    assert "O_DIRECT is not honoured by fuse.juicefs" in evidence(cell, VerdictName.CACHED)
    assert VerdictName.IMPOSSIBLE not in names(cell)


@pytest.mark.parametrize(("fast_samples", "cached"), [(30_000, True), (10_000, False)])
def test_random_reads_faster_than_the_device_ever_answered_are_cached(
    fast_samples: int, cached: bool
) -> None:
    confirmed = record(measurement(shape=histogram(1e6)))  # its fastest answer takes 0.7 ms
    fast, slow = histogram(10_000, fast_samples), histogram(1e6, 200_000 - fast_samples)
    buffered = record(measurement(shape=Histogram.merge([fast, slow])), ordinal=1, cell=BUFFERED)
    found = evidence(only_buffered(sound(confirmed, buffered)), VerdictName.CACHED)
    assert bool(found) is cached
    assert not cached or "15 % of the reads took less than 700 us" in found


def test_sequential_reads_may_beat_the_device_by_readahead() -> None:
    confirmed = record(measurement(shape=histogram(1e6)))
    ahead = record(measurement(shape=histogram(10_000)), ordinal=1, cell={**BUFFERED, "rw": "read"})
    assert VerdictName.CACHED not in names(only_buffered(sound(confirmed, ahead)))


@pytest.mark.parametrize(("second", "cached"), [(31_000, True), (29_000, False)])
def test_a_second_pass_more_than_half_as_fast_again_is_cached(second: float, cached: bool) -> None:
    (cell,) = sound(*repeats(20_000, second))
    assert bool(evidence(cell, VerdictName.CACHED)) is cached


def test_on_a_noisy_machine_a_second_pass_must_be_further_off_to_be_a_cache() -> None:
    noise = [
        record(measurement(iops=iops), kind=StepKind.NOISE, repeat=n, ordinal=90 + n)
        for n, iops in enumerate((70, 100, 130))
    ]
    (cell,) = sound(*repeats(20_000, 31_000), *noise)
    assert VerdictName.CACHED not in names(cell)


def test_a_second_pass_of_writes_is_no_cache() -> None:
    records = [
        record(measurement(iops=iops, direction=Direction.WRITE), ordinal=n, repeat=n, cell=WRITE)
        for n, iops in enumerate((20_000, 40_000))
    ]
    assert VerdictName.CACHED not in names(sound(*records)[0])


# generator-bound


@pytest.mark.parametrize(("cpu", "bound"), [(0.82, True), (0.78, False)])
def test_a_job_that_uses_more_than_80_percent_of_a_core_binds(cpu: float, bound: bool) -> None:
    (cell,) = sound(record(measurement(), cpu=cpu))
    found = evidence(cell, VerdictName.GENERATOR_BOUND)
    assert bool(found) is bound
    assert not bound or "82 % of a core per job (at most 80 %)" in found


@pytest.mark.parametrize(("jobs", "bound"), [(7, True), (6, False)])
def test_jobs_that_together_use_more_than_80_percent_of_the_cores_bind(jobs: int, bound: bool) -> None:
    parts = [measurement(iops=2_000, job=job, concurrency=1) for job in range(jobs)]
    cell = {**CLEAN, "numjobs": jobs, "iodepth": 1}
    (found,) = sound(record(*parts, cell=cell, cpu=0.5))  # of 4 threads
    assert bool(evidence(found, VerdictName.GENERATOR_BOUND)) is bound


@pytest.mark.parametrize(("ceiling", "bound"), [(39_000, True), (41_000, False)])
def test_more_than_half_the_null_engines_rate_binds(ceiling: float, bound: bool) -> None:
    (cell,) = sound(reference_step(StepKind.CEILING, ceiling), record(measurement(), ordinal=1))
    assert bool(evidence(cell, VerdictName.GENERATOR_BOUND)) is bound


# unsteady


@pytest.mark.parametrize(("rise", "unsteady"), [(0.15, True), (0.08, False)])
def test_a_drift_inside_the_window_is_unsteady(rise: float, unsteady: bool) -> None:
    rate = 20_000 * 65_536
    values = (rate * np.linspace(1 - rise / 2, 1 + rise / 2, 40)).tolist()
    drifting = Series("read", "bytes/s", list(range(40)), values)
    (cell,) = sound(record(measurement(), series=[drifting]))
    found = evidence(cell, VerdictName.UNSTEADY)
    assert bool(found) is unsteady
    assert not unsteady or ("SNIA PTS" in found and "drift 12 % (at most 10 %)" in found)


def test_fewer_than_ten_samples_say_nothing_about_steadiness() -> None:
    values = [1.0, 100.0, 1.0, 100.0, 1.0, 100.0, 1.0, 100.0, 1.0]
    (cell,) = sound(record(measurement(), series=[Series("read", "bytes/s", list(range(9)), values)]))
    assert VerdictName.UNSTEADY not in names(cell)


def test_one_unsteady_repeat_is_enough() -> None:
    wild = Series("read", "bytes/s", list(range(40)), [1e9] * 20 + [2e9] * 20)
    steady, unsteady = record(measurement()), record(measurement(), ordinal=1, repeat=1, series=[wild])
    assert VerdictName.UNSTEADY in names(sound(steady, unsteady)[0])


# too few samples


@pytest.mark.parametrize(
    ("samples", "spoiled"),
    [(99_999, {"p99.9"}), (100_000, set()), (9_999, {"p99", "p99.9"}), (199, {"p50", "p90", "p99", "p99.9"})],
)
def test_too_few_samples_spoil_that_percentile_only(samples: int, spoiled: set[str]) -> None:
    (cell,) = sound(record(measurement(shape=histogram(4e5, samples, bins=50))))
    assert {name for name in cell.metrics if not cell.valid(name)} == spoiled
    assert cell.valid("bandwidth")


# short window


def after_a_ramp(iops: float, mean_ns: float, *, issued: int = 0, **cell: Any) -> StepRecord:
    """A window of 2 s at iodepth 8 that was counted over 2.5 s, until the last answer."""
    part = measurement(iops=iops, seconds=2.5, mean_ns=mean_ns)
    asked = {**CLEAN, "ramp": 1.0, "runtime": 2.0, **cell}
    return record(replace(part, operations=issued or part.operations), cell=asked)


@pytest.mark.parametrize(("excess", "short"), [(1.06, True), (1.04, False)])
def test_more_in_flight_than_can_be_after_a_ramp_makes_latencies_doubtful_and_no_rate(
    excess: float, short: bool
) -> None:
    (cell,) = sound(after_a_ramp(20, excess * 0.4 * SECOND_NS))
    found = evidence(cell, VerdictName.SHORT_WINDOW)
    assert bool(found) is short
    assert not short or "8.48 requests in flight where 8 can be" in found
    assert not short or "6.0 % too long (at most 5.0 %); about 3.00 s would do" in found
    assert cell.valid("bandwidth") and cell.valid("iops")
    assert ("mean" in [name for verdict in cell.verdicts for name in verdict.metrics]) is short


def test_an_answer_that_is_short_against_the_window_does_not_explain_what_is_too_much() -> None:
    (cell,) = sound(after_a_ramp(20_000, 1.3 * 4e5))
    assert VerdictName.SHORT_WINDOW not in names(cell) and VerdictName.INERT_AXIS in names(cell)


def test_what_the_ends_of_a_window_explain_is_no_inert_axis() -> None:
    (cell,) = sound(after_a_ramp(10, 1.3 * 0.8 * SECOND_NS))
    assert VerdictName.SHORT_WINDOW in names(cell) and VerdictName.INERT_AXIS not in names(cell)


@pytest.mark.parametrize("kept", ["ramp", "runtime", "ioengine"])
def test_without_ramp_or_window_and_beside_fio_there_is_no_short_window(kept: str) -> None:
    step = after_a_ramp(20, 1.1 * 0.4 * SECOND_NS)
    (cell,) = sound(replace(step, cell={name: value for name, value in step.cell.items() if name != kept}))
    assert VerdictName.SHORT_WINDOW not in names(cell)


def test_an_open_loop_may_have_any_number_in_flight() -> None:
    (cell,) = sound(after_a_ramp(20, 1.1 * 0.4 * SECOND_NS, rate=20))
    assert VerdictName.SHORT_WINDOW not in names(cell)


def test_a_stored_run_that_counted_what_was_issued_has_no_valid_iops() -> None:
    (cell,) = sound(after_a_ramp(20, 0.4 * SECOND_NS, issued=47))
    found = evidence(cell, VerdictName.SHORT_WINDOW)
    assert "50 requests were answered and 47 counted" in found and "6.0 % too low (at most 5.0 %)" in found
    assert cell.valid("bandwidth") and not cell.valid("iops")
    (cell,) = sound(after_a_ramp(20, 0.4 * SECOND_NS, issued=48))
    assert VerdictName.SHORT_WINDOW not in names(cell)


def test_an_axis_is_not_called_inert_by_operations_that_were_not_counted() -> None:
    (cell,) = sound(after_a_ramp(20, 0.4 * SECOND_NS, issued=35))
    assert VerdictName.INERT_AXIS not in names(cell)


# inert axis


@pytest.mark.parametrize(
    ("kept", "inert"), [(1.0, True), (6.3, True), (6.5, False), (9.5, False), (9.7, True)]
)
def test_a_depth_that_is_not_kept_is_inert(kept: float, inert: bool) -> None:
    (cell,) = sound(record(measurement(concurrency=kept)))
    found = evidence(cell, VerdictName.INERT_AXIS)
    assert bool(found) is inert
    assert kept != 1 or "effective iodepth of 1 where 8 was asked for" in found.replace("1.00", "1")


def test_iodepth_one_cannot_be_inert() -> None:
    (cell,) = sound(record(measurement(concurrency=0.5), cell={**CLEAN, "iodepth": 1}))
    assert VerdictName.INERT_AXIS not in names(cell)


def test_jobs_that_ended_early_are_not_called_inert() -> None:
    parts = [measurement(seconds=2, job=0), measurement(seconds=10, job=1)]
    (cell,) = sound(record(*parts, cell={**CLEAN, "numjobs": 2}))
    assert VerdictName.INERT_AXIS not in names(cell)


# collapsed


@pytest.mark.parametrize(("deepest", "collapsed"), [(16_900, True), (17_100, False)])
def test_a_load_beyond_the_peak_with_15_percent_less_is_collapsed(deepest: float, collapsed: bool) -> None:
    rates = {1: 5_000, 4: 12_000, 16: 20_000, 64: deepest}
    records = [
        record(measurement(iops=iops, concurrency=depth), ordinal=n, cell={**CLEAN, "iodepth": depth})
        for n, (depth, iops) in enumerate(rates.items())
    ]
    cells = sound(*records)
    assert [bool(evidence(cell, VerdictName.COLLAPSED)) for cell in cells] == [False, False, False, collapsed]
    assert not collapsed or "below the peak of 1.22 GiB/s at iodepth 16" in evidence(
        cells[3], VerdictName.COLLAPSED
    )


@pytest.mark.parametrize(("noisy", "mentioned"), [(25_000, True), (20_500, False)])
def test_a_collapse_within_the_noise_floor_says_so(noisy: float, mentioned: bool) -> None:
    noise = [reference_step(StepKind.NOISE, iops, repeat=n) for n, iops in enumerate((20_000, 20_000, noisy))]
    curve = [
        record(measurement(iops=iops, concurrency=depth), ordinal=9 + depth, cell={**CLEAN, "iodepth": depth})
        for depth, iops in ((1, 5_000), (16, 20_000), (64, 16_500))
    ]
    found = evidence(sound(*noise, *curve)[2], VerdictName.COLLAPSED)
    assert "18 % below the peak" in found
    assert ("the noise floor is 25 %" in found) is mentioned


# unlike repeats


@pytest.mark.parametrize(("last", "unlike"), [(21_100, True), (20_900, False)])
def test_repeats_that_differ_by_more_than_5_percent_are_unlike(last: float, unlike: bool) -> None:
    (cell,) = sound(*repeats(20_000, 20_000, last))
    assert bool(evidence(cell, VerdictName.UNLIKE_REPEATS)) is unlike


@pytest.mark.parametrize(("last", "unlike"), [(23_100, True), (22_900, False)])
def test_a_noisy_machine_is_forgiven_one_and_a_half_times_its_noise_floor(last: float, unlike: bool) -> None:
    noise = [
        reference_step(StepKind.NOISE, iops, repeat=n) for n, iops in enumerate((20_000, 20_000, 22_000))
    ]
    cells = [replace(step, ordinal=10 + n) for n, step in enumerate(repeats(20_000, 20_000, last))]
    (cell,) = sound(*noise, *cells)
    found = evidence(cell, VerdictName.UNLIKE_REPEATS)
    assert bool(found) is unlike
    assert not unlike or "(at most 15 %; noise floor 10 %)" in found


# not overlapping


@pytest.mark.parametrize(("shortest", "apart"), [(9.4, True), (9.6, False)])
def test_jobs_that_ran_together_for_less_than_95_percent_do_not_overlap(shortest: float, apart: bool) -> None:
    parts = [measurement(seconds=shortest, job=0, host="north"), measurement(seconds=10, job=1, host="north")]
    (cell,) = sound(record(*parts, cell={**CLEAN, "numjobs": 2}))
    found = evidence(cell, VerdictName.NOT_OVERLAPPING)
    assert bool(found) is apart
    assert (
        not apart or "first done job 0 on north after 9.40 s, last done job 1 on north after 10.0 s" in found
    )


# incomplete


def write_facts(**facts: Any) -> StepRecord:
    return record(measurement(direction=Direction.WRITE), cell={**WRITE, "direct": False}, facts=facts)


def test_buffered_writes_without_a_flush_are_incomplete() -> None:
    (cell,) = sound(write_facts(buffered_without_flush=True))
    assert "not flushed" in evidence(cell, VerdictName.INCOMPLETE)


def test_flushed_writes_are_complete() -> None:
    (cell,) = sound(write_facts(buffered_without_flush=False))
    assert VerdictName.INCOMPLETE not in names(cell)


def test_a_failed_repeat_leaves_the_cell_incomplete() -> None:
    (cell,) = sound(*repeats(20_000, 20_000), failed("fio hung", ordinal=5, repeat=2))
    assert evidence(cell, VerdictName.INCOMPLETE) == "1 of 3 repeats failed: fio hung"


def test_a_failed_repeat_that_was_made_good_later_leaves_nothing_behind() -> None:
    (cell,) = sound(failed(ordinal=0, repeat=0), *[replace(step, ordinal=5) for step in repeats(20_000)])
    assert VerdictName.INCOMPLETE not in names(cell)


def test_fewer_jobs_than_numjobs_is_incomplete() -> None:
    parts = [measurement(job=job, concurrency=8) for job in range(3)]
    (cell,) = sound(record(*parts, cell={**CLEAN, "numjobs": 4}))
    assert "3 of 4 jobs reported" in evidence(cell, VerdictName.INCOMPLETE)


def test_a_job_that_moved_nothing_in_this_direction_still_reported() -> None:
    part = measurement()
    both = (JobUse("", 0, 0.1, 0.1, 1, SECOND_NS, 0), JobUse("", 1, 0.1, 0.1, 1, SECOND_NS, 0))
    (cell,) = sound(replace(record(part, cell={**CLEAN, "numjobs": 2}), jobs=both))
    assert VerdictName.INCOMPLETE not in names(cell)


def test_an_interrupted_cell_is_incomplete() -> None:
    (cell,) = sound(record(measurement(), facts={"interrupted": True}))
    assert evidence(cell, VerdictName.INCOMPLETE) == "it was interrupted"


@pytest.mark.parametrize(("ran", "early"), [(9.0, True), (9.8, False)])
def test_a_cell_that_ran_out_of_data_before_its_time_is_incomplete(ran: float, early: bool) -> None:
    (cell,) = sound(record(measurement(seconds=ran), cell={**CLEAN, "runtime": 10}))
    assert bool(evidence(cell, VerdictName.INCOMPLETE)) is early


def test_an_import_that_ended_early_is_incomplete() -> None:
    facts = {"imported": True, "ended_early": True}
    (cell,) = sound(record(measurement(seconds=3), facts=facts))
    assert "it ended after 3.00 s" in evidence(cell, VerdictName.INCOMPLETE)


def test_an_engine_without_job_figures_is_judged_by_its_processor_time() -> None:
    step = replace(record(measurement(), facts={"engine_cpu_seconds": 9.0}), jobs=(), wall_ns=10 * SECOND_NS)
    (cell,) = sound(step)
    assert "90 % of a core per job" in evidence(cell, VerdictName.GENERATOR_BOUND)


def test_imported_figures_without_counts_are_not_judged_by_counts() -> None:
    stated = replace(measurement(iops=500, block_size=MIB, concurrency=8, seconds=1))
    facts = {"imported": True, "stated_rates_only": True}
    (cell,) = sound(record(stated, facts=facts, series=[], totals={}), environment={})
    assert cell.verdicts == ()
    assert cell.metrics["bandwidth"].low is None
