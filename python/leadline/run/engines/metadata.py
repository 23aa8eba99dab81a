"""The metadata engine: mdtest's phases by leadline-engine, every operation timed, failures counted by errno.

Settings of a cell have the names of the engine's own fields (schemas/engine_step.schema.json), but ranks are `numjobs`, durations
are seconds and sizes lose their unit, as everywhere in cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.plan.steps import Step
from leadline.run.engines.engine_process import invocation_of, result_of
from leadline.run.seams import Completed, Invocation, Now, Outcome, Place
from leadline.store.histogram import Histogram
from leadline.store.records import Direction, JobUse, Latency, Measurement, Scalar
from leadline.store.series import Series

PLAIN_SETTINGS = (
    "depth", "branching_factor", "items_per_directory", "items_per_rank", "unique_trees", "leaves_only",
    "rank_shift", "directories", "files", "iterations", "naming", "driver", "iodepth", "drop_caches",
)  # fmt: skip
"""Passed on as they are."""
DURATIONS = {"pause": "pause_ns", "stonewall": "stonewall_ns"}
SIZES = {"write_size": "write_size_bytes", "read_size": "read_size_bytes"}


def step_of(
    cell: Mapping[str, Scalar | Sequence[str]], directory: Path, number: int = 0, clients: int = 1
) -> dict[str, Any]:
    """What the engine of client `number` of several is asked to do; in leadline's own directory, so leavings may go."""
    ranks = int(str(cell.get("numjobs", 1)))
    step: dict[str, Any] = {
        "workload": "metadata",
        "directory": str(directory),
        "ranks": ranks,
        "leftovers": "remove",
    }
    if clients > 1:
        step |= {"rank_offset": ranks * number, "ranks_total": ranks * clients, "external_barriers": True}
    step |= {name: cell[name] for name in PLAIN_SETTINGS if cell.get(name) is not None}
    step |= {
        field: round(float(str(cell[name])) * 1e9) for name, field in DURATIONS.items() if cell.get(name)
    }
    step |= {field: cell[name] for name, field in SIZES.items() if cell.get(name) is not None}
    actions = cell.get("actions")
    if actions:
        step["actions"] = str(actions).split(",") if isinstance(actions, str) else actions
    return step


class MetadataEngine:
    """One workload of leadline-engine."""

    def check(self, steps: Sequence[Step]) -> None:
        """fio's own options mean nothing here; raises UserError."""
        for step in steps:
            passed = [name for name in step.cell if name.startswith("fio.")]
            if passed:
                raise UserError(
                    f'experiment "{step.experiment}" uses the metadata engine, which has no fio option "{passed[0][4:]}"; take it out'
                )

    def prepare(self, step: Step, place: Place, scratch: Path) -> Invocation:
        """Writes the engine's step and calls it; several clients wait for each other at every border of a phase."""
        document = step_of(step.cell, place.data, place.number, step.clients)
        document |= {"seed": step.seed, **place.counting}
        invocation = invocation_of(document, scratch, step.timeout_seconds)
        return replace(invocation, takes_answers=step.clients > 1)

    def collect(self, step: Step, invocation: Invocation, completed: Completed) -> Outcome:
        """A phase without a single success makes the step fail; single failures are told and stay out of the rates."""
        document, reason = result_of(completed)
        raw = {"engine.json": completed.stdout.encode()}
        if document is None:
            return Outcome(reason=reason, raw=raw)
        phases = document["phases"]
        return Outcome(
            measurements=tuple(_measurements(phases)),
            jobs=_jobs(document),
            throughput=tuple(_series(phase) for phase in phases if phase["operations"]),
            warnings=tuple(_warnings(document)),
            reason=_fault(phases),
            raw=raw,
            facts={
                "phases": [_fact(phase, phases[0]["start_monotonic_ns"]) for phase in phases],
                "items_per_rank": document["items_per_rank"],
                **(
                    {"caches": "dropped"} if step.cell.get("drop_caches") else {}
                ),  # by the engine, before stat and read
            },
        )

    def now(self, line: str) -> Now | None:
        """It prints its result only."""
        return None


