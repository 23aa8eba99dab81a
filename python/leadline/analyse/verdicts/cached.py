"""Cached: the figure is that of a cache on the way, not of what lies below it."""

from __future__ import annotations

import numpy as np

from leadline.analyse.reference import HONEST_DEVICE_SHARE
from leadline.analyse.results import Verdict, VerdictName
from leadline.analyse.verdicts.context import CellContext
from leadline.analyse.wording import bandwidth, latency, percent, size

SECOND_PASS = 1.5
NOISE_FLOORS = 3
"""Repeats of one cell on a noisy machine lie a few noise floors apart without any cache."""
LARGEST_SHARE_BELOW_FLOOR = 1 - HONEST_DEVICE_SHARE


def dataset_fits_memory(context: CellContext) -> Verdict | None:
    """Buffered reads of a dataset smaller than memory, with caches not dropped before."""
    dataset, memory = context.facts.get("dataset_bytes"), context.machine.memory_bytes
    dropped = context.facts.get("caches") == "dropped"
    if not context.is_read or context.trials.direct or dropped or not dataset or not memory:
        return None
    if dataset >= memory:
        return None
    reason = context.facts.get("caches_reason")
    kept = f"were not dropped ({reason})" if reason else "were not dropped"
    evidence = f"buffered reads of {size(dataset)} where memory holds {size(memory)}, and caches {kept}"
    return Verdict(VerdictName.CACHED, evidence, severity=memory / dataset)


def not_from_the_devices(context: CellContext) -> Verdict | None:
    """Reads that may be cached, also O_DIRECT ones on FUSE or the network, and that devices hardly saw."""
    may_be_cached = not context.trials.direct or context.machine.is_fuse or context.machine.is_network
    share = context.device_share if context.is_read and may_be_cached else None
    if share is None or share >= HONEST_DEVICE_SHARE:
        return None
    what = (
        f"O_DIRECT is not honoured by {context.machine.filesystem}"
        if context.trials.direct
        else "buffered reads"
    )
    evidence = (
        f"{what}: the block devices saw {percent(share)} of the bytes (at least "
        f"{percent(HONEST_DEVICE_SHARE)})"
    )
    return Verdict(VerdictName.CACHED, evidence, severity=HONEST_DEVICE_SHARE / max(share, 0.01))


def faster_than_the_device(context: CellContext) -> Verdict | None:
    """Random reads of which more than a tenth came back faster than the device ever answered in this run.

    The floor is the fastest O_DIRECT read whose bytes were seen at the devices. Sequential buffered reads
    may honestly beat it by readahead, so they are left alone.
    """
    floor_ns, histogram = context.reference.device_read_floor_ns, context.result.histogram
    is_random = str(context.trials.cell.get("rw", "")).startswith("rand")
    if floor_ns is None or histogram is None or not context.is_read or not is_random:
        return None
    faster = int(histogram.counts[: np.searchsorted(histogram.values_ns, floor_ns)].sum()) / histogram.total
    if faster <= LARGEST_SHARE_BELOW_FLOOR:
        return None
    evidence = (
        f"{percent(faster)} of the reads took less than {latency(floor_ns)}, the fastest confirmed "
        "answer of the device "
        f"(at most {percent(LARGEST_SHARE_BELOW_FLOOR)})"
    )
    return Verdict(VerdictName.CACHED, evidence, severity=faster / LARGEST_SHARE_BELOW_FLOOR)


def second_pass_faster(context: CellContext) -> Verdict | None:
    """A later repeat reads far faster than the first, beyond what this machine does by itself: the first filled a cache."""
    passes = [trial.bandwidth_bytes_per_second for trial in context.trials.trials]
    if not context.is_read or len(passes) < 2 or passes[0] <= 0:
        return None
    ratio = max(passes[1:]) / passes[0]
    limit = max(SECOND_PASS, 1 + NOISE_FLOORS * (context.reference.noise_floor or 0.0))
    if ratio <= limit:
        return None
    evidence = (
        f"the first repeat read {bandwidth(passes[0])}, a later one {bandwidth(max(passes[1:]))}: "
        f"{ratio:.2f} x "
        f"(at most {limit:.3g} x)"
    )
    return Verdict(VerdictName.CACHED, evidence, severity=ratio / limit)
