"""Verdicts on metadata: each provoked, and left unsaid just beside its threshold."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from leadline.analyse.analysis import analyse
from leadline.analyse.results import CellResult, Verdict, VerdictName
from leadline.store.histogram import Histogram
from leadline.store.records import Direction, StepRecord

from .metadata_samples import Phase, metadata_record, on_fuse, with_network
from .samples import ENVIRONMENT, manifest

STAT, CREATE = Direction.FILE_STAT, Direction.FILE_CREATE
OPERATIONS = 100_000
"""Of a phase of 10,000 a second over 10 s."""


def cell_of(record: StepRecord, direction: Direction = STAT) -> CellResult:
    (cell,) = [
        cell for cell in analyse([record], manifest(), ENVIRONMENT).cells if cell.direction is direction
    ]
    return cell


def verdict(cell: CellResult, name: VerdictName) -> Verdict | None:
    return next((verdict for verdict in cell.verdicts if verdict.name is name), None)


def stat(facts: Mapping[str, Any], direction: Direction = STAT, **known: Any) -> CellResult:
    return cell_of(metadata_record(Phase(direction, **known), facts=facts), direction)


def test_stats_without_requests_come_from_a_cache_of_the_client() -> None:
    found = verdict(stat(with_network(), requests={"GETATTR": 400, "LOOKUP": 20}), VerdictName.CACHED)
    assert found is not None
    assert "420 requests reached nfs4 for 100k operations" in found.evidence


@pytest.mark.parametrize(("requests", "cached"), [(89_999, True), (90_000, False)])
def test_nine_requests_for_ten_stats_are_enough(requests: int, cached: bool) -> None:
    found = verdict(stat(on_fuse(), requests={"GETATTR": requests}), VerdictName.CACHED)
    assert (found is not None) is cached


def test_every_door_must_have_been_knocked_at() -> None:
    """The kernel asked JuiceFS for each stat, and JuiceFS asked its metadata engine for none: it has a cache, too."""
    made = {"FUSE create": 300_000, "metadata Create": 100_000}
    record = metadata_record(
        Phase(CREATE, requests=made), Phase(STAT, requests={"FUSE lookup": 300_000}), facts=on_fuse()
    )
    found = verdict(cell_of(record), VerdictName.CACHED)
    assert found is not None and "0 metadata requests reached fuse.juicefs" in found.evidence


def test_creates_and_local_filesystems_are_not_asked_for_requests() -> None:
    assert verdict(stat(on_fuse(), CREATE, requests={"CREATE": 1}), VerdictName.CACHED) is None
    assert verdict(stat({}, requests={"GETATTR": 1}), VerdictName.CACHED) is None


def answers(fast_share: float, fast_ns: int = 1_900) -> Histogram:
    """Of one rank: so many came back within this."""
    fast = round(fast_share * OPERATIONS / 2)
    return Histogram.from_bins({fast_ns: fast, 80_000: OPERATIONS // 2 - fast})


@pytest.mark.parametrize(("fast_share", "cached"), [(0.11, True), (0.10, False)])
def test_answers_faster_than_any_crossing_are_cached(fast_share: float, cached: bool) -> None:
    found = verdict(stat(on_fuse(), shape=answers(fast_share)), VerdictName.CACHED)
    assert (found is not None) is cached
    if found is not None:
        assert "less than 2.00 us" in found.evidence


def test_answers_at_the_cost_of_a_crossing_are_believed() -> None:
    assert verdict(stat(on_fuse(), shape=answers(1.0, 2_000)), VerdictName.CACHED) is None


def test_requests_that_were_counted_say_more_than_latency() -> None:
    cell = stat(on_fuse(), shape=answers(1.0), requests={"GETATTR": OPERATIONS})
    assert verdict(cell, VerdictName.CACHED) is None


def test_stats_of_a_local_filesystem_may_be_as_fast_as_they_like() -> None:
    assert verdict(stat({}, shape=answers(1.0)), VerdictName.CACHED) is None


def test_one_failed_operation_is_one_too_many() -> None:
    found = verdict(stat({}, failed={"ENOENT": 1}), VerdictName.FAILED_OPERATIONS)
    assert found is not None
    assert "1 of 100,001 operations failed (1 ENOENT)" in found.evidence
    assert verdict(stat({}), VerdictName.FAILED_OPERATIONS) is None


def test_failures_of_one_operation_do_not_spoil_the_next() -> None:
    record = metadata_record(Phase(CREATE, failed={"ENOSPC": 7, "EIO": 9}), Phase(STAT))
    assert cell_of(record, CREATE).failed == {"ENOSPC": 7, "EIO": 9}
    assert "9 EIO and 7 ENOSPC" in cell_of(record, CREATE).verdicts[-1].evidence
    assert cell_of(record, STAT).failed == {} and not cell_of(record, STAT).verdicts


@pytest.mark.parametrize(("planned", "incomplete"), [(OPERATIONS + 1, True), (OPERATIONS, False)])
def test_operations_that_were_never_tried_are_missed(planned: int, incomplete: bool) -> None:
    found = verdict(stat({}, planned=planned), VerdictName.INCOMPLETE)
    assert (found is not None) is incomplete
    if found is not None:
        assert "100,000 of 100,001 operations were tried" in found.evidence


@pytest.mark.parametrize(("seconds", "apart"), [((9.4, 10), True), ((9.5, 10), False)])
def test_ranks_overlap_within_their_phase(seconds: tuple[float, float], apart: bool) -> None:
    """A phase of another length beside it is no other rank's."""
    record = metadata_record(Phase(CREATE, seconds=(3, 3)), Phase(STAT, seconds=seconds))
    assert (verdict(cell_of(record), VerdictName.NOT_OVERLAPPING) is not None) is apart
    assert verdict(cell_of(record, CREATE), VerdictName.NOT_OVERLAPPING) is None


