"""quick fits the time it is given, and gives more for more of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.errors import UserError
from leadline.plan.design import design
from leadline.plan.forecast import forecast
from leadline.plan.quick import LARGEST_FILE_BYTES, REPORT_SECONDS, DirectoryFacts, quick_campaign
from leadline.plan.steps import Step
from leadline.store.records import StepKind

PLENTY = DirectoryFacts(free_bytes=1 << 40, direct=True, ioengines=("io_uring", "libaio"))
minutes = st.floats(min_value=0.5, max_value=60, allow_nan=False)


def steps_of(minutes: float, facts: DirectoryFacts = PLENTY) -> tuple[Step, ...]:
    return design(quick_campaign(minutes, facts, seed=1))[0].steps


def cells(steps: tuple[Step, ...]) -> int:
    return sum(step.kind is StepKind.CELL for step in steps)


@given(minutes)
@settings(deadline=None, max_examples=60)
def test_it_fits_the_time_it_is_given_from_half_a_minute_to_an_hour(given_minutes: float) -> None:
    planned = forecast(steps_of(given_minutes)).seconds + REPORT_SECONDS
    assert planned <= given_minutes * 60
    assert planned >= given_minutes * 60 * 0.6 or given_minutes < 1, "and does not leave most of it unused"


@given(minutes, minutes)
@settings(deadline=None, max_examples=60)
def test_more_time_never_gives_fewer_cells(one: float, other: float) -> None:
    short, long = sorted((one, other))
    assert cells(steps_of(short)) <= cells(steps_of(long))


def test_an_hour_gives_many_times_the_cells_of_a_minute() -> None:
    assert cells(steps_of(60)) > 10 * cells(steps_of(1))


@given(minutes)
@settings(deadline=None, max_examples=30)
def test_every_test_is_there_however_short_the_time(given_minutes: float) -> None:
    tests = {step.cell["rw"] for step in steps_of(given_minutes) if step.kind is StepKind.CELL}
    assert tests == {"read", "write", "randread", "randwrite"}


@given(minutes, st.integers(min_value=64 << 20, max_value=64 << 30))
@settings(deadline=None, max_examples=60)
def test_it_takes_at_most_a_quarter_of_what_is_free(given_minutes: float, free_bytes: int) -> None:
    steps = steps_of(given_minutes, DirectoryFacts(free_bytes, True, ("psync",)))
    assert forecast(steps).space_bytes <= free_bytes / 4
    assert all(int(step.cell["size"]) <= LARGEST_FILE_BYTES for step in steps if step.kind is StepKind.CELL)


def test_it_uses_what_the_directory_can_do() -> None:
    steps = steps_of(2, DirectoryFacts(1 << 40, direct=False, ioengines=("psync", "sync")))
    cells_only = [step for step in steps if step.kind is StepKind.CELL]
    assert {(step.cell["direct"], step.cell["ioengine"]) for step in cells_only} == {(False, "psync")}


def test_too_little_time_or_space_is_refused_with_what_is_needed() -> None:
    with pytest.raises(UserError, match="at least half a minute"):
        quick_campaign(0.2, PLENTY, seed=1)
    with pytest.raises(UserError, match="at least 64 MiB"):
        quick_campaign(5, DirectoryFacts(63 << 20, True, ("psync",)), seed=1)
