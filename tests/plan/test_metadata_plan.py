"""Experiments on metadata multiplied out: which cells, what they make, and what a scale leaves of them."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import UserError
from leadline.plan.design import design
from leadline.plan.forecast import forecast
from leadline.plan.metadata import Shape, expand_metadata, scaled
from leadline.plan.scaling import Scaling
from leadline.plan.steps import Step
from leadline.spec.load import build_campaign
from leadline.spec.metadata import MetadataExperiment
from leadline.store.records import StepKind

WIDE = {"depth": 2, "branching_factor": 3, "items_per_directory": 10_000, "unique_trees": True}


def experiment(**settings: Any) -> MetadataExperiment:
    usual = {"name": "tree", "engine": "metadata", "items_per_directory": 10}
    return MetadataExperiment.model_validate(usual | settings)


def cells(**settings: Any) -> list[dict[str, Any]]:
    return list(expand_metadata(experiment(**settings), Scaling()))


def planned(*experiments: dict[str, Any], **top: Any) -> tuple[Step, ...]:
    named = [{"name": f"e{number}", **each} for number, each in enumerate(experiments)]
    document = {"name": "c", "noise_repeats": 0, "experiment": named, **top}
    return design(build_campaign(document, "c.toml"))[0].steps


def test_only_io_uring_is_multiplied_by_the_depths() -> None:
    found = [
        (cell["driver"], cell["iodepth"]) for cell in cells(driver=["calls", "io_uring"], iodepth=[1, 8, 32])
    ]
    assert sorted(found) == [("calls", 1), ("io_uring", 1), ("io_uring", 8), ("io_uring", 32)]


def test_what_goes_without_saying_is_not_in_the_cell_but_how_it_is_driven_and_named_is() -> None:
    (cell,) = cells()
    assert cell == {
        "numjobs": 1, "driver": "calls", "iodepth": 1, "naming": "full_path", "depth": 0, "branching_factor": 1,
        "items_per_directory": 10,
    }  # fmt: skip
    (cell,) = cells(directories=False, actions=["create", "stat"], pause="1s", drop_caches=True)
    assert (cell["directories"], cell["actions"], cell["pause"], cell["drop_caches"]) == (
        False,
        "create,stat",
        1.0,
        True,
    )


def test_the_published_shape_is_counted_as_published() -> None:
    """ "13 directories ... 130,000 files" a process: the evaluation's own words."""
    (cell,) = cells(**WIDE, numjobs=4)
    shape = Shape.of(cell)
    assert (shape.directories, shape.items_per_rank, shape.trees) == (13, 130_000, 4)
    assert shape.operations == 4 * (8 * 130_000 + 2 * 13)
    assert shape.inodes == 4 * (130_000 + 13), "directories are gone before files are made"
    (deep,) = cells(depth=10, branching_factor=2, items_per_directory=100)
    assert Shape.of(deep).items_per_rank == 204_700


@pytest.mark.parametrize(
    ("settings", "items", "operations"),
    [
        ({"depth": 2, "branching_factor": 3, "leaves_only": True}, 90, 8 * 90 + 2 * 13),
        (
            {"depth": 2, "branching_factor": 3, "items_per_directory": None, "items_per_rank": 1000},
            988,
            8 * 988 + 26,
        ),
        ({"items_per_rank": 30}, 30, 8 * 30 + 2),
        ({"actions": ["create"]}, 10, 2 * 10 + 1),
        ({"files": False, "actions": ["create", "rename", "remove"]}, 10, 3 * 10 + 2),
    ],
)
def test_items_are_rounded_as_mdtest_rounds_them(
    settings: dict[str, Any], items: int, operations: int
) -> None:
    (cell,) = cells(**settings)
    assert (Shape.of(cell).items_per_rank, Shape.of(cell).operations) == (items, operations)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"items_per_rank": 20, "unique_trees": True}, "leave one of them out"),
        ({"items_per_rank": 20, "depth": 1}, "leave one of them out"),
        ({"items_per_rank": 15}, "not a multiple"),
        (
            {"items_per_directory": None, "items_per_rank": 5, "depth": 3, "branching_factor": 2},
            "15 directories",
        ),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        cells(**settings)


