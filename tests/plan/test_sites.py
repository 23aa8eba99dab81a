"""What steps stand on: targets, their options and conditions multiply, and steps of one site stand together."""

import json
from itertools import groupby
from typing import Any

import pytest

from leadline.errors import UserError
from leadline.plan.design import design
from leadline.plan.forecast import forecast
from leadline.plan.sites import Site
from leadline.plan.steps import Step
from leadline.spec.load import build_campaign
from leadline.store.records import StepKind


def planned(target: Any, *experiments: dict[str, Any], **top: Any) -> tuple[Step, ...]:
    named = [
        {"name": f"e{number}", "rw": "read", "size": "1m", **each}
        for number, each in enumerate(experiments or ({},))
    ]
    document = {
        "name": "c",
        "noise_repeats": 0,
        "baselines": False,
        "target": target,
        "experiment": named,
        **top,
    }
    return design(build_campaign(document, "c.toml"))[0].steps


def cells(steps: tuple[Step, ...]) -> list[dict[str, Any]]:
    return [dict(step.cell) for step in steps if step.kind is StepKind.CELL]


def sites(steps: tuple[Step, ...]) -> list[Site]:
    """In the order in which they are entered."""
    return [site for site, _ in groupby(steps, key=lambda step: step.site)]


def test_a_single_target_is_not_named_in_its_cells_and_several_are() -> None:
    assert "target" not in cells(planned("xfs"))[0]
    assert sorted(cell["target"] for cell in cells(planned(["xfs", "ext4"]))) == ["ext4", "xfs"]


def test_the_name_alone_a_table_and_a_list_mean_the_same_target() -> None:
    assert planned("xfs") == planned({"name": "xfs"}) == planned([{"name": "xfs"}])


def test_a_listed_option_is_an_axis_of_the_cells_and_a_single_one_is_not() -> None:
    options = {"buffer-size": [64, 300], "metadata": "redis", "writeback": True}
    steps = planned({"name": "juicefs", "options": options})
    assert sorted(cell["target.buffer-size"] for cell in cells(steps)) == [64, 300]
    assert not any("target.metadata" in cell for cell in cells(steps))
    assert {site.options for site in sites(steps)} == {
        (("buffer-size", text), ("metadata", "redis"), ("writeback", "true")) for text in ("64", "300")
    }


def test_storage_nodes_and_conditions_multiply() -> None:
    steps = planned(
        {"name": "glusterfs", "storage_nodes": [3, 6]},
        conditions={"link": ["none", "1Gb/s"], "packet_loss": [0, 0.5]},
    )
    assert len(sites(steps)) == 8
    held = {tuple(sorted(site.conditions.given().items())) for site in sites(steps)}
    assert held == {
        (),
        (("link", 125e6),),
        (("packet_loss", 0.5),),
        (("link", 125e6), ("packet_loss", 0.5)),
    }
    assert {cell.get("link") for cell in cells(steps)} == {None, 125e6}
    assert {cell["packet_loss"] for cell in cells(steps)} == {0, 0.5}


def test_a_disk_that_takes_its_time_is_an_axis_like_any_other_condition() -> None:
    slow = {"disk_latency": ["1ms", "4ms"], "disk_channels": 3, "disk_channel_bandwidth": ["none", "50MB/s"]}
    held = [site.conditions.given() for site in sites(planned("xfs", conditions=slow))]
    assert len(held) == 4 and all(each["disk_channels"] == 3 for each in held)
    assert {each["disk_latency"] for each in held} == {0.001, 0.004}
    assert {each.get("disk_channel_bandwidth") for each in held} == {None, 50e6}


@pytest.mark.parametrize("key", ["disk_channels", "disk_channel_bandwidth"])
@pytest.mark.parametrize("latency", [{}, {"disk_latency": ["none", "4ms"]}, {"disk_latency": "0s"}])
def test_channels_of_a_disk_that_takes_no_time_are_refused(key: str, latency: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=f"has `{key}` where `disk_latency` does not always say"):
        planned("xfs", conditions={**latency, key: 3})


def test_rounds_go_over_all_sites_so_that_a_slow_hour_hits_all_targets_alike() -> None:
    steps = planned(["xfs", "ext4", "btrfs"], {"repeats": 3})
    measured = [step for step in steps if step.kind is StepKind.CELL]
    assert [step.repeat for step in measured] == sorted(step.repeat for step in measured)
    for repeat in range(3):
        own = {step.site.target for step in measured if step.repeat == repeat}
        assert own == {"xfs", "ext4", "btrfs"}


