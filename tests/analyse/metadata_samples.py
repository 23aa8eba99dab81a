"""Records of the metadata engine made by hand: phases one after the other, each rank with its own operations and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from leadline.store.histogram import Histogram
from leadline.store.records import (
    Direction,
    JobUse,
    Latency,
    Measurement,
    Scalar,
    Status,
    StepKind,
    StepRecord,
)
from leadline.store.series import Series, SeriesTable

from .samples import SECOND_NS, histogram

TREE: dict[str, Scalar] = {
    "numjobs": 2,
    "iodepth": 1,
    "naming": "full_path",
    "driver": "calls",
    "depth": 2,
    "branching_factor": 3,
    "items_per_directory": 1000,
    "unique_trees": True,
}


@dataclass(frozen=True)
class Phase:
    """What a test says of one phase; ranks are evenly loaded unless `seconds` tells them apart."""

    direction: Direction
    rate: float = 10_000
    """Operations per second of all ranks together, until the last is done."""
    seconds: Sequence[float] = (10, 10)
    """One a rank."""
    mean_ns: float | None = None
    failed: Mapping[str, int] = field(default_factory=dict)
    requests: Mapping[str, int] | None = None
    planned: int | None = None
    shape: Histogram | None = None

    @property
    def operations(self) -> int:
        """Of each rank."""
        return round(self.rate * max(self.seconds) / len(self.seconds))


def measurements(phase: Phase, iodepth: float) -> list[Measurement]:
    """One a rank; its latency follows by Little's law."""
    found = []
    for rank, seconds in enumerate(phase.seconds):
        mean_ns = phase.mean_ns or iodepth * seconds * 1e9 / phase.operations
        shape = phase.shape or histogram(mean_ns, phase.operations)
        latency = Latency(
            shape.total, mean_ns, float(shape.values_ns[0]), float(shape.values_ns[-1]), histogram=shape
        )
        failed = phase.failed if rank == 0 else {}
        found.append(
            Measurement(
                "local",
                rank,
                phase.direction,
                phase.operations,
                0,
                round(seconds * SECOND_NS),
                latency,
                failed=failed,
            )
        )
    return found


def metadata_record(
    *phases: Phase,
    ordinal: int = 0,
    repeat: int = 0,
    cell: Mapping[str, Scalar] | None = None,
    experiment: str = "wide",
    user: float = 0.1,
    system: float = 0.2,
    counters: Sequence[Series] = (),
    totals: Mapping[str, float] | None = None,
    facts: Mapping[str, Any] | None = None,
) -> StepRecord:
    """A finished step: its phases run one after the other."""
    settings = {**TREE, **(cell or {})}
    depth = float(settings["iodepth"])
    parts = {phase.direction: measurements(phase, depth) for phase in phases}
    start_ns, listed, series = 0, [], []
    for phase in phases:
        ranks = parts[phase.direction]
        ends = [part.runtime_ns for part in ranks]
        failed = sum(phase.failed.values())
        fact: dict[str, Any] = {
            "operation": str(phase.direction),
            "planned": phase.planned or sum(part.operations for part in ranks) + failed,
            "start_ns": start_ns,
            "first_done_ns": min(ends),
            "last_done_ns": max(ends),
        }
        listed.append(fact | ({} if phase.requests is None else {"requests": dict(phase.requests)}))
        series.append(
            Series(str(phase.direction), "1/s", [SECOND_NS * (at + 1) for at in range(10)], [phase.rate] * 10)
        )
        start_ns += max(ends)
    return StepRecord(
        ordinal=ordinal,
        kind=StepKind.CELL,
        experiment=experiment,
        cell=settings,
        repeat=repeat,
        status=Status.FINISHED,
        engine="metadata",
        wall_ns=start_ns,
        command=("leadline-engine", "run"),
        exit_code=0,
        measurements=tuple(part for ranks in parts.values() for part in ranks),
        jobs=tuple(
            JobUse("local", rank, user, system, 0, start_ns, 0) for rank in range(len(phases[0].seconds))
        ),
        throughput=tuple(series),
        counters=SeriesTable.group(counters),
        totals=totals or {},
        facts={"phases": listed, **(facts or {})},
    )


def with_network(**known: Any) -> dict[str, Any]:
    """Facts of a step on a filesystem of the network."""
    return {"filesystem": {"type": "nfs4", "is_fuse": False, "is_network": True, "is_memory": False}, **known}


def on_fuse(**known: Any) -> dict[str, Any]:
    """Facts of a step on a FUSE filesystem."""
    return {
        "filesystem": {"type": "fuse.juicefs", "is_fuse": True, "is_network": False, "is_memory": False},
        **known,
    }
