"""Phases of a step on metadata, beside its measurements: what each was, when, and what the filesystem was asked meanwhile.

A phase is the JSON-ready table that engines/metadata.py makes of it: operation, planned, start_ns (since the first phase),
first_done_ns and first_done_operations, last_done_ns (since its own start), user_ns and system_ns (processor time of all ranks),
and requests where somebody counts them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from leadline.run.observe.requests import requests_in
from leadline.run.seams import Outcome

OF_OBJECTS = ("listed_objects", "retried")
"""Counts that only phases of requests to an object store have (engines/object_store.py)."""

Phase = Mapping[str, Any]


def with_requests_named(outcome: Outcome) -> Outcome:
    """The filesystem's counters of each phase by what they are; those that are no requests are left out."""
    if "phases" not in outcome.facts:
        return outcome
    phases = [
        {**phase, "requests": requests_in(phase["requests"])} if "requests" in phase else phase
        for phase in outcome.facts["phases"]
    ]
    return replace(outcome, facts={**outcome.facts, "phases": phases})


def put_together(of_clients: Sequence[Sequence[Phase]]) -> list[dict[str, Any]]:
    """The phases of all clients, which left each barrier together; raises ValueError when they were not the same ones."""
    return [_merged(same) for same in zip(*of_clients, strict=True)]


def _merged(same: Sequence[Phase]) -> dict[str, Any]:
    """Requests are known only where every client's are. The first to be done is the first of all; how many operations the other
    clients had done by then is not known here.
    """
    working = [phase for phase in same if phase["planned"] != 0]
    done = [phase["first_done_ns"] for phase in working if phase["first_done_ns"] is not None]
    merged = {
        "operation": same[0]["operation"],
        "planned": _planned(same),
        "start_ns": same[0]["start_ns"],
        "first_done_ns": min(done, default=None),
        "first_done_operations": working[0]["first_done_operations"] if len(working) == 1 else None,
        "last_done_ns": max(phase["last_done_ns"] for phase in same),
        "user_ns": sum(phase["user_ns"] for phase in same),
        "system_ns": sum(phase["system_ns"] for phase in same),
    }
    for name in OF_OBJECTS:
        if all(name in phase for phase in same):
            merged[name] = sum(phase[name] for phase in same)
    if all("requests" in phase for phase in same):
        requests: Counter[str] = Counter()
        for phase in same:
            requests.update(phase["requests"])
        merged["requests"] = dict(sorted(requests.items()))
    return merged


def _planned(same: Sequence[Phase]) -> int | None:
    """None where they were bound by time."""
    counts = [phase["planned"] for phase in same]
    return None if None in counts else sum(counts)
