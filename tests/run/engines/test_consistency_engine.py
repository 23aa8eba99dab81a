"""The consistency engine: who is told to work where, and what is made of what the command leaves behind."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from leadline.errors import UserError
from leadline.plan.design import design
from leadline.plan.steps import Step
from leadline.run.engines.consistency import ConsistencyEngine
from leadline.run.hosts.local import LocalHost
from leadline.run.seams import Client, Completed, Place
from leadline.spec.load import build_campaign

ENDED = Completed(exit_code=0, stdout="", stderr="", wall_ns=1)


def step(**wishes: object) -> Step:
    experiment = {"name": "seen", "engine": "consistency", **wishes}
    target = [{"name": "juicefs", "options": {"attr-cache": 0}}]
    campaign = build_campaign(
        {"name": "c", "baselines": False, "target": target, "experiment": [experiment]}, "c"
    )
    return design(campaign)[0].steps[0]


def clients(count: int) -> tuple[Client, ...]:
    return tuple(
        Client(f"client{number}", LocalHost(), Path(f"/mnt/{number}"), f"ns{number}", groups=(f"g{number}",))
        for number in range(1, count + 1)
    )


def asked(wished: Step, several: tuple[Client, ...], scratch: Path) -> dict[str, object]:
    place = Place(several[0].directory / "own", within="own", clients=several)
    invocation = ConsistencyEngine().prepare(wished, place, scratch)
    return dict(json.loads(Path(invocation.argv[-1]).read_text()))


def test_each_client_works_through_its_own_mount_and_the_last_is_the_witness(tmp_path: Path) -> None:
    wishes = asked(step(), clients(3), tmp_path)
    a = {"name": "A", "directory": "/mnt/1/own", "namespace": "ns1", "groups": ["g1"]}
    b = {"name": "B", "directory": "/mnt/2/own", "namespace": "ns2", "groups": ["g2"]}
    assert wishes["stations"] == [a, b]
    assert wishes["witness"] == {
        "name": "witness",
        "directory": "/mnt/3/own",
        "namespace": "ns3",
        "groups": ["g3"],
    }
    assert (wishes["cells"], wishes["trials"], wishes["label"]) == (["default"], 3, "juicefs (attr-cache=0)")


def test_the_control_is_one_mount_twice_without_a_witness(tmp_path: Path) -> None:
    wishes = asked(step(control=True), clients(1), tmp_path)
    stations = wishes["stations"]
    assert isinstance(stations, list) and [each["directory"] for each in stations] == ["/mnt/1/own"] * 2
    assert wishes["witness"] is None and wishes["control"] is True


def test_another_machine_is_refused_in_a_sentence(tmp_path: Path) -> None:
    far = tuple(replace(client, machine="node1") for client in clients(3))
    with pytest.raises(UserError, match="client1 is another machine"):
        asked(step(), far, tmp_path)


def test_the_command_by_hand_asks_for_the_same(tmp_path: Path) -> None:
    several = clients(3)
    place = Place(several[0].directory, within="own", clients=several)
    by_hand = ConsistencyEngine().prepare(step(patience="2s"), place, tmp_path).by_hand
    assert " ".join(by_hand) == (
        "leadline consistency --target juicefs --option attr-cache=0 --clients 2 --trials 3 --patience 2s"
    )


def test_what_was_seen_is_kept_also_when_a_mount_died_and_the_step_has_failed(tmp_path: Path) -> None:
    engine, place = ConsistencyEngine(), Place(Path("/mnt"), within="own", clients=clients(3))
    invocation = engine.prepare(step(), place, tmp_path)
    note = "The run was cut short: the mount of A is gone. What was not decided by then is undecided."
    (tmp_path / "visibility.json").write_text(json.dumps({"notes": ["All on one machine.", note]}))
    outcome = engine.collect(step(), invocation, ENDED)
    assert outcome.reason == note.rstrip(".") and list(outcome.documents) == ["visibility"]


def test_a_command_that_leaves_nothing_failed_with_its_own_last_word(tmp_path: Path) -> None:
    engine, place = ConsistencyEngine(), Place(Path("/mnt"), within="own", clients=clients(3))
    invocation = engine.prepare(step(), place, tmp_path)
    failed = replace(ENDED, exit_code=2, stderr="A and B lie on the same mount\n")
    assert engine.collect(step(), invocation, failed).reason == "A and B lie on the same mount"
    assert "without a result" in str(engine.collect(step(), invocation, ENDED).reason)


def test_lines_of_the_command_say_how_far_it_is() -> None:
    now = ConsistencyEngine().now("trial 33 132\n")
    assert now is not None and now.share_done == 0.25
    assert ConsistencyEngine().now("anything else") is None
