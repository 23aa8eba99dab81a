"""Impossible: more than the path can carry, or bytes that never reached the devices below."""

from __future__ import annotations

from leadline.analyse.network_bytes import shaped_link
from leadline.analyse.reference import HONEST_DEVICE_SHARE
from leadline.analyse.results import Verdict, VerdictName
from leadline.analyse.verdicts.context import CellContext
from leadline.analyse.wording import bandwidth, percent

TOLERANCE = 1.02
"""Counters, clocks and nominal figures are good to 2 %."""


def above_a_limit(context: CellContext) -> Verdict | None:
    """More than 1.02 x the smallest limit on the path."""
    limits = _limits(context)
    if not limits:
        return None
    limit, name = min(limits)
    if context.bandwidth <= TOLERANCE * limit:
        return None
    evidence = (
        f"{bandwidth(context.bandwidth)} is {context.bandwidth / limit:.2f} x {name}, {bandwidth(limit)} "
        f"(at most {TOLERANCE} x)"
    )
    return Verdict(VerdictName.IMPOSSIBLE, evidence, severity=context.bandwidth / limit / TOLERANCE)


def _limits(context: CellContext) -> list[tuple[float, str]]:
    """Limits on the path with their names. A test's own limit stands in for that of its direction."""
    stated = context.reference.limits
    test, direction = str(context.trials.cell.get("rw", "")), str(context.trials.direction)
    own = test if test in stated else direction
    limits = [(stated[name], f"the stated limit for {name}") for name in (own, "network") if name in stated]
    copied = context.reference.memory_copy_bytes_per_second
    if copied:
        share = _copying_jobs(context) / context.reference.memory_copy_jobs
        limits.append((copied * max(share, 1.0), "what memory copies"))
    return [*limits, *_links(context)]


def _links(context: CellContext) -> list[tuple[float, str]]:
    """What the cables of the clients carry together, and those of the storage nodes, where the lab shaped them."""
    link = shaped_link(context.trials.first)
    if link is None or not context.machine.crosses_network or context.nic_share is None:
        return []
    clients, nodes = context.trials.hosts, context.trials.cell.get("storage_nodes")
    limits = [
        (link * clients, "the link of the client" if clients == 1 else f"the links of {clients} clients")
    ]
    if isinstance(nodes, int) and nodes > 0:
        limits.append((link * nodes, f"the links of {nodes} storage nodes"))
    return limits


def _copying_jobs(context: CellContext) -> float:
    """Jobs copy side by side, at most one a hardware thread of each machine: the limit grows with them."""
    cores = context.available_cores
    return context.trials.jobs if cores is None else min(float(context.trials.jobs), cores)


def absent_at_the_devices(context: CellContext) -> Verdict | None:
    """O_DIRECT on a filesystem with block devices below: its bytes must show there.

    Reads of unwritten extents return zeros without I/O (fallocate(2)); compressed data shows as fewer bytes.
    """
    share = context.device_share
    if not context.trials.direct or not context.machine.on_block_devices or _moves_nothing(context):
        return None
    if share is None or share >= HONEST_DEVICE_SHARE:
        return None
    cause = (
        "read from extents never written, or not from the device" if context.is_read else "written elsewhere"
    )
    evidence = (
        f"O_DIRECT, but the block devices saw {percent(share)} of the bytes (at least "
        f"{percent(HONEST_DEVICE_SHARE)}): {cause}"
    )
    return Verdict(VerdictName.IMPOSSIBLE, evidence, severity=HONEST_DEVICE_SHARE / max(share, 0.01))


def _moves_nothing(context: CellContext) -> bool:
    """fio's null engine touches no device by design."""
    return context.trials.cell.get("ioengine") == "null"
