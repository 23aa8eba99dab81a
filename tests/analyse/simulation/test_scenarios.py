"""Axes become scenarios, scenarios become steps of the engine."""

from __future__ import annotations

import pytest

from leadline.analyse.simulation.scenarios import varied
from leadline.analyse.simulation.steps import disk_bytes, step_of
from leadline.errors import UserError

from .cluster_files import scenario, scenarios


def test_every_combination_of_all_lists_is_a_scenario() -> None:
    found = scenarios({"storage_nodes": [5, 10], "iodepth": [1, 2, 4], "rw": ["read", "write"]})
    assert len(found) == 12
    assert varied(found) == ["rw", "storage_nodes", "iodepth"]
    assert {each.cluster.storage_nodes for each in found} == {5, 10}


def test_requests_in_flight_are_those_that_the_clients_keep() -> None:
    load = {"numjobs": 4, "iodepth": 8}
    assert scenario(load).in_flight == 2 * 32
    assert scenario(load, iodepth="inert").in_flight == 2 * 4
    assert scenario(load, in_flight=10).in_flight == 2 * 10


def test_the_window_grows_with_what_is_in_flight() -> None:
    assert scenario({}).operations == 50_000
    busy = scenario({"iodepth": 5000})
    assert (busy.operations, busy.warm_up) == (200_000, 50_000)
    stated = scenario({"operations": 10, "warm_up": 0})
    assert (stated.operations, stated.warm_up) == (10, 0)


def test_a_varied_cluster_must_be_possible_each_time() -> None:
    with pytest.raises(UserError, match="3 replicas on 2 storage nodes"):
        scenarios({"storage_nodes": [5, 2]}, replicas=3)


def test_trouble_leaves_nodes() -> None:
    with pytest.raises(UserError, match=r"`failed_nodes` in \[simulation\] is 5 of 5 storage nodes"):
        scenarios({"failed_nodes": [0, 5]})
    with pytest.raises(UserError, match="more than 5 storage nodes"):
        scenarios({"failed_nodes": 3, "stragglers": 3})


def test_too_many_combinations_are_refused() -> None:
    many = list(range(1, 102))
    with pytest.raises(UserError, match="10,201 combinations"):
        scenarios({"iodepth": many, "numjobs": many})


def test_disks_get_parts_of_chunks() -> None:
    code = {"data": 4, "parity": 1}
    assert disk_bytes(scenario({})) == 1 << 20
    assert disk_bytes(scenario({}, chunk_size="256KiB")) == 256 << 10
    assert disk_bytes(scenario({}, chunk_size="256KiB", erasure_code=code, writes="fan_out")) == 64 << 10
    small = {"rw": "randwrite", "block_size": "4k"}
    assert disk_bytes(scenario(small, chunk_size="256KiB", copy_on_write=True)) == 256 << 10


def test_a_step_says_what_the_file_says() -> None:
    step = step_of(
        scenario({"rw": "write", "numjobs": 3, "seed": 9}, replicas=3, round_trip="20us", stripe=4, chunk_size="64k"),
        None,
    )  # fmt: skip
    assert step["layout"] == {
        "chunk_bytes": 65536, "stripe": 4, "protection": {"replicas": 3}, "writes": "chain",
    }  # fmt: skip
    assert step["network"]["round_trip_ns"] == pytest.approx(20_000)
    assert (step["load"]["direction"], step["load"]["random"], step["load"]["seed"]) == ("write", False, 9)
    assert (step["clients"]["requests_in_flight"], step["clients"]["files"]) == (3, 3)
    assert step["storage"]["nic_bytes_per_second"] == 25e9 / 8
