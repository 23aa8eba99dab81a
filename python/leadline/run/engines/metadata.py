"""The metadata engine: mdtest's phases by leadline-engine, every operation timed, failures counted by errno.

Settings of a cell have the names of the engine's own fields (schemas/engine_step.schema.json), but durations are seconds and
sizes lose their unit, as everywhere in cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.plan.steps import Step
from leadline.run.engines.engine_process import invocation_of, result_of
from leadline.run.seams import Completed, Invocation, Now, Outcome, Place
from leadline.store.histogram import Histogram
from leadline.store.records import JobUse, Scalar
from leadline.store.series import Series

PLAIN_SETTINGS = (
    "ranks", "depth", "branching_factor", "items_per_directory", "items_per_rank", "unique_trees", "leaves_only",
    "rank_shift", "directories", "files", "iterations", "naming", "driver", "iodepth", "drop_caches",
)  # fmt: skip
"""Passed on as they are."""
DURATIONS = {"pause": "pause_ns", "stonewall": "stonewall_ns"}
SIZES = {"write_size": "write_size_bytes", "read_size": "read_size_bytes"}
SETTINGS = (*PLAIN_SETTINGS, *DURATIONS, *SIZES, "actions")


@dataclass(frozen=True)
class Phase:
    """One phase of one iteration, of all ranks together."""

    iteration: int
    operation: str
    """What was done to what: "file create"."""
    naming: str
    driver: str
    iodepth: int
    planned: int
    operations: int
    """That succeeded: only these are in the rates and in the latency."""
    failed: int
    errors: Mapping[str, int]
    """By the errno's name."""
    rate_last_done: float | None
    """Operations a second until the last rank was done: mdtest's rate. None when nothing succeeded."""
    rate_first_done: float | None
    mean_ns: float | None
    latency: Histogram | None
    start_monotonic_ns: int
    end_ns: int
    """From the start."""
    series: Sequence[tuple[int, int]]
    """End of each interval, counted from the start, and the operations that ended in it."""

    def to_fact(self) -> dict[str, Any]:
        """JSON-ready, without the series."""
        kept = ("iteration", "operation", "naming", "driver", "iodepth", "planned", "operations", "failed")
        bins = [] if self.latency is None else [[int(v), int(c)] for v, c in self.latency_bins()]
        return {name: getattr(self, name) for name in kept} | {
            "errors": dict(self.errors), "rate_last_done": self.rate_last_done, "rate_first_done": self.rate_first_done,
            "mean_ns": self.mean_ns, "latency_bins": bins,
        }  # fmt: skip

    def latency_bins(self) -> Iterable[tuple[int, int]]:
        """Value in nanoseconds, count."""
        if self.latency is None:
            return ()
        return zip(self.latency.values_ns, self.latency.counts, strict=True)


def step_of(cell: Mapping[str, Scalar | Sequence[str]], directory: Path, seed: int = 0) -> dict[str, Any]:
    """What the engine is asked to do in a directory. It is leadline's own, so what a killed run left there may go."""
    step: dict[str, Any] = {
        "workload": "metadata",
        "directory": str(directory),
        "seed": seed,
        "leftovers": "remove",
    }
    step |= {name: cell[name] for name in PLAIN_SETTINGS if cell.get(name) is not None}
    step |= {
        field: round(float(str(cell[name])) * 1e9) for name, field in DURATIONS.items() if cell.get(name)
    }
    step |= {field: cell[name] for name, field in SIZES.items() if cell.get(name) is not None}
    actions = cell.get("actions")
    if actions:
        step["actions"] = str(actions).split(",") if isinstance(actions, str) else actions
    return step


def phases_of(document: Mapping[str, Any]) -> tuple[Phase, ...]:
    """The phases of the engine's result, in the order in which they ran."""
    return tuple(_phase(phase) for phase in document["phases"])


def _phase(document: Mapping[str, Any]) -> Phase:
    latencies = [rank["latency"] for rank in document["ranks"] if rank["latency"]["count"]]
    count = sum(latency["count"] for latency in latencies)
    first, last = document["first_done"] or {}, document["last_done"]
    return Phase(
        iteration=document["iteration"],
        operation=f"{document['kind']} {document['action']}",
        naming=document["naming"],
        driver=document["driver"],
        iodepth=document["iodepth"],
        planned=document["planned"],
        operations=document["operations"],
        failed=document["failed"],
        errors={error["name"]: error["count"] for error in document["errors"]},
        rate_last_done=last["rate_per_second"],
        rate_first_done=first.get("rate_per_second"),
        mean_ns=sum(each["mean_ns"] * each["count"] for each in latencies) / count if count else None,
        latency=Histogram.merge(Histogram.from_bins(dict(each["bins"])) for each in latencies)
        if count
        else None,
        start_monotonic_ns=document["start_monotonic_ns"],
        end_ns=last["at_ns"],
        series=tuple((each["end_ns"], each["operations"]) for each in document["series"]),
    )


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
        """Writes the engine's step and calls it."""
        return invocation_of(step_of(step.cell, place.data, step.seed), scratch, step.timeout_seconds)

    def collect(self, step: Step, invocation: Invocation, completed: Completed) -> Outcome:
        """A phase without a single success makes the step fail; single failures are told and stay out of the rates."""
        document, reason = result_of(completed)
        raw = {"engine.json": completed.stdout.encode()}
        if document is None:
            return Outcome(reason=reason, raw=raw)
        phases = phases_of(document)
        return Outcome(
            jobs=_jobs(document),
            throughput=_throughput(phases),
            warnings=tuple(_warnings(phases, document)),
            reason=_fault(phases),
            raw=raw,
            facts={
                "metadata": [phase.to_fact() for phase in phases],
                "items_per_rank": document["items_per_rank"],
            },
        )

    def now(self, line: str) -> Now | None:
        """It prints its result only."""
        return None


def _throughput(phases: Sequence[Phase]) -> tuple[Series, ...]:
    """Operations a second of each phase that ran once, from its own start; with iterations, of the first."""
    result = []
    for phase in phases:
        if phase.iteration or not phase.operations:
            continue
        ends = [end for end, _ in phase.series]
        widths = [max(end - start, 1) for start, end in zip([0, *ends], ends, strict=False)]
        rates = [count * 1e9 / width for (_, count), width in zip(phase.series, widths, strict=True)]
        result.append(Series(phase.operation, "1/s", ends, rates))
    return tuple(result)


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


def _warnings(phases: Sequence[Phase], document: Mapping[str, Any]) -> Iterable[str]:
    for phase in phases:
        if phase.failed:
            errors = ", ".join(f"{count:,} {name}" for name, count in phase.errors.items())
            yield f"{phase.operation}, iteration {phase.iteration}: {phase.failed:,} of {phase.planned:,} failed ({errors})"
    for path in document["left_behind"]:
        yield f"{path} could not be removed: something is left in it"


def _fault(phases: Sequence[Phase]) -> str | None:
    for phase in phases:
        if phase.planned and not phase.operations:
            most = max(phase.errors, key=lambda name: phase.errors[name], default="no reason")
            return f"all {phase.planned:,} operations of phase {phase.operation} failed, most with {most}"
    return None
