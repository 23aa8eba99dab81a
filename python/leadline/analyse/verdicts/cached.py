"""Cached: the figure is that of a cache on the way, not of what lies below it."""

from __future__ import annotations

import numpy as np

from leadline.analyse.network_bytes import HONEST_NIC_SHARE
from leadline.analyse.reference import HONEST_DEVICE_SHARE
from leadline.analyse.results import Verdict, VerdictName
from leadline.analyse.verdicts.context import CellContext
from leadline.analyse.wording import bandwidth, latency, percent, size

SECOND_PASS = 1.5
NOISE_FLOORS = 3
"""Repeats of one cell on a noisy machine lie a few noise floors apart without any cache."""
LARGEST_SHARE_BELOW_FLOOR = 1 - HONEST_DEVICE_SHARE


def dataset_fits_memory(context: CellContext) -> Verdict | None:
    """Buffered reads of a dataset smaller than memory, with caches not dropped before.

    An engine that goes past the mount meets no cache of this kernel.
    """
    dataset, memory = context.facts.get("dataset_bytes"), context.caching_memory_bytes
    uncached = context.trials.direct or context.facts.get("caches") == "dropped" or context.machine.access
    if not context.is_read or uncached or not dataset or not memory:
        return None
    if dataset >= memory:
        return None
    reason = context.facts.get("caches_reason")
    kept = f"were not dropped ({reason})" if reason else "were not dropped"
    evidence = f"buffered reads of {size(dataset)} where memory holds {size(memory)}, and caches {kept}"
    return Verdict(VerdictName.CACHED, evidence, severity=memory / dataset)


def not_from_the_devices(context: CellContext) -> Verdict | None:
    """Reads that may be cached, also O_DIRECT ones on FUSE or the network, and that devices hardly saw."""
    machine = context.machine
    may_be_cached = not context.trials.direct or machine.is_fuse or machine.crosses_network
    share = context.device_share if context.is_read and may_be_cached else None
    if share is None or share >= HONEST_DEVICE_SHARE:
        return None
    evidence = (
        f"{_who_cached(context)}: the block devices saw {percent(share)} of the bytes (at least "
        f"{percent(HONEST_DEVICE_SHARE)})"
    )
    return Verdict(VerdictName.CACHED, evidence, severity=HONEST_DEVICE_SHARE / max(share, 0.01))


def _who_cached(context: CellContext) -> str:
    """Where the bytes crossed the network, it was the servers."""
    if context.nic_share is not None and context.nic_share >= HONEST_NIC_SHARE:
        return "answered from the memory of the servers"
    if context.trials.direct:
        return f"O_DIRECT is not honoured by {context.machine.name}"
    return "buffered reads"


def not_over_the_network(context: CellContext) -> Verdict | None:
    """A network filesystem whose clients' NICs carried fewer bytes than the application moved: a cache of the client.

    Bytes that showed at the block devices came from no cache, whatever way they took. More bytes than the application's
    are no verdict: replicas and readahead make them. Writes that nothing flushed are incomplete instead.
    """
    share, unflushed = context.nic_share, context.facts.get("buffered_without_flush")
    if share is None or share >= HONEST_NIC_SHARE or (unflushed and not context.is_read):
        return None
    if context.device_share is not None and context.device_share >= HONEST_DEVICE_SHARE:
        return None
    what = "received {} of the bytes read" if context.is_read else "sent {} of the bytes written"
    evidence = (
        f"the NICs of the clients {what.format(percent(share))} (at least {percent(HONEST_NIC_SHARE)}): "
        f"{'a cache of the client answered' if context.is_read else 'the rest still lay in a cache of the client'}"
    )
    return Verdict(VerdictName.CACHED, evidence, severity=HONEST_NIC_SHARE / max(share, 0.01))


def faster_than_the_device(context: CellContext) -> Verdict | None:
    """Random reads of which more than a tenth came back faster than the device ever answered in this run.

    The floor is the fastest O_DIRECT read of this target whose bytes were seen at the devices. Sequential buffered reads
    may honestly beat it by readahead, so they are left alone.
    """
    target = context.trials.cell.get("target", "")
    floor_ns, histogram = context.reference.device_read_floors_ns.get(str(target)), context.result.histogram
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
    limit = max(SECOND_PASS, 1 + NOISE_FLOORS * (context.result.noise_floor or 0.0))
    if ratio <= limit:
        return None
    evidence = (
        f"the first repeat read {bandwidth(passes[0])}, a later one {bandwidth(max(passes[1:]))}: "
        f"{ratio:.2f} x "
        f"(at most {limit:.3g} x)"
    )
    return Verdict(VerdictName.CACHED, evidence, severity=ratio / limit)
