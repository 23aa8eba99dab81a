"""Predictions in a plan: baselines, the prediction, then what it foretells; what could never be foretold is refused before it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from leadline.cli.foretelling import with_checked_baselines
from leadline.cli.probing import probes_of
from leadline.errors import UserError
from leadline.plan.design import design
from leadline.plan.foretelling import cell_name
from leadline.plan.steps import Step
from leadline.spec.campaign import Campaign
from leadline.spec.campaign_cluster import CampaignCluster
from leadline.spec.load import build_campaign
from leadline.store.prediction import CALIBRATED
from leadline.store.records import StepKind

CLUSTER: dict[str, Any] = {
    "name": "the farm",
    "baselines": ["one disk"],
    "targets": ["nfs"],
    "storage_nodes": 1,
    "storage_nic": "10Gb/s",
    "client_nic": "10Gb/s",
}
DISK = {
    "name": "one disk",
    "targets": ["disk"],
    "rw": "randread",
    "block_size": "64k",
    "iodepth": [1, 4],
    "ioengine": "libaio",
}
SERVED = {
    "name": "served",
    "targets": ["nfs"],
    "rw": "randread",
    "block_size": "64k",
    "numjobs": [1, 4],
    "ioengine": "nfs",
}


def campaign(
    cluster: dict[str, Any] | list[dict[str, Any]], *experiments: dict[str, Any], **top: Any
) -> Campaign:
    document = {
        "name": "c",
        "target": [{"name": "xfs", "label": "disk"}, {"name": "nfs", **top.pop("nfs", {})}],
        "cluster": cluster,
        "experiment": [{"size": "1m", **each} for each in experiments or (DISK, SERVED)],
        "noise_repeats": 2,
        **top,
    }
    return build_campaign(document, "c.toml")


def steps(made: Campaign) -> tuple[Step, ...]:
    return design(made)[0].steps


@pytest.mark.parametrize("order", ["random", "as written"])
@pytest.mark.parametrize("seed", range(4))
def test_a_prediction_comes_after_its_baselines_and_before_anything_of_its_target(
    order: str, seed: int
) -> None:
    planned = steps(campaign(CLUSTER, SERVED, DISK, order=order, seed=seed))
    foretold = [step.ordinal for step in planned if step.kind is StepKind.PREDICTION]
    baselines = [step.ordinal for step in planned if step.experiment == "one disk"]
    target = [step.ordinal for step in planned if step.experiment == "served"]
    assert len(foretold) == 1
    assert max(baselines) < foretold[0] < min(target)


def test_the_noise_floor_is_not_measured_on_a_baseline() -> None:
    noise = [step for step in steps(campaign(CLUSTER)) if step.kind is StepKind.NOISE]
    assert {step.site.target for step in noise} == {"nfs"}


def test_a_campaign_without_a_cluster_is_planned_as_ever() -> None:
    assert all(step.kind is not StepKind.PREDICTION for step in steps(campaign([])))


def test_a_stored_cluster_is_the_one_that_was_checked() -> None:
    made = campaign({**CLUSTER, "disk": {"read": "500MB/s"}, "client_delay": "20us"})
    stored = made.model_dump(mode="json")["cluster"][0]
    read_again = CampaignCluster.of_stored(stored)
    assert read_again.client_nic == 10e9 / 8 and read_again.disk.read == 5e8
    assert read_again.describes("nfs", "served") and not read_again.describes("nfs", "one disk")


@pytest.mark.parametrize(
    ("cluster", "experiments", "sentence"),
    [
        ({"targets": ["nsf"]}, (), 'names "nsf" among its targets, which is not there; did you mean "nfs"?'),
        ({"experiments": ["servd"]}, (), 'names "servd" among its experiments'),
        ({"storage_nic": "10GB/s"}, (), "NICs are sold in bits"),
        ({"storage_nic": 10}, (), "has no unit"),
        ({"replicas": 3}, (), "has 3 replicas on 1 storage nodes"),
        ({"baseline": "x"}, (), 'unknown key "baseline" in [cluster]; did you mean "baselines"?'),
        ({"baselines": []}, (), "`baselines` in [cluster]"),
        ({"baselines": ["one dsk"]}, (), 'the baseline "one dsk" of [cluster] is neither an experiment'),
        ({"targets": ["disk"]}, (), "describes no cell of this campaign"),
        ({}, ({**DISK, "block_size": "4k"}, SERVED), "at 4k, but requests reach the disks as 64k"),
        ({}, ({**DISK, "rw": "randwrite"}, SERVED), 'the disk baseline has no test "randread"'),
        ({}, ({**DISK, "targets": ["nfs"]}, SERVED), "would run on nfs, which is to be foretold"),
        ({"processors": "calm"}, (), 'names "calm" among its processors'),
    ],
)
def test_what_could_never_be_foretold_is_refused_in_one_sentence_before_it_runs(
    cluster: dict[str, Any], experiments: tuple[dict[str, Any], ...], sentence: str
) -> None:
    with pytest.raises(UserError) as refused:
        made = campaign({**CLUSTER, **cluster}, *experiments)
        design(made)
        with_checked_baselines(made)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_two_clusters_cannot_describe_one_cell() -> None:
    with pytest.raises(UserError, match="both describe experiment"):
        steps(campaign([CLUSTER, {**CLUSTER, "name": "another"}]))


def test_a_throttled_processor_needs_the_cost_of_a_request() -> None:
    made = campaign(CLUSTER, nfs={"conditions": {"client_cores": 0.5}})
    with pytest.raises(UserError, match="give `client_processor`"):
        with_checked_baselines(made)


def test_paths_of_baselines_are_kept_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = campaign({**CLUSTER, "baselines": ["one disk", "grid"]})
    with pytest.raises(UserError, match='the baseline "grid"'):
        with_checked_baselines(made)


def test_conditions_of_a_target_win_over_those_of_the_campaign() -> None:
    made = campaign(CLUSTER, nfs={"conditions": {"link": "1Gb/s"}})
    links = {step.site.label: step.site.conditions.link for step in steps(made)}
    assert links == {"disk": None, "nfs": 125e6}


SWEPT = {**SERVED, "rw": ["randread", "randwrite"], "numjobs": [1, 2, 4, 8, 16], "repeats": 2}
BOTH_WAYS = {**DISK, "rw": ["randread", "randwrite"]}
TWO_TARGETS = [{"name": "xfs", "label": "disk"}, {"name": "nfs"}, {"name": "glusterfs"}]


def probed(made: Campaign) -> tuple[Step, ...]:
    return design(made, probes_of(made))[0].steps


def swept(**top: Any) -> Campaign:
    cluster = {**CLUSTER, "targets": ["nfs", "glusterfs"], **top.pop("cluster", {})}
    served = {**SWEPT, "targets": ["nfs", "glusterfs"], "ioengine": "psync", **top.pop("served", {})}
    return campaign(cluster, served, BOTH_WAYS, target=TWO_TARGETS, **top)


@pytest.mark.parametrize("order", ["random", "as written"])
@pytest.mark.parametrize("seed", range(4))
def test_on_each_target_probes_run_first_and_what_they_tell_is_foretold_before_any_other_cell(
    order: str, seed: int
) -> None:
    made = swept(order=order, seed=seed)
    probes, planned = probes_of(made), probed(made)
    assert len(probes) == 2 * 2 * 2  # two of each test on each target
    for target in ("nfs", "glusterfs"):
        own = [step for step in planned if step.site.target == target and CALIBRATED not in step.cell]
        (again,) = [step for step in planned if CALIBRATED in step.cell and step.site.target == target]
        assert again.kind is StepKind.PREDICTION
        moving = [step for step in own if step.kind in (StepKind.CELL, StepKind.NOISE)]
        before = {cell_name(step.experiment, step.cell) for step in moving if step.ordinal < again.ordinal}
        after = {
            cell_name(step.experiment, step.cell)
            for step in moving
            if step.ordinal > again.ordinal and cell_name(step.experiment, step.cell) not in probes
        }
        assert before == {name for name in probes if dict(name[1])["target"] == target}
        assert len(after) == 10 - 4


def test_each_repeat_of_each_cell_is_still_measured_once_and_only_the_first_of_a_probe_is_moved() -> None:
    made = swept()
    probes, planned = probes_of(made), probed(made)

    def measured(those: tuple[Step, ...]) -> list[tuple[object, int]]:
        cells = (step for step in those if step.kind is StepKind.CELL)
        return [(cell_name(step.experiment, step.cell), step.repeat) for step in cells]

    assert sorted(map(str, measured(planned))) == sorted(map(str, measured(steps(made))))
    last = max(step.ordinal for step in planned if CALIBRATED in step.cell)
    late = {repeat for name, repeat in measured(planned[last:]) if name in probes}
    assert late == {1}


def test_probes_bring_no_target_up_once_more() -> None:
    def visits(planned: tuple[Step, ...]) -> int:
        sites = [step.site for step in planned if step.kind is not StepKind.PREDICTION]
        return sum(site != before for site, before in zip(sites[1:], sites, strict=False))

    for seed in range(4):
        assert visits(probed(swept(seed=seed))) == visits(steps(swept(seed=seed)))


@pytest.mark.parametrize(
    "top",
    [
        {"cluster": {"probes": False}},
        {"served": {"numjobs": [1, 4]}},
        {"served": {"numjobs": 4, "iodepth": [1, 4, 16]}},
    ],
    ids=["not wanted", "nothing is left to foretell", "psync keeps one request a job whatever iodepth says"],
)
def test_where_probes_tell_nothing_the_plan_is_as_without_them(top: dict[str, Any]) -> None:
    made = swept(**top)
    assert not probes_of(made)
    assert probed(made) == steps(made)


def test_a_stored_depth_that_nobody_stated_is_still_asked_of_littles_law() -> None:
    def stated(**keys: Any) -> bool:
        stored = campaign({**CLUSTER, **keys}).model_dump(mode="json")["cluster"][0]
        return "iodepth" in CampaignCluster.of_stored(stored).model_fields_set

    assert stated(iodepth="inert") and not stated()
