"""The phases in results of the metadata workload (schemas/engine_result.schema.json): ranks put together, of one host or of several.

Ranks of all hosts leave a phase's barrier together, so times since then are laid over each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leadline.store.histogram import Histogram


@dataclass(frozen=True)
class Phase:
    """One phase of one iteration, of all ranks together."""

    iteration: int
    operation: str
    """What was done to what: "file create"."""
    planned: int
    operations: int
    """That succeeded: only these are in the rates and in the latency."""
    errors: Mapping[str, int]
    """By the errno's name."""
    rate_last_done: float | None
    """Operations a second until the last rank was done: mdtest's rate. None when nothing succeeded."""
    rate_first_done: float | None
    latency: Histogram
    """Empty when nothing succeeded."""


def phases_of(*documents: Mapping[str, Any]) -> tuple[Phase, ...]:
    """The phases in the order in which they ran, from the results of all hosts."""
    several = zip(*(document["phases"] for document in documents), strict=True)
    return tuple(_phase(same) for same in several)


def _phase(same: Sequence[Mapping[str, Any]]) -> Phase:
    operations = sum(each["operations"] for each in same)
    last_ns = max(each["last_done"]["at_ns"] for each in same)
    errors: dict[str, int] = {}
    for error in (error for each in same for error in each["errors"]):
        errors[error["name"]] = errors.get(error["name"], 0) + error["count"]
    return Phase(
        iteration=same[0]["iteration"],
        operation=f"{same[0]['kind']} {same[0]['action']}",
        planned=sum(each["planned"] for each in same),
        operations=operations,
        errors=errors,
        rate_last_done=_rate(operations, last_ns),
        rate_first_done=_rate_first_done(same),
        latency=Histogram.merge(
            Histogram.from_bins(dict(rank["latency"]["bins"])) for each in same for rank in each["ranks"]
        ),
    )


def _rate_first_done(same: Sequence[Mapping[str, Any]]) -> float | None:
    """Of all ranks when the first of them was done. A host knows that exactly of its own ranks; what those of other hosts had done
    by then lies between two points of their series.
    """
    firsts = [each["first_done"] for each in same if each["first_done"]]
    if not firsts:
        return None
    first_ns = min(first["at_ns"] for first in firsts)
    done = [
        each["first_done"]["operations"]
        if each["first_done"] and each["first_done"]["at_ns"] == first_ns
        else _done_until(each["series"], first_ns)
        for each in same
    ]
    return _rate(sum(done), first_ns)


def _done_until(series: Sequence[Mapping[str, int]], moment_ns: int) -> float:
    ends = [0, *(interval["end_ns"] for interval in series)]
    totals = np.cumsum([0, *(interval["operations"] for interval in series)])
    return float(np.interp(moment_ns, ends, totals))


def _rate(operations: float, until_ns: int) -> float | None:
    return operations * 1e9 / until_ns if operations and until_ns else None