def operation_of(phase: Mapping[str, Any]) -> str:
    """What was done to what: "file create"."""
    return f"{phase['kind']} {phase['action']}"


def _measurements(phases: Sequence[Mapping[str, Any]]) -> Iterator[Measurement]:
    """One a rank and operation; ranks that had nothing to do (a shared tree is made by the first) have none."""
    for phase in phases:
        for rank in phase["ranks"]:
            if rank["operations"] or rank["failed"]:
                yield Measurement(
                    host="local",
                    job=rank["rank"],
                    direction=Direction(operation_of(phase)),
                    operations=rank["operations"],
                    size_bytes=0,
                    runtime_ns=rank["ended_ns"],
                    latency=_latency(rank["latency"]),
                    failed=_by_name(rank["errors"]),
                )


def _latency(document: Mapping[str, Any]) -> Latency:
    return Latency(
        count=document["count"], mean_ns=document["mean_ns"] or 0.0, min_ns=document["min_ns"], max_ns=document["max_ns"],
        standard_deviation_ns=document["stddev_ns"], histogram=Histogram.from_bins(dict(document["bins"])),
    )  # fmt: skip


def _by_name(errors: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    return {error["name"]: error["count"] for error in errors}


def _series(phase: Mapping[str, Any]) -> Series:
    """Operations a second since the phase began, which is when all ranks of all clients left the barrier."""
    ends = [each["end_ns"] for each in phase["series"]]
    widths = [max(end - start, 1) for start, end in zip([0, *ends], ends, strict=False)]
    rates = [each["operations"] * 1e9 / width for each, width in zip(phase["series"], widths, strict=True)]
    return Series(operation_of(phase), "1/s", ends, rates)


def _fact(phase: Mapping[str, Any], begin_ns: int) -> dict[str, Any]:
    """How far the ranks were apart, and what the filesystem was asked meanwhile."""
    first = phase["first_done"] or {}
    fact = {
        "operation": operation_of(phase),
        "planned": phase["planned"],
        "start_ns": phase["start_monotonic_ns"] - begin_ns,
        "first_done_ns": first.get("at_ns"),
        "first_done_operations": first.get("operations"),
        "last_done_ns": phase["last_done"]["at_ns"],
        "user_ns": sum(rank["user_ns"] for rank in phase["ranks"]),
        "system_ns": sum(rank["system_ns"] for rank in phase["ranks"]),
    }
    return fact | ({"requests": phase["requests"]} if phase.get("requests") is not None else {})


def _jobs(document: Mapping[str, Any]) -> tuple[JobUse, ...]:
    """Each rank's own processor time over all phases: a rank that was busy all the time measured itself."""
    uses = []
    for place in range(document["ranks"]):
        records = [phase["ranks"][place] for phase in document["phases"]]
        runtime_ns = sum(phase["last_done"]["at_ns"] for phase in document["phases"])
        shares = [
            sum(record[key] for record in records) / max(runtime_ns, 1) for key in ("user_ns", "system_ns")
        ]
        uses.append(JobUse("local", records[0]["rank"], shares[0], shares[1], 0, runtime_ns, 0))
    return tuple(uses)


def _warnings(document: Mapping[str, Any]) -> Iterable[str]:
    for phase in document["phases"]:
        if phase["failed"]:
            errors = ", ".join(f"{count:,} {name}" for name, count in _by_name(phase["errors"]).items())
            yield f"{operation_of(phase)}: {phase['failed']:,} of {phase['planned']:,} failed ({errors})"
    for path in document["left_behind"]:
        yield f"{path} could not be removed: something is left in it"


def _fault(phases: Sequence[Mapping[str, Any]]) -> str | None:
    for phase in phases:
        if phase["planned"] and not phase["operations"]:
            errors = _by_name(phase["errors"])
            most = max(errors, key=lambda name: errors[name], default="no reason")
            return (
                f"all {phase['planned']:,} operations of phase {operation_of(phase)} failed, most with {most}"
            )
    return None
