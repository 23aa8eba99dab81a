"""Phases of metadata: what an operation has beside its metrics. mdtest's first-done and last-done rates, requests, its way.

The part of the vocabulary of results (results.py) that only cells of metadata have, and how it is read from the facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.analyse.merge import Trial, Trials, total_counts
from leadline.analyse.wording import way
from leadline.store.records import Direction, StepRecord


@dataclass(frozen=True)
class Phase:
    """One operation of a cell, all repeats; rates from totals over the repeats."""

    way: str
    """"full path", "directory-relative", "full path, io_uring": figures of different ways are never mixed."""
    planned: int | None
    """Operations that were to be done, of all repeats; None where the source does not say."""
    first_done_per_second: float | None
    """What all ranks had done when the first of them was done, over that time: while all were at work."""
    last_done_per_second: float | None
    """Everything, until the last rank was done: mdtest's rate."""
    requests: Mapping[str, int]
    """That reached the filesystem, of all repeats; empty where they were not counted."""
    requests_per_operation: Mapping[str, float]
    """By kind ("FUSE", "metadata": a filesystem may be asked at several doors, one behind the other); empty where not counted."""

    @property
    def fewest_requests(self) -> tuple[float, str] | None:
        """For each operation, at the door that was knocked at least; None where they were not counted."""
        return min(((each, kind) for kind, each in self.requests_per_operation.items()), default=None)


def describe_phase(trials: Trials) -> Phase | None:
    """None for data."""
    if not trials.direction.is_phase:
        return None
    facts = [phase_facts(trial.record, trials.direction) for trial in trials.trials]
    planned = [int(fact["planned"]) for fact in facts if _is_number(fact.get("planned"))]
    requests = total_counts(counted for fact in facts if (counted := requests_of(fact)) is not None)
    return Phase(
        way=way(trials.cell, trials.direction),
        planned=sum(planned) if len(planned) == len(facts) else None,
        first_done_per_second=_first_done(trials.trials),
        last_done_per_second=_rate(
            sum(trial.operations for trial in trials.trials), sum(trial.runtime_ns for trial in trials.trials)
        ),
        requests=requests,
        requests_per_operation=requests_per_operation(trials),
    )


def phase_facts(record: StepRecord, direction: Direction) -> Mapping[str, Any]:
    """What the record knows of the phase; empty where it knows nothing."""
    found = (entry for entry in _phases(record) if entry.get("operation") == direction)
    return next(found, {})


def _phases(record: StepRecord) -> list[Mapping[str, Any]]:
    listed = record.facts.get("phases")
    entries = listed if isinstance(listed, list | tuple) else ()
    return [entry for entry in entries if isinstance(entry, Mapping)]


def requests_of(fact: Mapping[str, Any]) -> Mapping[str, int] | None:
    """None where they were not counted."""
    counted = fact.get("requests")
    if not isinstance(counted, Mapping):
        return None
    return {str(name): int(count) for name, count in counted.items() if _is_number(count)}


def requests_per_operation(trials: Trials) -> dict[str, float]:
    """Requests that reached the filesystem over operations, by kind; empty unless every repeat was counted.

    A kind that other phases of the step have and this one lacks was not asked for: 0.
    """
    counted = [requests_of(phase_facts(trial.record, trials.direction)) for trial in trials.trials]
    known = [each for each in counted if each is not None]
    operations = sum(trial.operations for trial in trials.trials)
    if len(known) < len(counted) or not operations:
        return {}
    totals = dict.fromkeys((kind for trial in trials.trials for kind in _kinds(trial.record)), 0)
    for name, count in total_counts(known).items():
        totals[_kind(name)] += count
    return {kind: count / operations for kind, count in totals.items()}


def _kinds(record: StepRecord) -> Iterator[str]:
    """Of all phases of the step."""
    for fact in _phases(record):
        yield from (_kind(name) for name in requests_of(fact) or {})


def _kind(name: str) -> str:
    """ "FUSE lookup" -> "FUSE"; a bare name has no kind."""
    return name.rpartition(" ")[0]


def _first_done(trials: Sequence[Trial]) -> float | None:
    parts = [_until_first_done(trial) for trial in trials]
    return _rate(sum(done for done, _ in parts), sum(time_ns for _, time_ns in parts))


def _until_first_done(trial: Trial) -> tuple[float, float]:
    """Operations until the first rank was done, and that time; a rank whose own course is not known worked evenly."""
    working = [part for part in trial.measurements if part.operations and part.runtime_ns]
    if not working:
        return 0.0, 0.0
    first_ns = min(part.runtime_ns for part in working)
    counted = phase_facts(trial.record, trial.measurements[0].direction).get("first_done_operations")
    if isinstance(counted, int | float):
        return float(counted), float(first_ns)
    return sum(part.operations * first_ns / part.runtime_ns for part in working), float(first_ns)


def _rate(operations: float, time_ns: float) -> float | None:
    return operations * 1e9 / time_ns if time_ns > 0 and operations > 0 else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)
