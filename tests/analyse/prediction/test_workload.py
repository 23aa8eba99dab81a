"""What one request makes of itself, and how it loads the parts of a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from leadline.analyse.prediction.paths import network_of
from leadline.analyse.prediction.stations import Network, Resource
from leadline.analyse.prediction.workload import Load, Work, in_flight, offered, reached_disks, work_of
from leadline.errors import UserError

from .parts import MIB, cluster, disk_cells, parts

READ, WRITE = Load("randread", MIB), Load("randwrite", MIB)


@pytest.mark.parametrize(
    ("load", "keys", "work"),
    [
        (READ, {"replicas": 3}, Work(1, MIB, MIB)),
        (Load("read", 4 * MIB), {}, Work(4, MIB, MIB)),
        (Load("read", 4 * MIB), {"chunk_size": "8m"}, Work(1, 4 * MIB, 4 * MIB)),
        (WRITE, {"replicas": 3}, Work(1, MIB, MIB, 3, False, 1.0, 3, 3)),
        (WRITE, {"replicas": 3, "writes": "fan_out"}, Work(3, MIB, MIB)),
        (WRITE, {"replicas": 3, "writes": "primary"}, Work(3, MIB, MIB, 1, False, 1 / 3, 1.0, 2)),
        (WRITE, {"writes": "primary"}, Work(1, MIB, MIB, 1, False, 1.0, 1.0, 1)),
        (Load("write", 4096), {"copy_on_write": True}, Work(1, MIB, 4096, 1, True, 1.0, 1, 1)),
        (WRITE, {"copy_on_write": True}, Work(1, MIB, MIB, 1, False, 1.0, 1, 1)),
        (READ, {"erasure_code": {"data": 4, "parity": 1}, "writes": "fan_out"}, Work(4, MIB // 4, MIB // 4)),
        (Load("read", 4096), {"erasure_code": {"data": 4, "parity": 1}, "writes": "fan_out"}, Work(1, 4096, 4096)),
        (WRITE, {"erasure_code": {"data": 4, "parity": 1}, "writes": "fan_out"}, Work(5, MIB // 4, MIB // 4)),
        (WRITE, {"erasure_code": {"data": 4, "parity": 1}, "writes": "primary"}, Work(5, MIB // 4, MIB // 4, 1, False, 0.8, 1.6, 2)),
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
        ({"chunk_size": None, "replicas": 3}, 4, 5),
        ({"stripe": 2}, 1, 2),
        ({"stripe": 2}, 8, 5),
    ],
)
def test_few_files_that_are_not_cut_reach_few_disks(keys: dict[str, Any], jobs: int, disks: int) -> None:
    made = cluster(**{name: value for name, value in keys.items() if value is not None})
    if "chunk_size" in keys:
        made = made.model_copy(update={"chunk_size": None})
    assert reached_disks(Load("randread", MIB, numjobs=jobs), made) == disks


def test_requests_in_flight_are_those_that_the_client_keeps() -> None:
    load = Load("read", MIB, iodepth=32, numjobs=4, clients=2)
    assert (in_flight(load, cluster()), offered(load, cluster())) == (256, 256)
    assert (in_flight(load, cluster(iodepth="inert")), offered(load, cluster(iodepth="inert"))) == (8, 8)
    assert (in_flight(load, cluster(in_flight=12)), offered(load, cluster(in_flight=12))) == (24, 256)


def demand(network: Network, resource: Resource) -> float:
    kind = next(each for each in network.stations if each.resource is resource)
    return kind.alone_seconds


def test_writes_cross_the_nics_as_their_copies_travel() -> None:
    cells = disk_cells("randwrite")
    wire = MIB / (400e9 / 8)
    for writes, count, client, storage in [
        ("chain", 1, 1, 3),
        ("fan_out", 3, 1, 1),
        ("primary", 3, 1 / 3, 1),
    ]:
        network = network_of(parts(cluster(replicas=3, writes=writes), cells), WRITE)
        assert work_of(WRITE, cluster(replicas=3, writes=writes)).parts == count
        assert demand(network, Resource.CLIENT_NIC) == pytest.approx(client * wire)
        assert demand(network, Resource.STORAGE_NIC) == pytest.approx(storage * wire)


def test_a_small_write_that_copies_its_chunk_takes_a_read_and_a_write_of_a_chunk_at_each_copy() -> None:
    cells = [*disk_cells("randwrite", rates={1: 100.0}), *disk_cells("randread", rates={1: 400.0})]
    made = cluster(replicas=3, copy_on_write=True)
    network = network_of(parts(made, cells), Load("randwrite", 4096))
    assert demand(network, Resource.DISK) == pytest.approx(3 * (1 / 100 + 1 / 400))


def test_delays_are_counted_once_for_each_node_of_a_chain() -> None:
    made = cluster(replicas=3, round_trip="10us", server_delay="100us", client_delay="1ms")
    network = network_of(parts(made, disk_cells("randwrite")), WRITE)
    assert network.delay_seconds == pytest.approx(1e-3 + 3 * 110e-6)
