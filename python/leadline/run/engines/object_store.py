"""Loads on object stores: a cell as a step of leadline-engine, and its answer as measurements.

Sizes lose their unit in a cell, durations are seconds. Where it names no `instances`, there are as many as divide its requests in
flight evenly, one a core at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from leadline.plan.objects import operations_of
from leadline.store.histogram import Histogram
from leadline.store.records import Cell, Direction, JobUse, Latency, Measurement
from leadline.store.series import Series


def step_of(cell: Cell, folder: str, most_instances: int, seed: int = 0) -> dict[str, Any]:
    """What the engine is asked to do; without the store."""
    concurrency = int(cell["concurrency"])
    step: dict[str, Any] = {
        "workload": "object_load", "folder": folder, "object_size_bytes": cell["object_size"], "objects": cell["objects"],
        "concurrency": concurrency, "clients": int(cell.get("instances", instances_for(concurrency, most_instances))),
        "retries": int(cell.get("retries", 0)), "seed": seed, "operations": list(operations_of(cell)),
    }  # fmt: skip
    if cell.get("part_size"):
        step["part_size_bytes"] = cell["part_size"]
    if cell.get("window"):
        step["runtime_ns"] = round(float(cell["window"]) * 1e9)
    return step


def direction_of(operation: str, in_parts: bool) -> Direction:
    """A put in parts is another request than one in a piece."""
    return (
        Direction.OBJECT_MULTIPART_PUT
        if operation == "put" and in_parts
        else Direction(f"object {operation}")
    )


def measurements(result: Mapping[str, Any]) -> Iterator[Measurement]:
    """One a client instance and kind of request; instances that came to nothing have none."""
    for phase in result["phases"]:
        direction = direction_of(phase["operation"], bool(result["part_size_bytes"]))
        for share in phase["clients"]:
            if share["operations"] or share["failed"]:
                yield Measurement(
                    host="local", job=share["client"], direction=direction, operations=share["operations"],
                    size_bytes=share["size_bytes"], runtime_ns=share["ended_ns"], latency=_latency(share["latency"]),
                    failed={error["name"]: error["count"] for error in share["errors"]},
                )  # fmt: skip


def jobs(result: Mapping[str, Any]) -> tuple[JobUse, ...]:
    """The processor time of each instance's thread; what else the process used is in the phases' facts."""
    runtime_ns = max(sum(phase["runtime_ns"] for phase in result["phases"]), 1)
    uses = []
    for place in range(result["clients"]):
        busy_ns = sum(phase["clients"][place]["busy_ns"] for phase in result["phases"])
        uses.append(JobUse("local", place, busy_ns / runtime_ns, 0.0, 0, runtime_ns, 0))
    return tuple(uses)


def facts(result: Mapping[str, Any]) -> dict[str, Any]:
    """Of the step: its phases as analyse/phases.py reads them, and whose memory could have answered."""
    begin_ns = result["phases"][0]["start_monotonic_ns"] if result["phases"] else 0
    return {
        "phases": [_fact(phase, result, begin_ns) for phase in result["phases"]],
        "object_scheme": result["scheme"],
        "dataset_bytes": result["object_size_bytes"] * result["objects"],
    }


def series(result: Mapping[str, Any]) -> tuple[Series, ...]:
    """Of phases of fixed time: bytes a second where bytes moved, else requests."""
    return tuple(_series(phase, result) for phase in result["phases"] if phase["series"])


def warnings(result: Mapping[str, Any]) -> Iterator[str]:
    """Failures in the server's words, and requests that were made again."""
    for phase in result["phases"]:
        for error in (error for share in phase["clients"] for error in share["errors"]):
            yield f"object {phase['operation']}: {error['first']}"
        retried = sum(share["retried"] for share in phase["clients"])
        if retried:
            yield f"object {phase['operation']}: {retried:,} requests were made again"
        listings = sum(share["operations"] for share in phase["clients"])
        if phase["listed_objects"] > listings * result["objects"]:
            yield "object list: it named more objects than were put, which an earlier step has left"


def fault(result: Mapping[str, Any]) -> str | None:
    """A kind of request without a single success: there is no figure, and why."""
    for phase in result["phases"]:
        failed = [error for share in phase["clients"] for error in share["errors"]]
        if failed and not any(share["operations"] for share in phase["clients"]):
            return f"every object {phase['operation']} failed: {failed[0]['first']}"
    return None


def _fact(phase: Mapping[str, Any], result: Mapping[str, Any], begin_ns: int) -> dict[str, Any]:
    return {
        "operation": direction_of(phase["operation"], bool(result["part_size_bytes"])),
        "planned": phase["planned"],
        "start_ns": phase["start_monotonic_ns"] - begin_ns,
        "first_done_ns": min(
            (share["ended_ns"] for share in phase["clients"] if share["operations"]), default=None
        ),
        "first_done_operations": None,
        "last_done_ns": phase["runtime_ns"],
        "user_ns": phase["user_ns"],
        "system_ns": phase["system_ns"],
        "listed_objects": phase["listed_objects"],
        "retried": sum(share["retried"] for share in phase["clients"]),
    }


def _series(phase: Mapping[str, Any], result: Mapping[str, Any]) -> Series:
    moves = any(share["size_bytes"] for share in phase["clients"])
    amount, unit = ("size_bytes", "B/s") if moves else ("operations", "1/s")
    ends = [each["end_ns"] for each in phase["series"]]
    widths = [max(end - start, 1) for start, end in zip([0, *ends], ends, strict=False)]
    rates = [each[amount] * 1e9 / width for each, width in zip(phase["series"], widths, strict=True)]
    return Series(direction_of(phase["operation"], bool(result["part_size_bytes"])), unit, ends, rates)


def _latency(document: Mapping[str, Any]) -> Latency:
    return Latency(
        count=document["count"], mean_ns=document["mean_ns"] or 0.0, min_ns=document["min_ns"], max_ns=document["max_ns"],
        standard_deviation_ns=document["stddev_ns"], histogram=Histogram.from_bins(dict(document["bins"])),
    )  # fmt: skip


def instances_for(concurrency: int, most: int) -> int:
    """As many client instances as divide the requests in flight evenly."""
    return max(count for count in range(1, min(concurrency, most) + 1) if concurrency % count == 0)
