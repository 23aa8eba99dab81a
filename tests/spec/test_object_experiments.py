"""Experiments on object stores: what a campaign may ask for, what is refused in one sentence, and that no campaign holds a key."""

from __future__ import annotations

from typing import Any

import pytest

from leadline.errors import UserError
from leadline.plan.design import design
from leadline.plan.forecast import forecast
from leadline.plan.steps import Step
from leadline.spec.campaign import Campaign
from leadline.spec.load import build_campaign
from leadline.spec.object_target import KEY_VARIABLE, store_of_target
from leadline.store.records import StepKind

OBJECTS = {"name": "store", "engine": "object"}
FILES = {"name": "files", "rw": "read", "size": "1m"}
URL = "s3://bucket/prefix?endpoint=http://host:9000"


def built(*experiments: dict[str, Any], **top: Any) -> Campaign:
    top.setdefault("target", {"url": URL})
    return build_campaign({"name": "c", "experiment": list(experiments), **top}, "c.toml")


def planned(*experiments: dict[str, Any], **top: Any) -> tuple[Step, ...]:
    top.setdefault("noise_repeats", 0)
    return design(built(*experiments, baselines=False, **top))[0].steps


def loads(*experiments: dict[str, Any], **top: Any) -> list[Step]:
    return [step for step in planned(*experiments, **top) if step.files == "objects"]


def refusal(*experiments: dict[str, Any], **top: Any) -> str:
    with pytest.raises(UserError) as refused:
        planned(*experiments, **top)
    sentence = str(refused.value)
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"operations": ["putt"]}, ["`operations`", 'did you mean "put"']),
        ({"operations": []}, ["`operations`"]),
        ({"object_siz": "4k"}, ['"object_siz"', 'did you mean "object_size"']),
        ({"object_size": 0}, ["`object_size`", "at least 1"]),
        ({"object_size": "2GiB"}, ["`object_size`", "1 GiB"]),
        ({"objects": 0}, ["`objects`"]),
        ({"concurrency": [1, 0]}, ["`concurrency`"]),
        ({"concurrency": 101}, ["fewer `objects` (100)", "raise `objects`"]),
        ({"concurrency": 101, "runtime": "1s"}, ["fewer `objects` (100)", "raise `objects`"]),
        ({"part_size": "4MiB"}, ["no cell that can be", "`part_size` must be below"]),
        ({"concurrency": 3, "instances": 2}, ["no cell that can be", "divide"]),
        ({"runtime": 0}, ["`runtime` 0"]),
        ({"rw": "read"}, ['"rw"', "means nothing to the object engine"]),
        ({"suite": "rust"}, ['"suite"', "is of the posix engine"]),
    ],
)
def test_a_mistake_is_one_sentence_with_what_to_do(changes: dict[str, Any], words: list[str]) -> None:
    sentence = refusal(OBJECTS | changes)
    assert "store" in sentence
    for word in words:
        assert word in sentence


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ({"url": "bucket/prefix"}, ["names no kind of store", "s3://BUCKET"]),
        ({"url": "s4://bucket"}, ['no object store "s4://"']),
        ({"url": "s3://?endpoint=http://h"}, ["names no bucket"]),
        ({"url": "s3://me:key@bucket"}, ["before its @"]),
        ({"url": URL, "directory": "/data"}, ["both `url` and `directory`"]),
        ({"url": URL, "conditions": {"link": "1Gb/s"}}, ["both `url` and `conditions`"]),
        ({"name": "xfs"}, ["without an object store", "s3 or juicefs"]),
    ],
)
def test_a_target_that_is_no_store_is_refused(target: dict[str, Any], words: list[str]) -> None:
    sentence = refusal(OBJECTS, target=target)
    for word in words:
        assert word in sentence


def test_no_campaign_holds_a_key_for_campaigns_are_stored() -> None:
    in_url = refusal(OBJECTS, target={"url": f"{URL}&secret_access_key=hush"})
    in_options = refusal(OBJECTS, target={"url": URL, "options": {"secret_access_key": "hush"}})
    assert "hush" not in in_url + in_options
    assert "environment" in in_url and "LEADLINE_OBJECT_OPTION_SECRET_ACCESS_KEY" in in_options


def test_keys_of_any_service_come_from_the_environment_and_are_not_shown() -> None:
    store = store_of_target(
        "azblob://container", [("account_name", "me")], {f"{KEY_VARIABLE}ACCOUNT_KEY": "hush"}
    )
    assert dict(store.secrets) == {"account_key": "hush"} and store.options["account_name"] == "me"
    assert "hush" not in repr(store) + store.shown


