"""What a phase of requests to an object store has beside its metrics: entries of CellResult.resources."""

from __future__ import annotations

from leadline.analyse.merge import Trials
from leadline.analyse.phases import phase_facts
from leadline.store.records import Cell

CPU_SECONDS = "client_cpu_seconds"
INSTANCES = "client_instances"
LISTED = "listed_objects"
RETRIED = "retried_requests"


def object_use(trials: Trials) -> dict[str, float]:
    """Over all repeats: the client's processor time, objects that listings named, requests made again. Empty for others."""
    if not trials.direction.is_of_objects:
        return {}
    facts = [phase_facts(trial.record, trials.direction) for trial in trials.trials]
    spent_ns = sum(float(fact.get("user_ns", 0)) + float(fact.get("system_ns", 0)) for fact in facts)
    found = {
        CPU_SECONDS: spent_ns / 1e9,
        INSTANCES: len(trials.first.jobs) / trials.hosts,
        LISTED: float(sum(int(fact.get("listed_objects", 0)) for fact in facts)),
        RETRIED: float(sum(int(fact.get("retried", 0)) for fact in facts)),
    }
    return {name: value for name, value in found.items() if value or name != LISTED}


def is_on_objects(cell: Cell) -> bool:
    """Whether a cell is one of an object store, whatever came of it."""
    return "object_size" in cell or "checks" in cell
