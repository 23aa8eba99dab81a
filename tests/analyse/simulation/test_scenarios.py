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
    assert disk_bytes(scenario({}), "randread") == 1 << 20
    assert disk_bytes(scenario({}, chunk_size="256KiB"), "randread") == 256 << 10
    coded = scenario({}, chunk_size="256KiB", erasure_code=code, writes="fan_out")
    assert disk_bytes(coded, "randread") == 64 << 10
    copied = scenario({"rw": "randrw", "block_size": "4k"}, chunk_size="256KiB", copy_on_write=True)
    assert disk_bytes(copied, "randwrite") == 256 << 10
    assert disk_bytes(copied, "randread") == 4096


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
    # What frames of 1500 bytes leave of a NIC that was not measured, as in predictions.
    assert step["storage"]["nic_bytes_per_second"] == pytest.approx(25e9 / 8 * 0.9415, rel=1e-3)


def test_a_share_of_reads_varies_mixed_tests_only() -> None:
    found = scenarios({"rw": ["read", "randrw"], "read_percentage": [30, 70]})
    told = [(each.settings["rw"], each.settings["read_percentage"], each.read_share) for each in found]
    assert told == [("read", None, 1.0), ("randrw", 30, 0.3), ("randrw", 70, 0.7)]


def test_a_mixed_step_has_a_curve_of_disks_for_each_way() -> None:
    step = step_of(scenario({"rw": "randrw"}), None)
    assert (step["load"]["direction"], step["load"]["read_share"]) == ("mixed", 0.5)
    assert step["storage"]["disk_rates"][-1][1] == pytest.approx(250e6 / 2**20)  # randread
    assert step["storage"]["disk_write_rates"][-1][1] == pytest.approx(400e6 / 2**20)


def test_a_mix_of_one_way_is_that_way() -> None:
    step = step_of(scenario({"rw": "randrw", "read_percentage": 100}), None)
    assert step == step_of(scenario({"rw": "randread"}), None)
    step = step_of(scenario({"rw": "rw", "read_percentage": 0}), None)
    assert step == step_of(scenario({"rw": "write"}), None)


def test_a_file_that_is_not_cut_lies_whole_on_one_group() -> None:
    assert step_of(scenario({}), None)["layout"]["stripe"] == 1
    assert step_of(scenario({}, chunk_size="1MiB"), None)["layout"]["stripe"] is None
    assert step_of(scenario({}, replicas=3, reads="one_copy"), None)["layout"]["reads"] == "one_copy"


def test_a_client_that_writes_to_a_file_one_at_a_time_is_simulated_so() -> None:
    one = step_of(scenario({"rw": "write"}, writes_to_a_file="one_at_a_time"), None)
    assert one["clients"]["writes_to_a_file"] == "one_at_a_time"
    assert step_of(scenario({"rw": "write"}), None)["clients"]["writes_to_a_file"] == "side_by_side"
