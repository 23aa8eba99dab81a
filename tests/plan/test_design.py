"""The order of things: every cell as often as asked, on files that are there, one layout at a time."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.plan.design import design
from leadline.plan.forecast import forecast, kinds
from leadline.plan.steps import Step
from leadline.spec.load import build_campaign, load_campaign, ready_made
from leadline.store.records import StepKind


def planned(*experiments: dict[str, Any], **top: Any) -> tuple[Step, ...]:
    named = [{"name": f"e{number}", "size": "1m", **each} for number, each in enumerate(experiments)]
    document = {"name": "c", "noise_repeats": 0, "baselines": False, "experiment": named, **top}
    return design(build_campaign(document, "c.toml"))[0].steps


experiments = st.fixed_dictionaries(
    {
        "rw": st.lists(
            st.sampled_from(["read", "write", "randread", "randwrite"]), min_size=1, max_size=4, unique=True
        ),
        "size": st.sampled_from(["1m", "2m", "4m"]),
        "numjobs": st.lists(st.integers(1, 8), min_size=1, max_size=3, unique=True),
        "repeats": st.integers(1, 3),
    },
    optional={"runtime": st.just("1s"), "nrfiles": st.just(4), "fio": st.just({"filename": "one.bin"})},
)
campaigns = st.tuples(
    st.lists(experiments, min_size=1, max_size=4),
    st.sampled_from(["random", "as written"]),
    st.integers(0, 99),
    st.integers(0, 4),
)


def steps_of(campaign: tuple[list[dict[str, Any]], str, int, int]) -> tuple[Step, ...]:
    several, order, seed, noise_repeats = campaign
    return planned(*several, order=order, seed=seed, noise_repeats=noise_repeats)


@given(campaigns)
@settings(deadline=None)
def test_every_cell_comes_exactly_as_often_as_it_was_asked_for(campaign: Any) -> None:
    counted: dict[str, list[int]] = {}
    for step in steps_of(campaign):
        if step.kind is StepKind.CELL:
            counted.setdefault(json.dumps([step.experiment, dict(step.cell)]), []).append(step.repeat)
    wanted = [
        repeats
        for each in campaign[0]
        for repeats in [each["repeats"]] * len(each["rw"]) * len(each["numjobs"])
    ]
    assert sorted(len(repeats) for repeats in counted.values()) == sorted(wanted)
    assert all(sorted(repeats) == list(range(len(repeats))) for repeats in counted.values())


@given(campaigns)
@settings(deadline=None)
def test_no_cell_comes_before_the_files_it_needs_with_one_layout_on_the_disk_at_a_time(campaign: Any) -> None:
    """The disk is played through as the conductor does it: a step of another layout removes what was there."""
    there: tuple[str, int] = ("", 0)
    for step in steps_of(campaign):
        assert step.layout is not None
        if step.files == "fresh":
            there = (step.layout.key, step.layout.jobs)
        assert there[0] == step.layout.key
        assert there[1] >= step.layout.jobs, "the step counts on files that nobody has written"
        assert step.layout.filename or step.layout.jobs >= int(step.cell["numjobs"])


@given(campaigns)
@settings(deadline=None)
def test_a_random_order_lays_every_layout_out_at_most_once(campaign: Any) -> None:
    steps = steps_of((campaign[0], "random", *campaign[2:]))
    keys = [step.layout.key for step in steps if step.kind is StepKind.LAYOUT and step.layout]
    assert len(keys) == len(set(keys))


@given(campaigns)
@settings(deadline=None)
def test_steps_are_numbered_as_they_stand(campaign: Any) -> None:
    assert [step.ordinal for step in steps_of(campaign)] == list(range(len(steps_of(campaign))))


@given(campaigns)
@settings(deadline=None)
def test_a_step_survives_being_written_as_json(campaign: Any) -> None:
    for step in steps_of(campaign):
        assert Step.from_json(json.loads(json.dumps(step.to_json()))) == step


GRID = {"rw": ["read", "randread"], "iodepth": [1, 2, 4, 8], "numjobs": [1, 2], "repeats": 3, "runtime": "1s"}


def order(steps: tuple[Step, ...]) -> list[str]:
    return [json.dumps([step.repeat, dict(step.cell)]) for step in steps]


def test_the_same_seed_gives_the_same_order_and_another_seed_another() -> None:
    assert order(planned(GRID, seed=7)) == order(planned(GRID, seed=7))
    assert order(planned(GRID, seed=7)) != order(planned(GRID, seed=8))


def test_each_repeat_comes_in_an_order_of_its_own() -> None:
    rounds = [
        [dict(step.cell) for step in planned(GRID) if step.kind is StepKind.CELL and step.repeat == repeat]
        for repeat in range(3)
    ]
    assert rounds[0] != rounds[1] != rounds[2]


def test_repeats_are_rounds_so_that_a_slow_hour_hits_all_cells_alike() -> None:
    repeats = [step.repeat for step in planned(GRID) if step.kind is StepKind.CELL]
    assert repeats == sorted(repeats)


def test_as_written_keeps_the_order_of_the_file() -> None:
    steps = planned({"rw": "write"}, {"rw": "read"}, {"rw": "randread"}, order="as written")
    assert [(step.kind, step.cell["rw"]) for step in steps] == [
        ("cell", "write"),
        ("cell", "read"),
        ("cell", "randread"),
    ]


def test_reads_take_the_files_that_a_write_of_the_same_layout_has_left() -> None:
    assert kinds(planned({"rw": "write"}, {"rw": "read"}, order="as written"))[StepKind.LAYOUT] == 0
    assert (
        kinds(planned({"rw": "write"}, {"rw": "read", "size": "2m"}, order="as written"))[StepKind.LAYOUT]
        == 1
    )
    assert (
        kinds(planned({"rw": "write"}, {"rw": "read", "numjobs": 2}, order="as written"))[StepKind.LAYOUT]
        == 1
    )


def test_a_write_bound_by_time_works_on_files_that_are_there() -> None:
    layout, write = planned({"rw": "write", "runtime": "1s"})
    assert (layout.kind, write.files) == (StepKind.LAYOUT, "reuse")


def test_layouts_really_write_and_flush_their_bytes() -> None:
    """An unwritten extent would answer reads with zeros and no I/O."""
    layout = planned({"rw": "read", "numjobs": 3, "nrfiles": 2})[0]
    assert layout.kind is StepKind.LAYOUT
    assert (layout.cell["rw"], layout.cell["end_fsync"], layout.cell["fio.fallocate"]) == (
        "write",
        True,
        "none",
    )
    assert layout.expected_bytes == 3 << 20


def test_noise_repeats_are_one_cell_spread_over_its_group() -> None:
    steps = planned(GRID, noise_repeats=5)
    places = [place for place, step in enumerate(steps) if step.kind is StepKind.NOISE]
    noise = [steps[place] for place in places]
    assert len({json.dumps(dict(step.cell)) for step in noise}) == 1
    assert [step.repeat for step in noise] == list(range(5))
    assert (places[0], places[-1]) == (1, len(steps) - 1), "from the first cell after the layout to the end"
    gaps = [later - earlier for earlier, later in pairwise(places)]
    assert max(gaps) - min(gaps) <= 1


def test_noise_is_measured_on_a_reading_cell_where_there_is_one() -> None:
    steps = planned(
        {"rw": ["write", "randwrite", "randread"], "runtime": "1s"}, noise_repeats=2, order="as written"
    )
    assert {step.cell["rw"] for step in steps if step.kind is StepKind.NOISE} == {"randread"}


@pytest.mark.parametrize("order", ["random", "as written"])
def test_noise_repeats_never_count_on_other_files_than_the_cells_around_them(order: str) -> None:
    steps = planned({"rw": "read", "size": "1m"}, {"rw": "read", "size": "2m"}, order=order, noise_repeats=4)
    keys = [step.layout.key for step in steps if step.layout]
    assert len([None for one, two in pairwise(keys) if one != two]) == 1


def test_baselines_come_first_and_can_be_left_out() -> None:
    steps = planned({"rw": "read"}, baselines=True)
    assert [step.kind for step in steps[:2]] == [StepKind.CEILING, StepKind.MEMORY]
    assert not {StepKind.CEILING, StepKind.MEMORY} & {step.kind for step in planned({"rw": "read"})}


def test_every_repeat_has_random_offsets_of_its_own_and_the_same_ones_next_time() -> None:
    seeds = {step.repeat: step.seed for step in planned(GRID, seed=40) if step.kind is StepKind.CELL}
    assert seeds == {0: 40, 1: 41, 2: 42}


def test_a_steps_time_limit_lies_well_above_its_time_and_the_campaigns_word_wins() -> None:
    (timed,) = (
        step for step in planned({"rw": "read", "runtime": "10s", "ramp": "2s"}) if step.kind is StepKind.CELL
    )
    assert timed.timeout_seconds == 72
    (told,) = (
        step
        for step in planned({"rw": "read", "runtime": "10s", "timeout": "15s"})
        if step.kind is StepKind.CELL
    )
    assert told.timeout_seconds == 15


def test_the_forecast_adds_up_time_space_and_bytes() -> None:
    steps = planned({"rw": "write", "size": "8m", "numjobs": 2}, {"rw": "read", "size": "4m", "runtime": "3s", "repeats": 2},
                    order="as written")  # fmt: skip
    total = forecast(steps)
    assert (total.steps, total.cells) == (4, 2)
    assert total.space_bytes == 16 << 20, "one layout is on the disk at a time"
    assert total.written_bytes == (16 << 20) + (4 << 20)
    assert total.seconds == pytest.approx(sum(step.expected_seconds for step in steps))
    assert 6 < total.seconds < 6 + 4 * 0.7


def test_the_juicefs_guides_single_file_reads_use_the_files_its_writes_left() -> None:
    """So that the reads meet data as a distributed filesystem laid it out, not leadline's own layout."""
    plan, _ = design(load_campaign(ready_made()["juicefs_guide"]))
    read = next(place for place, step in enumerate(plan.steps) if step.experiment == "big-read-single")
    assert plan.steps[read].layout == plan.steps[read - 1].layout
    assert {step.kind for step in plan.steps[read - 2 : read]} == {StepKind.CELL}
