"""Processor time of groups of processes: the servers of a lab, and what mounts for each of its clients; how long a quota held them back.

A group is a leash of the lab, whose members are read anew at each look. The kernel's own count (cpuacct) would need each process in a
group of that controller as well; the processor clock that every living process has tells it to the nanosecond, its threads included.
The ticks of proc_pid_stat(5) would not do: servers held to 0.04 cores use six of them in a second and a half.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from leadline.run.observe.control_groups import Quota, quota_of
from leadline.run.observe.machine import Machine


def processor_time_ns(pid: int) -> int | None:
    """What all threads of a process have used; None when it has ended."""
    clock = (~pid << 3) | 2  # as clock_getcpuclockid(3) makes it; Python has that call for threads only
    try:
        return time.clock_gettime_ns(clock)
    except OSError:
        return None


@dataclass
class GroupClock:
    """Times that only ever grow: a process that ends keeps what it had at the last look."""

    groups: Mapping[str, Sequence[str]]
    """Name -> folders of control groups."""
    machine: Machine = field(default_factory=Machine)
    spent_ns: Callable[[int], int | None] = processor_time_ns
    _seen: dict[str, dict[int, int]] = field(default_factory=dict)
    _quotas: dict[int, Quota | None] = field(default_factory=dict)

    def counters(self) -> dict[str, int]:
        """`group.<name>.cpu_nanoseconds`; under a quota `.throttled_microseconds`, in whole periods of it."""
        found: dict[str, int] = {}
        for name, folders in self.groups.items():
            pids = _members(folders)
            found[f"group.{name}.cpu_nanoseconds"] = self._spent(name, pids)
            quotas = {quota for pid in pids if (quota := self._quota(pid)) is not None}
            if quotas:
                throttled = max(quota.throttled_us(self.machine) for quota in quotas)
                found[f"group.{name}.throttled_microseconds"] = throttled
        return found

    def _quota(self, pid: int) -> Quota | None:
        """Found once: nobody moves while a load runs."""
        if pid not in self._quotas:
            self._quotas[pid] = quota_of(self.machine, pid)
        return self._quotas[pid]

    def _spent(self, name: str, pids: set[int]) -> int:
        seen = self._seen.setdefault(name, {})
        for pid in pids:
            spent = self.spent_ns(pid)
            if spent is not None:
                seen[pid] = max(spent, seen.get(pid, 0))
        return sum(seen.values())


def _members(folders: Sequence[str]) -> set[int]:
    pids: set[int] = set()
    for folder in folders:
        try:
            pids.update(int(word) for word in (Path(folder) / "cgroup.procs").read_text().split())
        except OSError:  # the group has gone
            continue
    return pids