def test_a_rank_without_anything_to_do_is_not_out_of_step() -> None:
    record = metadata_record(Phase(STAT))
    idle = replace(record.measurements[1], operations=0, runtime_ns=0)
    assert (
        verdict(
            cell_of(replace(record, measurements=(record.measurements[0], idle))), VerdictName.NOT_OVERLAPPING
        )
        is None
    )


@pytest.mark.parametrize(("user", "bound"), [(0.81, True), (0.80, False)])
def test_only_user_time_is_the_generators_own(user: float, bound: bool) -> None:
    """The kernel's time in the calls is the filesystem's work: local filesystems use all of it."""
    cell = cell_of(metadata_record(Phase(STAT), user=user, system=0.99 - user))
    assert (verdict(cell, VerdictName.GENERATOR_BOUND) is not None) is bound


def test_a_depth_that_is_kept_in_the_phase_is_no_inert_axis() -> None:
    """Little's law over the phase, not over the whole step."""
    record = metadata_record(Phase(CREATE), Phase(STAT), cell={"iodepth": 32, "driver": "io_uring"})
    assert verdict(cell_of(record), VerdictName.INERT_AXIS) is None
    shallow = metadata_record(Phase(CREATE), Phase(STAT, mean_ns=2e5), cell={"iodepth": 32})
    assert verdict(cell_of(shallow), VerdictName.INERT_AXIS) is not None


def test_the_null_engines_ceiling_says_nothing_of_names() -> None:
    from leadline.analyse.results import Reference
    from leadline.analyse.verdicts.context import CellContext
    from leadline.analyse.verdicts.generator import near_the_ceiling

    record = metadata_record(Phase(STAT))
    from leadline.analyse.merge import gather_trials

    (trials,) = gather_trials([record])
    assert near_the_ceiling(CellContext(cell_of(record), trials, Reference(ceiling_iops=1.0))) is None
