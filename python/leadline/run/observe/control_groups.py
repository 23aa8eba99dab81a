"""The share of the machine that our control group may use: the tightest limit from our group up to the root; and how long a quota held.

Source: kernel Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/. Version 1 and 2 may be mounted side
by side, so both are read and the smaller limit counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from leadline.run.observe.machine import Machine
from leadline.run.observe.mounts import Mount, read_mounts

UNLIMITED_BYTES = 1 << 60
"""Version 1 says "no limit" with a number near 2**63, rounded to pages."""


@dataclass(frozen=True)
class GroupLimits:
    """None where nothing limits."""

    versions: tuple[int, ...]
    cpu_cores: float | None
    memory_bytes: int | None


@dataclass(frozen=True)
class Quota:
    """Processor time that a control group is given anew in every period."""

    directory: PurePosixPath
    period_us: int

    def throttled_us(self, machine: Machine) -> int:
        """The periods so far in which it ran out and somebody was stopped (kernel Documentation/scheduler/sched-bwc.rst, nr_throttled).

        Some of it may be left over all the same: each core keeps a slice for a moment.
        """
        counts = machine.fields(self.directory / "cpu.stat", separator=" ")
        return int(counts.get("nr_throttled", "0")) * self.period_us


def read_group_limits(machine: Machine) -> GroupLimits:
    """What the control groups of this process allow it."""
    versions: set[int] = set()
    cores: list[float] = []
    memory: list[int] = []
    for controllers, group, mount in _memberships(machine):
        unified = mount.type == "cgroup2"
        versions.add(2 if unified else 1)
        for directory in _upward(mount, group):
            if unified or "cpu" in controllers:
                cores.extend(_cpu_limit(machine, directory, unified))
            if unified or "memory" in controllers:
                memory.extend(_memory_limit(machine, directory, unified))
    return GroupLimits(tuple(sorted(versions)), min(cores, default=None), min(memory, default=None))


def quota_of(machine: Machine, pid: int) -> Quota | None:
    """Of the control group that a process lives in; None where nothing limits it."""
    for controllers, group, mount in _memberships(machine, pid):
        unified = mount.type == "cgroup2"
        if unified or "cpu" in controllers:
            directory = next(_upward(mount, group))
            if _cpu_limit(machine, directory, unified):
                return Quota(directory, _period_us(machine, directory, unified))
    return None


def _memberships(machine: Machine, pid: int | None = None) -> Iterator[tuple[set[str], PurePosixPath, Mount]]:
    """Each hierarchy a process belongs to, ourselves if none is named: its controllers, its group in it, and where it is mounted."""
    mounts = [mount for mount in read_mounts(machine) if mount.type in ("cgroup", "cgroup2")]
    text = (
        machine.text("/proc/self/cgroup", "control group limits")
        if pid is None
        else machine.text(f"/proc/{pid}/cgroup")
    )
    for line in (text or "").splitlines():
        identifier, _, rest = line.partition(":")
        names, _, group = rest.partition(":")
        controllers = set(filter(None, names.split(",")))
        for mount in mounts:
            is_unified = mount.type == "cgroup2"
            if is_unified == (identifier == "0" and not controllers) and (
                is_unified or controllers <= set(mount.super_options)
            ):
                yield controllers, PurePosixPath(group), mount
                break


def _upward(mount: Mount, group: PurePosixPath) -> Iterator[PurePosixPath]:
    """Our group's directory and every one above it, as far as this mount shows them."""
    inside = group.relative_to(mount.root) if group.is_relative_to(mount.root) else PurePosixPath()
    directory = mount.point / inside
    yield directory
    while directory != mount.point:
        directory = directory.parent
        yield directory


def _cpu_limit(machine: Machine, directory: PurePosixPath, unified: bool) -> list[float]:
    if unified:
        quota = (machine.text(directory / "cpu.max") or "max").partition(" ")[0]
    else:
        quota = machine.text(directory / "cpu.cfs_quota_us") or "-1"
    period_us = _period_us(machine, directory, unified)
    return [int(quota) / period_us] if quota.isdigit() and period_us else []


def _period_us(machine: Machine, directory: PurePosixPath, unified: bool) -> int:
    """In which a quota is given out anew; 0 where the group has none to give."""
    if unified:
        period = (machine.text(directory / "cpu.max") or "").partition(" ")[2]
    else:
        period = machine.text(directory / "cpu.cfs_period_us") or ""
    return int(period) if period.isdigit() else 0


def _memory_limit(machine: Machine, directory: PurePosixPath, unified: bool) -> list[int]:
    limit = machine.text(directory / ("memory.max" if unified else "memory.limit_in_bytes")) or "max"
    return [int(limit)] if limit.isdigit() and int(limit) < UNLIMITED_BYTES else []
