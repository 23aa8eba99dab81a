"""Verdicts that only several clients, hosts of their own or several targets can provoke, each with one beside the threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from leadline.analyse.analysis import analyse
from leadline.analyse.results import CellResult, Results, VerdictName
from leadline.store.records import Direction, StepRecord

from .client_samples import BLOCK, FUSE, IOPS, NETWORK, client, nics, together
from .samples import CLEAN, ENVIRONMENT, GIB, histogram, manifest, measurement, record

NAMES = ("client1", "client2", "client3")


def run(*records: StepRecord) -> Results:
    return analyse(records, manifest(), ENVIRONMENT)


def sound(*records: StepRecord) -> CellResult:
    (cell,) = run(*records).cells
    return cell


def evidence(cell: CellResult, name: VerdictName) -> str:
    return "; ".join(verdict.evidence for verdict in cell.verdicts if verdict.name is name)


def over_network(
    shares: Mapping[str, float],
    *,
    direction: Direction = Direction.READ,
    servers: int = 1,
    devices: float | None = None,
    filesystem: Mapping[str, Any] = NETWORK,
    cell: Mapping[str, Any] | None = None,
    **facts: Any,
) -> StepRecord:
    """Three clients of a network filesystem whose NICs carried these shares of their bytes."""
    parts = tuple(client(name, direction=direction) for name in NAMES)
    totals = nics(shares, parts, servers)
    if devices is not None:
        totals[f"disk.vda.{direction}_bytes"] = devices * sum(part.size_bytes for part in parts)
    known = {"rw": "randread" if direction is Direction.READ else "randwrite", **(cell or {})}
    return together(*parts, totals=totals, cell=known, facts={"filesystem": filesystem, **facts})


def alike(share: float) -> dict[str, float]:
    return dict.fromkeys(NAMES, share)


# not overlapping


@pytest.mark.parametrize(("late", "apart"), [(0.6, True), (0.4, False)])
def test_a_client_that_begins_late_is_named(late: float, apart: bool) -> None:
    """All run 20 s: 0.6 s late leave 19.4 of 20.6 s in common, 0.4 s leave 19.6 of 20.4."""
    parts = tuple(client(name, seconds=20) for name in NAMES)
    windows = {"client1": (0, 20), "client2": (late, 20 + late), "client3": (0, 20)}
    found = evidence(sound(together(*parts, windows=windows)), VerdictName.NOT_OVERLAPPING)
    assert bool(found) is apart
    assert not apart or "94 % of the window (at least 95 %): client2 began 0.600 s after the first" in found


def test_a_client_that_is_done_early_is_named() -> None:
    parts = client("client1"), client("client2", seconds=8)
    found = evidence(sound(together(*parts)), VerdictName.NOT_OVERLAPPING)
    assert "clients ran together for 80 % of the window" in found
    assert found.endswith("client2 was done 2.00 s before the last")


# incomplete


def test_a_missing_client_is_named() -> None:
    parts = client("client1"), client("client3")
    cell = sound(together(*parts, windows={"client2": (0, 3)}))
    found = evidence(cell, VerdictName.INCOMPLETE)
    assert found.startswith("2 of 3 clients gave a figure: client2 is missing")
    assert not cell.valid("bandwidth")


def test_a_client_that_only_one_repeat_lacks_is_missed() -> None:
    whole = together(client("client1"), client("client2"))
    lacking = together(client("client1"), cell={"clients": 2}, ordinal=1, repeat=1)
    assert "1 of 2 clients gave a figure: client2 is missing" in evidence(
        sound(whole, lacking), VerdictName.INCOMPLETE
    )


def test_a_client_that_nobody_knows_by_name_is_counted() -> None:
    step = together(client("client1"), client("client2"), cell={"clients": 3})
    assert "2 of 3 clients gave a figure; " in evidence(sound(step), VerdictName.INCOMPLETE)


def test_all_clients_present_are_complete() -> None:
    assert sound(together(*(client(name) for name in NAMES))).spoiled("bandwidth") == ()


def test_jobs_are_expected_of_every_client() -> None:
    parts = [client(name, job=job, concurrency=8) for name in NAMES for job in (0, 1)]
    cell = {"numjobs": 2}
    assert "jobs reported" not in evidence(sound(together(*parts, cell=cell)), VerdictName.INCOMPLETE)
    assert "5 of 6 jobs reported" in evidence(sound(together(*parts[:-1], cell=cell)), VerdictName.INCOMPLETE)


# cached, by the NICs of the clients


@pytest.mark.parametrize(("share", "cached"), [(0.89, True), (0.91, False)])
def test_reads_that_the_nics_of_the_clients_hardly_saw_are_cached(share: float, cached: bool) -> None:
    found = evidence(sound(over_network(alike(share))), VerdictName.CACHED)
    assert bool(found) is cached
    assert not cached or "the NICs of the clients received 89 % of the bytes read (at least 90 %)" in found


@pytest.mark.parametrize(("share", "cached"), [(0.89, True), (0.91, False)])
def test_flushed_writes_that_never_left_the_clients_lie_in_a_cache(share: float, cached: bool) -> None:
    found = evidence(sound(over_network(alike(share), direction=Direction.WRITE)), VerdictName.CACHED)
    assert bool(found) is cached
    assert not cached or "sent 89 % of the bytes written" in found


def test_writes_that_nothing_flushed_are_incomplete_and_say_what_was_sent() -> None:
    step = over_network(
        alike(0.4), direction=Direction.WRITE, cell={"direct": False}, buffered_without_flush=True
    )
    cell = sound(step)
    assert "the NICs of the clients sent 40 % of it" in evidence(cell, VerdictName.INCOMPLETE)
    assert not evidence(cell, VerdictName.CACHED)


def test_three_times_the_bytes_are_replicas_and_no_verdict() -> None:
    cell = sound(over_network(alike(3.0), direction=Direction.WRITE))
    assert cell.spoiled("bandwidth") == ()
    assert cell.resources["nic_share"] == pytest.approx(3.0)


def test_a_client_without_counters_silences_the_check() -> None:
    cell = sound(over_network({"client1": 0.1, "client2": 0.1}))
    assert not evidence(cell, VerdictName.CACHED)
    assert "nic_share" not in cell.resources


@pytest.mark.parametrize(
    "step",
    [
        over_network(alike(0.1), filesystem={"type": "xfs", "is_network": False}, devices=1.0),
        over_network(alike(0.1), servers=0),
        over_network(alike(0.1), data_over_network=False),
        over_network(alike(0.1), devices=0.95),
    ],
    ids=["no network filesystem", "no server of its own", "data goes another way", "seen at the devices"],
)
def test_nics_say_nothing_where_the_data_takes_another_way(step: StepRecord) -> None:
    assert not evidence(sound(step), VerdictName.CACHED)


def test_bytes_that_crossed_the_network_but_no_device_came_from_the_servers_memory() -> None:
    found = evidence(sound(over_network(alike(1.02), devices=0.03)), VerdictName.CACHED)
    assert found.startswith("answered from the memory of the servers: the block devices saw 3.0 %")


# impossible, by shaped links


@pytest.mark.parametrize(("share", "impossible"), [(1.03, True), (1.01, False)])
def test_more_than_the_links_of_the_clients_is_impossible(share: float, impossible: bool) -> None:
    step = over_network(alike(1.02), site_conditions={"link": IOPS * BLOCK / share})
    found = evidence(sound(step), VerdictName.IMPOSSIBLE)
    assert bool(found) is impossible
    assert not impossible or "1.03 x the links of 3 clients" in found


def test_few_storage_nodes_bind_before_many_clients() -> None:
    step = over_network(
        alike(1.02), site_conditions={"link": 1.2 * IOPS * BLOCK}, cell={"storage_nodes": 2}, servers=2
    )
    assert "the links of 2 storage nodes" in evidence(sound(step), VerdictName.IMPOSSIBLE)


def test_a_link_does_not_bind_what_goes_another_way() -> None:
    step = over_network(alike(0.1), site_conditions={"link": 1000.0}, data_over_network=False)
    assert not evidence(sound(step), VerdictName.IMPOSSIBLE)


# what each target stands on


def on(target: str, filesystem: Mapping[str, Any], **known: Any) -> StepRecord:
    cell = {**CLEAN, "target": target, **known.pop("cell", {})}
    facts = {
        "dataset_bytes": 64 * GIB,
        "caches": "dropped",
        "filesystem": filesystem,
        **known.pop("facts", {}),
    }
    return record(known.pop("part", measurement()), cell=cell, facts=facts, **known)


def test_every_target_is_judged_by_its_own_filesystem() -> None:
    unseen = {"disk.vda.read_bytes": 0.0}
    local, fuse, memory = run(
        on("disk", {"type": "xfs"}, totals=unseen),
        on("fuse", FUSE, totals=unseen, ordinal=1),
        on("memory", {"type": "tmpfs", "is_memory": True}, totals=unseen, ordinal=2),
    ).cells
    assert "O_DIRECT, but the block devices" in evidence(local, VerdictName.IMPOSSIBLE)
    assert "O_DIRECT is not honoured by fuse.glusterfs" in evidence(fuse, VerdictName.CACHED)
    assert memory.verdicts == ()


def test_an_engine_that_goes_past_the_mount_meets_no_cache_of_this_kernel() -> None:
    facts = {"dataset_bytes": GIB, "caches": "kept"}
    buffered = {"cell": {"direct": False}, "totals": {}}
    mounted, past = run(
        on("a mounted", NETWORK, facts=facts, **buffered),
        on("b past", NETWORK, facts={**facts, "access": "nfs"}, ordinal=1, **buffered),
    ).cells
    assert "where memory holds 8 GiB" in evidence(mounted, VerdictName.CACHED)
    assert not evidence(past, VerdictName.CACHED)


def test_a_client_held_to_little_memory_cannot_cache_a_larger_dataset() -> None:
    facts = {"dataset_bytes": GIB, "caches": "kept"}
    (free,) = run(on("nfs", NETWORK, facts=facts, cell={"direct": False}, totals={})).cells
    held = {**facts, "site_conditions": {"client_memory": GIB // 2}}
    (limited,) = run(on("nfs", NETWORK, facts=held, cell={"direct": False}, totals={})).cells
    assert evidence(free, VerdictName.CACHED) and not evidence(limited, VerdictName.CACHED)


def test_the_floor_of_one_targets_disk_judges_no_other_target() -> None:
    confirmed = on("disk", {"type": "xfs"}, part=measurement(shape=histogram(1e6)))
    part = measurement(shape=histogram(1e4))
    fast = on("memory", {"type": "tmpfs"}, part=part, totals={}, ordinal=1)
    same = on("disk", {"type": "xfs"}, part=part, totals={}, ordinal=1, cell={"iodepth": 4})
    assert not any(evidence(cell, VerdictName.CACHED) for cell in run(confirmed, fast).cells)
    assert any(
        "of the reads took less" in evidence(cell, VerdictName.CACHED) for cell in run(confirmed, same).cells
    )


# generator-bound


def busy(machines: Mapping[str, str], **facts: Any) -> StepRecord:
    parts = [client(name, job=job, concurrency=8) for name in NAMES for job in (0, 1)]
    return together(*parts, machines=machines, cell={"numjobs": 2}, cpu=0.6, facts=facts)


def test_clients_in_namespaces_share_the_cores_of_their_machine() -> None:
    """Six jobs of 0.6 cores are 90 % of one machine's four, and 30 % of three machines'."""
    shared, apart = busy({}), busy({name: f"node-{name}" for name in NAMES})
    assert "3.60 of 4 cores" in evidence(sound(shared), VerdictName.GENERATOR_BOUND)
    assert not evidence(sound(apart), VerdictName.GENERATOR_BOUND)


@pytest.mark.parametrize(("cores", "bound"), [(1.4, True), (1.6, False)])
def test_a_client_held_to_few_cores_is_bound_by_them(cores: float, bound: bool) -> None:
    apart = {name: f"node-{name}" for name in NAMES}
    found = evidence(sound(busy(apart, site_conditions={"client_cores": cores})), VerdictName.GENERATOR_BOUND)
    assert bool(found) is bound


def test_figures_of_several_hosts_without_their_machines_are_judged_as_machines_of_their_own() -> None:
    step = busy({})
    unknown = replace(step, facts={key: value for key, value in step.facts.items() if key != "clients"})
    assert not evidence(sound(unknown), VerdictName.GENERATOR_BOUND)


@pytest.mark.parametrize("cell", [{}, {"clients": 1}], ids=["without the axis", "with it"])
def test_a_lone_client_may_bear_the_name_of_its_machine(cell: Mapping[str, Any]) -> None:
    part = measurement(host="local")
    totals = nics({"client1": 0.5}, (replace(part, host="client1"),))
    entry = {"name": "client1", "host": "local", "started_ns": 0, "ended_ns": 10**10}
    facts = {"dataset_bytes": 64 * GIB, "caches": "dropped", "clients": [entry], "filesystem": NETWORK}
    found = sound(record(part, cell={**CLEAN, **cell}, facts=facts, totals=totals))
    assert not evidence(found, VerdictName.INCOMPLETE)
    assert "the NICs of the clients received 50 % of the bytes read" in evidence(found, VerdictName.CACHED)
    assert [(use.name, use.is_client) for use in found.hosts] == [("client1", True), ("server1", False)]


def test_clients_of_the_lab_that_were_not_asked_for_are_not_missed() -> None:
    step = together(client("client1"), client("client2"), windows={"client3": (0, 1)}, cell={"clients": 2})
    assert not evidence(sound(step), VerdictName.INCOMPLETE)
