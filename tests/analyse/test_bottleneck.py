"""What binds, as the counters say: whatever has a limit and is used up; and what the model said of it before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from leadline.analyse.analysis import analyse
from leadline.analyse.attribution import explain_differences, what_binds
from leadline.analyse.bottleneck import Bound, disagreement, in_words, named_by_counters, named_by_model
from leadline.analyse.confusion import matrix, right_share, truth_of
from leadline.analyse.prediction.beside import Beside, Foretelling
from leadline.analyse.results import CellResult, Results
from leadline.store.prediction import Foretold

from .samples import ENVIRONMENT, measurement, record
from .samples import manifest as manifest_of

CELL: dict[str, Any] = {"rw": "randread", "block_size": 65_536, "iodepth": 8, "numjobs": 1}
SECONDS = 10.0
BYTES = 20_000 * 65_536 * SECONDS


def analysed(totals: dict[str, float], held: dict[str, float], engine_seconds: float = 1.0) -> Results:
    step = record(
        measurement(),
        cell={**CELL, **held},
        totals=totals,
        facts={"site_conditions": held, "engine_cpu_seconds": engine_seconds},
    )
    return analyse([step], manifest_of(), ENVIRONMENT)


def named(results: Results) -> Any:
    return named_by_counters(results.cells[0], results)


def groups(client: float, servers: float) -> dict[str, float]:
    return {"group.client1.cpu_seconds": client, "group.servers.cpu_seconds": servers}


def test_a_full_link_is_network_bound_and_what_it_leaves_of_the_rest_says_what_a_second_one_gives() -> None:
    link = BYTES / SECONDS / 0.9
    results = analysed(
        {"host.local.nic.v0.receive_bytes": BYTES, **groups(10.0, 19.0)}, {"link": link}, engine_seconds=0.0
    )
    found = named(results)
    assert found.bound is Bound.NETWORK and found.use.share == pytest.approx(0.9)
    # Four threads were busy for 29 of 40 seconds: the processors let it grow to 40 / 29 of what it is.
    assert found.relief == pytest.approx(40 / 29, rel=0.01)
    assert in_words(results.cells[0], results) == (
        "90 % of the link of local: network-bound; twice of it would give at most 1.38 x, then the server CPU binds"
    )


@pytest.mark.parametrize(
    ("held", "quantity"),
    [({"disk_read_bandwidth": 1e9}, "read_bytes"), ({"disk_read_iops": 1e9}, "read_operations")],
)
def test_a_disk_at_what_it_is_held_to_is_disk_bound(held: dict[str, float], quantity: str) -> None:
    used = {f"disk.loop3.{quantity}": 0.95e9 * SECONDS, f"disk.vda.{quantity}": 5e9 * SECONDS}
    assert named(analysed(used, held)).bound is Bound.DISK


def test_what_a_lab_disk_lies_on_is_not_held_back() -> None:
    used = {"disk.loop3.read_bytes": 0.1e9 * SECONDS, "disk.vda.read_bytes": 5e9 * SECONDS}
    assert named(analysed(used, {"disk_read_bandwidth": 1e9})).bound is Bound.LATENCY


SLOW = {"disk_latency": 0.004, "disk_channels": 3, "disk_channel_bandwidth": 50e6}


@pytest.mark.parametrize(("in_flight", "bound"), [(1, Bound.LATENCY), (2, Bound.LATENCY), (3, Bound.DISK)])
def test_a_disk_that_takes_its_time_binds_when_its_channels_are_full_and_not_when_it_is_busy(
    in_flight: int, bound: Bound
) -> None:
    a_request = 0.004 + 65_536 / 50e6
    requests = in_flight * SECONDS / a_request
    used = {
        "disk.loop3.read_operations": requests / 2,
        "disk.loop3.write_operations": requests / 2,
        "disk.loop3.read_bytes": requests / 2 * 65_536,
        "disk.loop3.write_bytes": requests / 2 * 65_536,
        "disk.loop4.read_operations": requests / 10,
        "disk.vda.read_operations": 1e9,
    }
    found = named(analysed(used, SLOW))
    assert found.bound is bound and found.use.share == pytest.approx(in_flight / 3)


def test_a_disk_with_a_latency_alone_serves_one_request_of_any_size_at_once() -> None:
    used = {"disk.loop3.read_operations": 240 * SECONDS, "disk.loop3.read_bytes": 1e12}
    assert named(analysed(used, {"disk_latency": 0.004})).use.share == pytest.approx(0.96)


def test_of_a_limit_and_the_channels_the_fuller_counts() -> None:
    used = {"disk.loop3.read_operations": 100 * SECONDS, "disk.loop3.read_bytes": 9e6 * SECONDS}
    held = {"disk_latency": 0.004, "disk_read_bandwidth": 10e6}
    assert named(analysed(used, held)).use.share == pytest.approx(0.9)


def test_clients_and_servers_are_told_apart_by_their_own_processor_time() -> None:
    assert (
        named(analysed(groups(0.2, 5.0), {"client_cores": 0.1}, engine_seconds=0.75)).bound
        is Bound.CLIENT_CPU
    )
    assert named(analysed(groups(5.0, 0.96), {"server_cores": 0.1})).bound is Bound.SERVER_CPU


def test_servers_that_were_stopped_in_nearly_every_period_are_used_up_though_some_of_their_quota_was_left() -> (
    None
):
    stopped = {"group.servers.throttled_microseconds": 0.9 * SECONDS * 1e6}
    found = named(analysed({**groups(5.0, 0.6), **stopped}, {"server_cores": 0.1}))
    assert found.bound is Bound.SERVER_CPU and found.use.share == pytest.approx(0.9)
    assert named(analysed(groups(5.0, 0.6), {"server_cores": 0.1})).bound is Bound.LATENCY


def test_a_client_that_was_stopped_says_nothing_of_the_servers() -> None:
    stopped = {"group.client1.throttled_microseconds": 0.9 * SECONDS * 1e6}
    held = {"server_cores": 0.1, "client_cores": 4.0}
    assert named(analysed({**groups(0.2, 0.6), **stopped}, held)).bound is Bound.CLIENT_CPU


def test_a_machine_that_both_use_up_is_named_after_who_uses_more() -> None:
    assert named(analysed(groups(5.0, 33.0), {}, engine_seconds=1.0)).bound is Bound.SERVER_CPU
    assert named(analysed(groups(33.0, 5.0), {}, engine_seconds=1.0)).bound is Bound.CLIENT_CPU


def test_where_nothing_is_used_up_requests_wait_on_their_way() -> None:
    results = analysed(groups(0.5, 0.5), {})
    assert named(results).bound is Bound.LATENCY and named(results).relief is None
    assert in_words(results.cells[0], results).startswith("nothing is used up")


def test_a_sentence_that_names_what_is_used_up_does_not_say_that_nothing_was() -> None:
    held = {"disk_read_bandwidth": 1e9, "link": BYTES / SECONDS / 0.7}
    results = analysed(
        {"disk.loop3.read_bytes": 1.08e9 * SECONDS, "host.local.nic.v0.receive_bytes": BYTES}, held
    )
    said = next(answer.sentence for answer in explain_differences(results))
    assert (
        "108 % of what the busiest disk is held to: disk-bound" in said and "nothing was used up" not in said
    )
    assert what_binds(results.cells[0], results)[1] == pytest.approx(1.08)


def test_where_nothing_was_counted_nothing_is_named() -> None:
    results = analysed({}, {})
    assert named(results) is None and in_words(results.cells[0], results) == ""


def foretold(cell: CellResult, binding: str, results: Results, is_before: bool = True) -> Results:
    said = Foretold(
        cell.experiment, dict(cell.cell), 65_536, {"queueing": 1.0}, {"queueing": 1.0}, binding, {}, 0.0, 0.0
    )
    made = Foretelling("farm", ("disk",), 0, is_before, (), (Beside(said, cell),))
    return replace(results, predictions=(made,))


def test_where_model_and_counters_differ_that_is_said() -> None:
    results = analysed(groups(5.0, 0.96), {"server_cores": 0.1})
    cell = results.cells[0]
    assert disagreement(cell, foretold(cell, "server software", results)) is None
    said = disagreement(cell, foretold(cell, "disks", results))
    assert said == "the model expected disks to bind, the counters say server CPU: they disagree"
    assert disagreement(cell, foretold(cell, "disks", results, is_before=False)) is None


@pytest.mark.parametrize(
    ("binding", "bound"),
    [
        ("client NIC", Bound.NETWORK), ("storage NIC", Bound.NETWORK), ("switch", Bound.NETWORK), ("disks", Bound.DISK),
        ("client software", Bound.CLIENT_CPU), ("server software", Bound.SERVER_CPU),
        ("latency (disks)", Bound.LATENCY), ("latency (software, wire)", Bound.LATENCY),
    ],
)  # fmt: skip
def test_the_model_names_one_of_the_same_five(binding: str, bound: Bound) -> None:
    assert named_by_model(binding) is bound


def test_the_truth_of_a_cell_is_the_one_thing_that_was_held_back() -> None:
    assert truth_of({"link": 1.0}) is Bound.NETWORK
    assert truth_of({}) is Bound.LATENCY
    assert truth_of({"link": 1.0, "client_cores": 1.0}) is None
    assert truth_of({"disk_latency": 0.004}) is None  # whether its channels are full is not known beforehand


def test_a_confusion_matrix_counts_each_truth_by_its_names() -> None:
    found = [
        (Bound.DISK, Bound.DISK),
        (Bound.DISK, Bound.NETWORK),
        (Bound.NETWORK, Bound.NETWORK),
        (Bound.DISK, None),
    ]
    assert matrix(found)[Bound.DISK] == {Bound.DISK: 1, Bound.NETWORK: 1, None: 1}
    assert right_share(found) == 0.5 and right_share([]) is None
