"""Records of loads on an object store -> judged cells: the same estimates and verdicts as for everything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leadline.analyse.analysis import failures_by_cell, judge_cells
from leadline.analyse.curves import lay_lines, mark_collapses
from leadline.analyse.machine import Machine
from leadline.analyse.merge import Trials, gather_trials
from leadline.analyse.phases import phase_facts
from leadline.analyse.results import CellResult, Reference
from leadline.store.records import Direction, StepRecord

READING_ORDER = (
    Direction.OBJECT_PUT,
    Direction.OBJECT_MULTIPART_PUT,
    Direction.OBJECT_GET,
    Direction.OBJECT_HEAD,
    Direction.OBJECT_LIST,
    Direction.OBJECT_DELETE,
)


@dataclass(frozen=True)
class ObjectCell:
    """One kind of request, for objects of one size, at one concurrency."""

    result: CellResult
    object_size_bytes: int
    part_size_bytes: int | None
    objects_per_second: float | None
    """Of listings the objects that they named."""
    cpu_seconds: float
    """Processor time of the client, over all repeats."""
    retried: int

    @property
    def requests_per_cpu_second(self) -> float | None:
        """What a second of the client's processor is good for."""
        return self.result.operations / self.cpu_seconds if self.cpu_seconds > 0 else None


def judge_objects(records: Sequence[StepRecord], machine: Machine, label: str) -> list[ObjectCell]:
    """In reading order: by size, kind of request and concurrency."""
    groups = [group for group in gather_trials(records) if group.direction.is_of_objects]
    judged = judge_cells(groups, Reference(), machine, failures_by_cell(records), label)
    cells = mark_collapses(judged, lay_lines(judged))
    found = [_object_cell(cell, group) for cell, group in zip(cells, groups, strict=True)]
    return sorted(found, key=_place)


def _place(cell: ObjectCell) -> tuple[object, ...]:
    kind = READING_ORDER.index(cell.result.direction)
    return cell.part_size_bytes or 0, cell.object_size_bytes, kind, cell.result.concurrency


def _object_cell(cell: CellResult, trials: Trials) -> ObjectCell:
    facts = [phase_facts(trial.record, trials.direction) for trial in trials.trials]
    rate = cell.metrics.get("iops")
    named = sum(int(fact.get("listed_objects", 0)) for fact in facts)
    each = named / cell.operations if cell.direction is Direction.OBJECT_LIST and cell.operations else 1.0
    part = cell.cell.get("part_size")
    return ObjectCell(
        result=cell,
        object_size_bytes=int(cell.cell["object_size"]),
        part_size_bytes=int(part) if part else None,
        objects_per_second=rate.value * each if rate else None,
        cpu_seconds=sum(float(fact["user_ns"] + fact["system_ns"]) for fact in facts) / 1e9,
        retried=sum(int(fact.get("retried", 0)) for fact in facts),
    )
