"""Loads on object stores, from the engine's answer to judged cells: what counts as whose, and what is not believed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leadline.analyse.machine import Machine
from leadline.analyse.object_sounding import judge_objects
from leadline.analyse.objects import ObjectCell
from leadline.analyse.results import VerdictName
from leadline.run.engines import object_store as engine
from leadline.run.object_requests import Answered
from leadline.run.object_sounding import record_of
from leadline.run.seams import Completed
from leadline.store.records import Direction, Status, StepRecord

MILLISECOND = 1_000_000
SECOND = 1000 * MILLISECOND
CELL = {"object_size": 4096, "objects": 1000, "concurrency": 4}
MACHINE = Machine(threads=8, memory_bytes=8 << 30)


def share(
    number: int, operations: int, errors: tuple[Mapping[str, Any], ...] = (), size_bytes: int = 0
) -> dict[str, Any]:
    """One client that worked for a second, 2 ms a request."""
    latency = {
        "count": operations, "min_ns": 2 * MILLISECOND, "max_ns": 2 * MILLISECOND, "mean_ns": 2.0 * MILLISECOND, "stddev_ns": 0.0,
        "bins": [[2 * MILLISECOND, operations]],
    }  # fmt: skip
    return {
        "client": number, "operations": operations, "size_bytes": size_bytes, "failed": sum(each["count"] for each in errors),
        "retried": 0, "ended_ns": SECOND, "busy_ns": SECOND // 10, "latency": latency, "errors": list(errors),
    }  # fmt: skip


def phase(
    operation: str, shares: list[dict[str, Any]], busy_ns: int = SECOND // 10, listed: int = 0
) -> dict[str, Any]:
    return {
        "operation": operation, "start_monotonic_ns": 5, "start_unix_ns": 5, "planned": 2000, "runtime_ns": SECOND, "user_ns": busy_ns // 2,
        "system_ns": busy_ns // 2, "listed_objects": listed, "clients": shares, "series": [],
    }  # fmt: skip


def record(
    *phases: dict[str, Any], scheme: str = "s3", part: int | None = None, repeat: int = 0
) -> StepRecord:
    result = {
        "scheme": scheme, "object_size_bytes": 4096, "objects": 1000, "part_size_bytes": part, "concurrency": 4, "clients": 2,
        "phases": list(phases),
    }  # fmt: skip
    return record_of(Answered(result, Completed(0, "", "", 0)), CELL, repeat, repeat)


def both(operations: int, **more: Any) -> list[dict[str, Any]]:
    return [share(0, operations, **more), share(1, operations, **more)]


def judged(*records: StepRecord) -> dict[str, ObjectCell]:
    return {cell.result.direction.value: cell for cell in judge_objects(records, MACHINE, "test")}


def names(cell: ObjectCell) -> set[str]:
    return {verdict.name for verdict in cell.result.verdicts}


def test_requests_in_flight_are_divided_evenly_over_as_many_clients_as_can_be() -> None:
    divided = {wanted: engine.instances_for(wanted, 4) for wanted in (1, 4, 6, 7, 16)}
    assert divided == {1: 1, 4: 4, 6: 3, 7: 1, 16: 4}


def test_instances_that_a_cell_names_are_as_many_whatever_the_cores() -> None:
    assert engine.step_of({**CELL, "instances": 4}, "f/", 2)["clients"] == 4
    assert engine.step_of(CELL, "f/", 2)["clients"] == 2


def test_rates_are_those_of_all_clients_together() -> None:
    put = judged(record(phase("put", both(1000, size_bytes=1000 * 4096))))["object put"]
    assert put.result.metrics["iops"].value == 2000
    assert put.result.metrics["bandwidth"].value == 2000 * 4096
    assert put.result.concurrency == 4 and put.objects_per_second == 2000


def test_a_listing_counts_the_objects_that_it_named() -> None:
    listing = judged(record(phase("list", both(5), listed=10_000)))["object list"]
    assert listing.result.metrics["iops"].value == 10 and listing.objects_per_second == 10_000


def test_a_put_in_parts_is_another_request() -> None:
    assert set(judged(record(phase("put", both(1000)), part=1024))) == {"object multipart put"}


def test_sending_is_the_clients_own_work_in_user_mode_and_in_the_kernel() -> None:
    busy = judged(record(phase("head", both(1000), busy_ns=18 * SECOND // 10)))["object head"]
    assert busy.result.resources["engine_cpu_cores"] == 1.8
    assert VerdictName.GENERATOR_BOUND in names(busy)
    idle = judged(record(phase("head", both(1000), busy_ns=12 * SECOND // 10)))["object head"]
    assert VerdictName.GENERATOR_BOUND not in names(idle)


def test_requests_a_cpu_second_are_those_of_all_repeats() -> None:
    one, two = (record(phase("head", both(1000), busy_ns=SECOND), repeat=repeat) for repeat in (0, 1))
    assert judged(one, two)["object head"].requests_per_cpu_second == 2000


def test_files_of_this_machine_that_were_just_put_are_got_from_its_memory() -> None:
    phases = [phase("put", both(1000)), phase("get", both(1000))]
    of_files, of_s3 = judged(record(*phases, scheme="fs")), judged(record(*phases))
    assert VerdictName.CACHED in names(of_files["object get"])
    assert VerdictName.CACHED not in names(of_files["object put"]) | names(of_s3["object get"])


def test_failures_are_counted_by_the_servers_code_and_spoil_the_rate() -> None:
    slow = {"name": "SlowDown", "count": 7, "first": "SlowDown: Please reduce"}
    got = record(phase("get", [share(0, 1000, (slow,)), share(1, 993)]))
    cell = judged(got)["object get"]
    assert cell.result.failed == {"SlowDown": 7} and VerdictName.FAILED_OPERATIONS in names(cell)
    assert got.warnings == ("object get: SlowDown: Please reduce",)


def test_a_kind_of_request_that_never_succeeded_fails_the_step_in_the_servers_words() -> None:
    full = {"name": "ENOSPC", "count": 1000, "first": "write: No space left on device"}
    failed = record(phase("put", [share(0, 0, (full,)), share(1, 0, (full,))]))
    assert failed.status is Status.FAILED
    assert failed.reason == "every object put failed: write: No space left on device"


def test_objects_are_no_names_and_have_one_way_only() -> None:
    put = judged(record(phase("put", both(1000))))["object put"]
    assert put.result.test == "object put"
    assert Direction.OBJECT_PUT.is_of_objects and not Direction.FILE_CREATE.is_of_objects
