"""Requests at the FUSE daemons of a cell's clients: how deep their queues were, and what held them back.

Counters are `fuse.<client>.waiting_requests` and, on other machines, `host.<client>.fuse.waiting_requests`; the limits of each
mount stand in the facts (run/observe/fuse_queues.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from leadline.analyse.merge import Trials
from leadline.store.records import StepRecord

_LEVEL = re.compile(r"(?:host\.(.+)\.fuse|fuse\.(.+))\.waiting_requests")


def summarise_fuse_queues(trials: Trials) -> dict[str, float]:
    """Entries of CellResult.resources: mean and most of the client (and repeat) whose queue was deepest, and its mount's limits."""
    deepest = max(
        (each for trial in trials.trials for each in _queues(trial.record)),
        key=lambda each: each["fuse_waiting_requests"],
        default={},
    )
    return dict(deepest)


def _queues(record: StepRecord) -> Iterator[dict[str, float]]:
    """Of each client. The first look comes before the load, the last one after it: neither says anything."""
    for table in record.counters:
        for name, values in zip(table.names, table.values, strict=True):
            match = _LEVEL.fullmatch(name)
            inside = values[1:-1]
            if match and inside.size:
                level = {
                    "fuse_waiting_requests": float(inside.mean()),
                    "fuse_waiting_requests_max": float(inside.max()),
                }
                yield level | _limits(record, match[1] or match[2])


def _limits(record: StepRecord, client: str) -> dict[str, float]:
    stated = _of_clients(record.facts).get(client)
    limits = stated if isinstance(stated, Mapping) else {}
    named = ((name, limits.get(name)) for name in ("max_background", "congestion_threshold"))
    return {f"fuse_{name}": float(value) for name, value in named if isinstance(value, int) and value > 0}


def _of_clients(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    stated = facts.get("fuse_queues")
    return stated if isinstance(stated, Mapping) else {}
