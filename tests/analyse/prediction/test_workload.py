"""What one request makes of itself, and how it loads the parts of a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from leadline.analyse.prediction.baselines import read_baselines
from leadline.analyse.prediction.paths import PAYLOAD, network_of
from leadline.analyse.prediction.predict import predict
from leadline.analyse.prediction.stations import NETWORK, Network, Resource
from leadline.analyse.prediction.workload import (
    Load,
    Work,
    circulating,
    in_flight,
    offered,
    reached_disks,
    work_of,
)
from leadline.errors import UserError

from .parts import DISK, MIB, cluster, disk_cells, parts

READ, WRITE = Load("randread", MIB), Load("randwrite", MIB)


@pytest.mark.parametrize(
    ("load", "keys", "work"),
    [
        (READ, {"replicas": 3}, Work(1, MIB, MIB)),
        (Load("read", 4 * MIB), {}, Work(4, MIB, MIB)),
        (Load("read", 4 * MIB), {"chunk_size": "8m"}, Work(1, 4 * MIB, 4 * MIB)),
        (WRITE, {"replicas": 3}, Work(1, MIB, MIB, 3, False, 1.0, 3, 3)),
        (WRITE, {"replicas": 3, "writes": "fan_out"}, Work(1, MIB, MIB, 1, False, 3, 1.0, 1, 3)),
        (WRITE, {"replicas": 3, "writes": "primary"}, Work(1, MIB, MIB, 1, False, 1.0, 1.0, 2, 3)),
        (WRITE, {"writes": "primary"}, Work(1, MIB, MIB, 1, False, 1.0, 1.0, 1)),
        (Load("write", 4096), {"copy_on_write": True}, Work(1, MIB, 4096, 1, True, 1.0, 1, 1)),
        (WRITE, {"copy_on_write": True}, Work(1, MIB, MIB, 1, False, 1.0, 1, 1)),
        (READ, {"erasure_code": {"data": 4, "parity": 1}, "writes": "fan_out"}, Work(1, MIB // 4, MIB // 4, 1, False, 4, 1.0, 1, 4)),
        (Load("read", 4096), {"erasure_code": {"data": 4, "parity": 1}, "writes": "fan_out"}, Work(1, 4096, 4096)),
        (WRITE, {"erasure_code": {"data": 4, "parity": 1}, "writes": "fan_out"}, Work(1, MIB // 4, MIB // 4, 1, False, 5, 1.0, 1, 5)),
        (WRITE, {"erasure_code": {"data": 4, "parity": 1}, "writes": "primary"}, Work(1, MIB // 4, MIB // 4, 1, False, 4, 1.6, 2, 5)),
    ],
)  # fmt: skip
def test_a_request_becomes_parts_copies_and_transfers(load: Load, keys: dict[str, Any], work: Work) -> None:
    assert work_of(load, cluster(**keys)) == work


def test_what_an_erasure_code_does_with_part_of_a_chunk_is_not_guessed() -> None:
    with pytest.raises(UserError, match=r"a write of 4k is no whole number of chunks of 1m"):
        work_of(Load("write", 4096), cluster(erasure_code={"data": 4, "parity": 1}, writes="fan_out"))


@pytest.mark.parametrize(
    ("keys", "jobs", "disks"),
    [
        ({}, 1, 5),
        ({"chunk_size": None, "replicas": 3}, 1, 3),
        ({"chunk_size": None, "replicas": 3}, 2, 5 * (1 - 0.4**2)),
        ({"stripe": 2}, 1, 2),
        ({"stripe": 2}, 8, 5 * (1 - 0.6**8)),
        ({"stripe": 1, "replicas": 3}, 1, 3),
        ({"stripe": 1, "replicas": 3, "reads": "one_copy"}, 1, 1),
        ({"stripe": 1, "replicas": 3, "reads": "one_copy"}, 3, 5 * (1 - 0.8**3)),
        ({"replicas": 3, "reads": "one_copy"}, 1, 5),
    ],
)
def test_few_files_that_are_not_cut_reach_few_disks(keys: dict[str, Any], jobs: int, disks: float) -> None:
    made = cluster(**{name: value for name, value in keys.items() if value is not None})
    if "chunk_size" in keys:
        made = made.model_copy(update={"chunk_size": None})
    assert reached_disks(Load("randread", MIB, numjobs=jobs), made) == pytest.approx(disks)


def test_a_write_goes_to_all_copies_of_a_file_whichever_is_read() -> None:
    made = cluster(replicas=3, stripe=1, reads="one_copy")
    assert reached_disks(Load("randwrite", MIB), made) == pytest.approx(3)


def test_requests_in_flight_are_those_that_the_client_keeps() -> None:
    load = Load("read", MIB, iodepth=32, numjobs=4, clients=2)
    assert (in_flight(load, cluster()), offered(load, cluster())) == (256, 256)
    assert (in_flight(load, cluster(iodepth="inert")), offered(load, cluster(iodepth="inert"))) == (8, 8)
    assert (in_flight(load, cluster(in_flight=12)), offered(load, cluster(in_flight=12))) == (24, 256)


@pytest.mark.parametrize(
    ("load", "parts_on_their_way"),
    [
        (Load("write", 8 * MIB, iodepth=4), 1),  # of 4 x 8
        (Load("write", 8 * MIB, iodepth=4, files=3), 3),
        (Load("write", MIB, iodepth=2, files=3), 2),
        (Load("write", 8 * MIB, iodepth=4, numjobs=2, clients=3), 6),
        (Load("read", 8 * MIB, iodepth=4), 32),
    ],
)
def test_writes_to_a_file_that_go_one_at_a_time_wait_and_so_do_their_parts(
    load: Load, parts_on_their_way: int
) -> None:
    made = cluster(writes_to_a_file="one_at_a_time")
    assert circulating(load, made) == parts_on_their_way
    assert offered(load, made) == load.iodepth * load.numjobs * load.clients


def test_a_large_write_whose_parts_go_one_at_a_time_takes_the_time_of_all_of_them() -> None:
    baselines = read_baselines(disk_cells("write"))
    (lone,) = predict(
        cluster(writes_to_a_file="one_at_a_time"), baselines, [Load("write", 8 * MIB, iodepth=4)]
    ).cells
    for model in ("bounds", "queueing"):
        assert lone.forecasts[model].iops == pytest.approx(DISK[1] / 8, rel=0.03)  # the wire takes the rest
        assert lone.forecasts[model].mean_ns == pytest.approx(4 * 8 / DISK[1] * 1e9, rel=0.03)


def demand(network: Network, resource: Resource) -> float:
    kind = next(each for each in network.stations if each.resource is resource)
    return kind.service_seconds


def test_writes_cross_the_nics_as_their_copies_travel() -> None:
    cells = disk_cells("randwrite")
    wire = MIB / (PAYLOAD * 400e9 / 8)
    for writes, client, storage in [("chain", 1, 3), ("fan_out", 3, 1), ("primary", 1, 1)]:
        network = network_of(parts(cluster(replicas=3, writes=writes), cells), WRITE)
        assert demand(network, Resource.CLIENT_NIC) == pytest.approx(client * wire)
        assert demand(network, Resource.STORAGE_NIC) == pytest.approx(storage * wire)


@pytest.mark.parametrize(
    "keys",
    [
        {"replicas": 3, "writes": "chain"},
        {"replicas": 3, "writes": "fan_out"},
        {"replicas": 3, "writes": "primary"},
        {"erasure_code": {"data": 2, "parity": 1}, "writes": "fan_out", "chunk_size": "2m"},
    ],
)
def test_however_copies_travel_the_disks_can_do_so_much_and_no_more(keys: dict[str, Any]) -> None:
    made = cluster(storage_nodes=6, **keys)
    write = Load("randwrite", 2 * MIB if "erasure_code" in keys else MIB)
    network = network_of(parts(made, disk_cells("randwrite")), write)
    disks = next(each for each in network.stations if each.resource is Resource.DISK)
    assert disks.most_rounds == pytest.approx(6 * max(DISK.values()) / 3)


@pytest.mark.parametrize("writes", ["fan_out", "primary"])
def test_copies_that_go_side_by_side_never_meet_each_other_on_a_disk(writes: str) -> None:
    (lone,) = predict(
        cluster(storage_nodes=3, replicas=3, writes=writes), read_baselines(disk_cells("randwrite")), [WRITE]
    ).cells
    assert lone.forecasts["queueing"].iops == pytest.approx(DISK[1], rel=0.03)  # the wire takes the rest


@pytest.mark.parametrize(
    ("keys", "load", "transfers"),
    [
        ({}, READ, 1),  # through both NICs at once
        ({"replicas": 3, "writes": "chain"}, WRITE, 3),  # a node takes all in before it passes it on
        ({"replicas": 3, "writes": "fan_out"}, WRITE, 3),  # all through the client's one NIC
        ({"replicas": 3, "writes": "primary"}, WRITE, 2),
        ({"client_nic": "100Gb/s"}, READ, 4),  # the narrower one sets the pace
    ],
)
def test_a_message_passes_nics_as_packets_and_nodes_as_a_whole(
    keys: dict[str, Any], load: Load, transfers: int
) -> None:
    network = network_of(parts(cluster(**keys), disk_cells(load.test)), load)
    wires = sum(each.alone_seconds for each in network.stations if each.resource in NETWORK)
    assert wires == pytest.approx(transfers * MIB / (PAYLOAD * 400e9 / 8))


def test_a_small_write_that_copies_its_chunk_takes_a_read_and_a_write_of_a_chunk_at_each_copy() -> None:
    cells = [*disk_cells("randwrite", rates={1: 100.0}), *disk_cells("randread", rates={1: 400.0})]
    made = cluster(replicas=3, copy_on_write=True)
    network = network_of(parts(made, cells), Load("randwrite", 4096))
    assert demand(network, Resource.DISK) == pytest.approx(3 * (1 / 100 + 1 / 400))


def test_delays_are_counted_once_for_each_node_of_a_chain() -> None:
    made = cluster(replicas=3, round_trip="10us", server_delay="100us", client_delay="1ms")
    network = network_of(parts(made, disk_cells("randwrite")), WRITE)
    assert network.delay_seconds == pytest.approx(1e-3 + 3 * 110e-6)
