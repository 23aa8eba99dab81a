"""Load from other machines: their cores, disks and FUSE queues say what binds, and this machine's say nothing."""

from __future__ import annotations

from typing import Any

import pytest

from leadline.analyse.analysis import analyse
from leadline.analyse.attribution import explain_differences
from leadline.analyse.bottleneck import Bound, in_words, named_by_counters
from leadline.analyse.results import Results
from leadline.store.series import Series

from .samples import ENVIRONMENT, SECOND_NS, measurement, record
from .samples import manifest as manifest_of

CELL: dict[str, Any] = {"rw": "randread", "block_size": 65_536, "iodepth": 8, "numjobs": 1}


def over_time(name: str, *values: float) -> Series:
    unit = name.rpartition("_")[2]
    return Series(name, unit, [SECOND_NS * (place + 1) for place in range(len(values))], list(values))


def analysed(*counters: Series, facts: dict[str, Any] | None = None) -> Results:
    step = record(
        measurement(),
        cell=CELL,
        counters=counters,
        totals={"host.node1.nic.eth0.receive_bytes": 1e9},
        facts={"engine_cpu_seconds": 2.0, **(facts or {})},
    )
    return analyse([step], manifest_of(), ENVIRONMENT)


def explained(results: Results) -> str:
    return " ".join(answer.sentence for answer in explain_differences(results))


def test_the_cores_of_the_machine_that_made_the_load_are_named_and_not_those_of_this_one() -> None:
    results = analysed(
        over_time("cpu.all.busy_share", 0.1, 0.1), over_time("host.node1.cpu.all.busy_share", 0.95, 0.93)
    )
    cell = results.cells[0]
    assert cell.resources["cpu_busy_share"] == pytest.approx(0.94)
    assert [(use.name, use.is_client, use.cpu_busy_share) for use in cell.hosts] == [
        ("node1", True, pytest.approx(0.94))
    ]
    found = named_by_counters(cell, results)
    assert found is not None and found.bound is Bound.CLIENT_CPU
    assert in_words(cell, results).startswith("94 % of the CPU of node1: client CPU-bound")
    assert "The CPUs of node1 were busy 94 % of the time" in explained(results)


def test_of_several_machines_the_busiest_says_what_binds() -> None:
    results = analysed(
        over_time("host.node1.cpu.all.busy_share", 0.2, 0.2),
        over_time("host.node2.example.org.cpu.all.busy_share", 0.9, 0.9),
    )
    assert results.cells[0].resources["cpu_busy_share"] == pytest.approx(0.9)


def test_a_disk_that_is_busy_with_a_queue_on_the_other_machine_binds() -> None:
    results = analysed(
        over_time("host.node1.cpu.all.busy_share", 0.2, 0.2),
        over_time("host.node1.disk.nvme0n1.utilisation_share", 0.99, 0.97),
        over_time("host.node1.disk.nvme0n1.queue_length", 8.0, 8.0),
    )
    found = named_by_counters(results.cells[0], results)
    assert found is not None and found.bound is Bound.DISK
    assert results.cells[0].hosts[0].disk_queue_length == 8.0


def test_hosts_in_namespaces_of_this_machine_have_nics_and_no_cores() -> None:
    results = analysed(over_time("cpu.all.busy_share", 0.3, 0.3))
    cell = results.cells[0]
    assert cell.hosts[0].cpu_busy_share is None
    assert cell.resources["cpu_busy_share"] == pytest.approx(0.3)


def queue_of(name: str, *levels: float, limits: dict[str, int] | None = None) -> Results:
    client = name.removeprefix("host.").removeprefix("fuse.").partition(".")[0]
    facts = {"fuse_queues": {client: limits or {}}}
    return analysed(over_time(f"{name}.waiting_requests", *levels), facts=facts)


@pytest.mark.parametrize("name", ["fuse.client1", "host.node1.fuse"])
def test_looks_before_and_after_the_load_do_not_count(name: str) -> None:
    cell = queue_of(name, 0, 7, 8, 9, 0).cells[0]
    assert cell.resources["fuse_waiting_requests"] == 8.0
    assert cell.resources["fuse_waiting_requests_max"] == 9.0


def test_a_queue_that_was_never_seen_during_the_load_says_nothing() -> None:
    results = queue_of("fuse.client1", 0, 0)
    assert "fuse_waiting_requests" not in results.cells[0].resources
    assert "FUSE" not in explained(results)


def test_where_all_requests_in_flight_are_at_the_daemon_it_is_the_queue() -> None:
    said = explained(queue_of("fuse.client1", 0, 8, 7.8, 8, 0))
    assert "the FUSE queue was 7.93 of 8 requests in flight deep" in said
    assert "the client's daemon, or what it waits for, is the queue" in said
    assert "max_background" not in said


def test_where_requests_are_elsewhere_the_daemon_is_not_blamed() -> None:
    said = explained(queue_of("fuse.client1", 0, 1, 1, 1, 0))
    assert "the FUSE queue was 1.00 of 8 requests in flight deep" in said and "is the queue" not in said


def test_a_limit_of_the_mount_that_binds_is_named() -> None:
    limits = {"max_background": 8, "congestion_threshold": 6}
    assert "max_background (8) was reached" in explained(queue_of("fuse.client1", 0, 8, 8, 0, limits=limits))
    congested = explained(queue_of("fuse.client1", 0, 6.5, 6.5, 0, limits=limits))
    assert "the congestion threshold (6) was passed" in congested and "max_background" not in congested
    assert "threshold" not in explained(queue_of("fuse.client1", 0, 5, 5, 0, limits=limits))