def test_files_are_not_measured_in_an_object_store() -> None:
    assert "`targets`" in refusal(OBJECTS, FILES)
    both = [{"directory": "/data", "label": "mount"}, {"url": URL, "label": "bucket"}]
    steps = planned(OBJECTS | {"targets": ["bucket"]}, FILES | {"targets": ["mount"]}, target=both)
    assert {(step.engine, step.site.label, step.site.objects) for step in steps} == {
        ("object", "bucket", True), ("fio", "mount", False)
    }  # fmt: skip


def test_an_object_store_is_held_to_nothing() -> None:
    assert "hold lab targets only" in refusal(OBJECTS, conditions={"link": "1Gb/s"})


def test_hosts_elsewhere_are_refused_with_what_to_do() -> None:
    sentence = refusal(OBJECTS, hosts={"kind": "ssh", "names": ["a"]})
    assert "leadline objbench" in sentence


def test_axes_multiply_and_every_cell_comes_as_often_as_asked() -> None:
    axes = {"object_size": ["4k", "1m"], "concurrency": [1, 2, 4], "repeats": 2}
    cells = [step.cell for step in loads(OBJECTS | axes)]
    assert len(cells) == 12
    assert len({(cell["object_size"], cell["concurrency"]) for cell in cells}) == 6
    assert {cell["objects"] for cell in cells} == {100}


def test_the_store_is_tried_out_once_on_each_site_whatever_the_repeats() -> None:
    steps = planned(OBJECTS | {"repeats": 3}, target=["s3", "juicefs"])
    tried = [step.site.label for step in steps if step.files == "checks"]
    assert sorted(tried) == ["juicefs", "s3"]
    assert not [step for step in planned(OBJECTS | {"checks": False}) if step.files == "checks"]


def test_a_combination_that_cannot_be_is_left_out_and_the_others_stay() -> None:
    parts = OBJECTS | {
        "object_size": ["1m", "16m"],
        "part_size": ["none", "8m"],
        "checks": False,
        "repeats": 1,
    }
    found = {(step.cell["object_size"], step.cell.get("part_size")) for step in loads(parts)}
    assert found == {(1 << 20, None), (16 << 20, None), (16 << 20, 8 << 20)}


def test_parts_of_files_are_refused() -> None:
    assert "have no parts" in refusal(
        OBJECTS | {"object_size": "16m", "part_size": "8m"}, target={"directory": "/d"}
    )


def test_objects_are_put_and_deleted_whatever_is_asked_for() -> None:
    (step,) = loads(OBJECTS | {"operations": "head", "repeats": 1})
    assert step.cell["operations"] == "put,head,delete"
    (step,) = loads(OBJECTS | {"repeats": 1})
    assert "operations" not in step.cell, "what goes without saying tells no cells apart"


def test_scaling_takes_objects_away_and_leaves_every_cell_as_many_as_are_ever_in_flight() -> None:
    steps = loads(OBJECTS | {"objects": 100, "concurrency": [1, 16], "repeats": 1}, scale="1/10")
    assert {step.cell["concurrency"]: step.cell["objects"] for step in steps} == {1: 16, 16: 16}
    (timed,) = loads(
        OBJECTS | {"objects": 100, "concurrency": 16, "runtime": "1s", "repeats": 1}, scale="1/10"
    )
    assert timed.cell["objects"] == 16, "two puts of one object at once would measure who waits for whom"


def test_the_noise_floor_is_measured_by_requests_and_never_by_the_checks() -> None:
    noise = [step for step in planned(OBJECTS, noise_repeats=3) if step.kind is StepKind.NOISE]
    assert len(noise) == 3 and {step.files for step in noise} == {"objects"}


def test_space_is_planned_for_all_objects_and_for_the_large_one_of_the_checks() -> None:
    big = OBJECTS | {"object_size": "4MiB", "objects": 1000, "clients": 2}
    assert forecast(planned(big, target="s3")).space_bytes == 8000 << 20
    assert {step.site.clients for step in planned(big, target="s3")} == {2}
    assert forecast(planned(OBJECTS | {"object_size": "4k"})).space_bytes == 256 << 20


def test_a_step_on_objects_survives_the_manifest() -> None:
    for step in planned(OBJECTS):
        assert Step.from_json(step.to_json()) == step
        assert step.site.url == URL and step.timeout_seconds > step.expected_seconds > 0
