"""Verdicts on what is done to names: answers out of the client's cache, and operations that failed."""

from __future__ import annotations

import numpy as np

from leadline.analyse.results import Verdict, VerdictName
from leadline.analyse.verdicts.context import CellContext
from leadline.analyse.wording import count, digits, failures, latency, percent
from leadline.store.records import Direction

LOOKING = (Direction.DIRECTORY_STAT, Direction.FILE_STAT, Direction.FILE_READ)
"""What changes nothing, so that a cache of the client may answer it."""
LEAST_REQUESTS = 0.9
"""Requests for each operation, as for bytes: the tenth below is left to what a counter may miss."""
CROSSING_NS = 2_000
"""No process asks another and hears back in less: the fastest of 30,000 bytes that went to and fro through pipes took 2.04 us
(two vCPUs, Linux 6.18)."""
LARGEST_SHARE_BELOW = 0.1


def fewer_requests(context: CellContext) -> Verdict | None:
    """A stat or an open on a filesystem beyond a process or a network, for which hardly a request went out."""
    phase = context.result.phase
    fewest = phase.fewest_requests if phase and _must_cross(context) else None
    if fewest is None or fewest[0] >= LEAST_REQUESTS:
        return None
    known, kind = fewest
    requests = f"{kind} requests" if kind else "requests"
    evidence = (
        f"{count(known * context.result.operations)} {requests} reached {context.machine.name} for "
        f"{count(context.result.operations)} operations, {digits(known)} each (at least {LEAST_REQUESTS}): "
        "a cache of the client answered the others"
    )
    return Verdict(VerdictName.CACHED, evidence, severity=LEAST_REQUESTS / max(known, 0.01))


def faster_than_a_crossing(context: CellContext) -> Verdict | None:
    """Where requests were not counted: answers that came back sooner than any other process could give them."""
    phase, histogram = context.result.phase, context.result.histogram
    counted = phase is None or phase.fewest_requests is not None
    if counted or histogram is None or not _must_cross(context):
        return None
    below = int(histogram.counts[: np.searchsorted(histogram.values_ns, CROSSING_NS)].sum()) / histogram.total
    if below <= LARGEST_SHARE_BELOW:
        return None
    evidence = (
        f"{percent(below)} of the operations took less than {latency(CROSSING_NS)} (at most "
        f"{percent(LARGEST_SHARE_BELOW)}): no request to {context.machine.name} and back is that fast, so a cache of the "
        "client answered"
    )
    return Verdict(VerdictName.CACHED, evidence, severity=below / LARGEST_SHARE_BELOW)


def _must_cross(context: CellContext) -> bool:
    beyond = context.machine.is_fuse or context.machine.crosses_network
    return beyond and context.trials.direction in LOOKING


def failed_operations(context: CellContext) -> Verdict | None:
    """Any failure: the rate is then that of the others, and the work was not the one asked for."""
    failed = sum(context.result.failed.values())
    if not failed:
        return None
    tried = context.result.operations + failed
    evidence = f"{failed:,} of {tried:,} operations failed ({failures(context.result.failed)}); they are in no rate and no latency"
    return Verdict(VerdictName.FAILED_OPERATIONS, evidence, severity=1 + failed / tried)
