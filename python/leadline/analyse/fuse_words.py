"""What the queues of FUSE daemons say, in words: who waits for whom, and which of the mount's limits holds requests back."""

from __future__ import annotations

from leadline.analyse.bottleneck import Bound
from leadline.analyse.results import CellResult
from leadline.analyse.wording import digits

REACHED = 0.9
"""Of a limit: the level is looked at once a second."""
MOST = 0.6
"""Of the requests in flight: from here on they are mostly with the daemon."""


def fuse_in_words(cell: CellResult, bound: Bound | None) -> list[str]:
    """What the FUSE queue says, as parts of a sentence; nothing where it was not read. `bound`: what binds by other counters."""
    level = cell.resources.get("fuse_waiting_requests")
    if level is None:
        return []
    in_flight = cell.concurrency / (cell.together.clients if cell.together else 1)
    deep = f"the FUSE queue was {digits(level)} of {in_flight:g} requests in flight deep"
    return [f"{deep}{_reason(level, in_flight, bound)}", *_held_back(cell, level)]


def _reason(level: float, in_flight: float, bound: Bound | None) -> str:
    if in_flight < 2 or level < MOST * in_flight:
        return ""
    if bound in (None, Bound.LATENCY, Bound.CLIENT_CPU):
        return ": the client's daemon, or what it waits for, is the queue"
    return f": they wait behind the client's daemon for the {bound}"


def _held_back(cell: CellResult, level: float) -> list[str]:
    most = cell.resources.get("fuse_max_background")
    congested = cell.resources.get("fuse_congestion_threshold")
    if most and level >= REACHED * most:
        return [f"max_background ({most:g}) was reached: asynchronous requests beyond it wait in the kernel"]
    if congested and level >= congested:
        return [f"the congestion threshold ({congested:g}) was passed: the kernel holds readahead back"]
    return []