def test_a_single_site_is_never_left() -> None:
    assert len(sites(planned("xfs", {"repeats": 3, "numjobs": [1, 2]}))) == 1


def test_as_written_keeps_the_order_of_the_targets() -> None:
    steps = planned(["xfs", "ext4"], {"repeats": 2}, order="as written")
    assert [site.target for site in sites(steps)] == ["xfs", "ext4"]


def test_a_site_knows_the_most_clients_and_the_largest_files_of_its_steps() -> None:
    steps = planned("glusterfs", {"clients": [1, 3], "numjobs": [1, 2]}, {"size": "4m"})
    (site,) = sites(steps)
    assert (site.clients, site.size_bytes) == (3, 3 * 2 << 20)


def test_clients_have_files_of_their_own_laid_out_for_the_most_of_them() -> None:
    steps = planned("glusterfs", {"clients": [1, 3], "runtime": "1s"})
    layouts = {step.layout for step in steps}
    assert len(layouts) == 1
    (layout,) = layouts
    assert layout is not None and (layout.clients, layout.key) == (3, "files-1x1m-each")
    assert [step.cell["clients"] for step in steps if step.kind is StepKind.LAYOUT] == [3]


def test_files_that_no_mount_shows_are_laid_out_by_the_engine_that_reads_them() -> None:
    layout, cell = planned({"name": "nfs", "ioengine": "nfs"}, {"ioengine": "psync"})
    assert (layout.cell["ioengine"], cell.cell["ioengine"]) == ("nfs", "nfs")
    assert layout.layout == cell.layout and layout.layout is not None and layout.layout.ioengine == "nfs"


def test_a_target_may_have_its_own_engine_where_the_others_keep_the_experiments() -> None:
    steps = planned(
        ["xfs", {"name": "nfs", "ioengine": "nfs", "direct": False}], {"ioengine": "psync", "direct": True}
    )
    told = {cell["target"]: (cell["ioengine"], cell["direct"]) for cell in cells(steps)}
    assert told == {"xfs": ("psync", True), "nfs": ("nfs", False)}


def test_an_experiment_runs_on_the_targets_that_it_names() -> None:
    steps = planned(["xfs", "ext4"], {"targets": ["xfs"]}, {})
    assert sorted((step.experiment, step.site.target) for step in steps if step.kind is StepKind.CELL) == [
        ("e0", "xfs"),
        ("e1", "ext4"),
        ("e1", "xfs"),
    ]


def test_bringing_up_counts_in_the_forecast() -> None:
    one, two = forecast(planned("xfs")), forecast(planned(["xfs", "ext4"]))
    assert two.seconds > 2 * (one.seconds - 1)


def test_a_step_on_a_site_survives_being_written_as_json() -> None:
    target = {"name": "juicefs", "options": {"buffer-size": [64, 300]}}
    for step in planned([target, "xfs"], {"clients": 2}, conditions={"client_memory": "1GiB"}):
        assert Step.from_json(json.loads(json.dumps(step.to_json()))) == step


@pytest.mark.parametrize(
    ("target", "experiment", "said"),
    [
        ([{"name": "juicefs"}, {"name": "juicefs"}], {}, "give each a `label`"),
        (["xfs", {}], {}, "neither `name` nor `directory`"),
        (["xfs", "ext4"], {"targets": ["ext5"]}, 'did you mean "ext4"'),
        (
            {"directory": "/x", "storage_nodes": 3},
            {},
            "`storage_nodes`, which only a target of the lab takes",
        ),
        (7, {}, "must be the name of a lab target, a table, or a list of these"),
    ],
)
def test_a_wrong_target_is_told_in_a_sentence(target: Any, experiment: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        planned(target, experiment)


def test_every_site_is_compared_with_itself_in_every_round() -> None:
    steps = planned(["ext4", "xfs"], {"repeats": 3, "iodepth": [1, 2]}, noise_repeats=3)
    visits = [list(visit) for _, visit in groupby(steps, key=lambda step: step.site)]
    noise = [[step for step in visit if step.kind is StepKind.NOISE] for visit in visits]
    assert all(noise), "no visit without one"
    for label in ("ext4", "xfs"):
        own = [step for visit in noise for step in visit if step.cell["target"] == label]
        assert [step.repeat for step in own] == [0, 1, 2]
        assert len({tuple(step.cell.items()) for step in own}) == 1