def test_scaling_takes_items_first_and_then_levels_and_says_so() -> None:
    scaling = Scaling(Fraction(1, 256))
    wide = scaled(cells(**WIDE)[0], scaling)
    deep = scaled(cells(depth=10, branching_factor=2, items_per_directory=100)[0], scaling)
    assert (wide["items_per_directory"], wide["depth"]) == (39, 2)
    assert (deep["items_per_directory"], deep["depth"]) == (1, 8)
    assert scaling.effects == [
        "items a directory 10,000 became 39",
        "items a directory 100 became 1",
        "tree depth 10 became 8, so that each directory still holds one item",
    ]


shapes = st.fixed_dictionaries(
    {"depth": st.integers(0, 5), "branching_factor": st.integers(1, 4), "leaves_only": st.booleans()}
)
counts = st.one_of(
    st.builds(lambda n: {"items_per_directory": n, "items_per_rank": None}, st.integers(1, 5000)),
    st.builds(lambda n: {"items_per_directory": None, "items_per_rank": n}, st.integers(1400, 100_000)),
)
scales = st.fractions(min_value=Fraction(1, 10_000), max_value=4)


@given(shapes, counts, scales)
def test_scaling_always_leaves_something_and_never_more_than_asked_for(
    shape: dict[str, Any], count: dict[str, Any], scale: Fraction
) -> None:
    (cell,) = cells(**shape, **count)
    result = Shape.of(scaled(cell, Scaling(scale)))
    assert result.items_per_rank >= 1
    asked = int(cell.get("items_per_rank", Shape.of(cell).items_per_rank))
    assert result.items_per_rank <= max(1, asked * scale)


def test_a_scale_of_one_changes_and_says_nothing() -> None:
    (cell,) = cells(**WIDE)
    scaling = Scaling()
    assert scaled(cell, scaling) == cell and scaling.effects == []


def test_its_steps_need_no_layout_and_stand_beside_those_that_do() -> None:
    tree = {"engine": "metadata", "items_per_directory": 10, "numjobs": [1, 2], "repeats": 2}
    steps = planned(tree, {"rw": "read", "size": "1m", "runtime": "1s"})
    assert [step.kind for step in steps[:2]] == [StepKind.CEILING, StepKind.MEMORY]
    own = [step for step in steps if step.engine == "metadata"]
    assert len(own) == 4 and all(step.layout is None and step.files == "tree" for step in own)
    assert sum(step.kind is StepKind.LAYOUT for step in steps) == 1
    for step in own:
        assert Step.from_json(step.to_json()) == step


@pytest.mark.parametrize("order", ["random", "as written"])
def test_trees_between_two_cells_of_one_layout_do_not_lay_it_out_twice(order: str) -> None:
    data = {"rw": "read", "size": "1m", "runtime": "1s"}
    steps = planned(data, {"engine": "metadata", "items_per_rank": 5}, {**data, "iodepth": 4}, order=order)
    assert sum(step.kind is StepKind.LAYOUT for step in steps) == 1


def test_a_campaign_of_metadata_alone_measures_no_ceilings_of_data() -> None:
    steps = planned({"engine": "metadata", "items_per_directory": 10}, noise_repeats=2)
    assert [step.kind for step in steps] == [StepKind.NOISE, StepKind.CELL, StepKind.NOISE]


def test_the_forecast_knows_time_inodes_and_room() -> None:
    (step,) = planned(
        {"engine": "metadata", "items_per_directory": 5000, "write_size": "10k"}, baselines=False
    )
    total = forecast([step])
    assert (total.operations, total.inodes) == (8 * 5000 + 2, 5001)
    assert total.space_bytes == 5001 * 4096 + 5000 * 12288
    assert step.expected_seconds == pytest.approx(8.45, abs=0.1)
    assert step.timeout_seconds == pytest.approx(60 + 40_002 / 50)
    assert step.site.size_bytes == total.space_bytes


def test_a_lab_image_is_made_large_enough_for_its_inodes() -> None:
    (step,) = planned({"engine": "metadata", "items_per_directory": 1000}, baselines=False, target="ext4")
    assert step.site.size_bytes == 1001 * 16384


def test_several_clients_are_ranks_together() -> None:
    (step,) = planned(
        {"engine": "metadata", "items_per_directory": 10, "numjobs": 2, "clients": 3, "unique_trees": True},
        target="glusterfs",
        baselines=False,
    )
    assert (Shape.of(step.cell).ranks, Shape.of(step.cell).trees, step.site.clients) == (6, 6, 3)
