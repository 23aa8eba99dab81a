"""Processor time of groups of processes: the servers of a lab, and what mounts for each of its clients.

A group is a leash of the lab, whose members are read anew at each look. The kernel's own count (cpuacct) would need each process in a
group of that controller as well; /proc/<pid>/stat (proc_pid_stat(5)) tells it of every process that lives, its threads included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

USER_TICKS, SYSTEM_TICKS = 11, 12
"""Fields of /proc/<pid>/stat after the name."""


@dataclass
class GroupClock:
    """Ticks that only ever grow: a process that ends keeps what it had at the last look."""

    groups: Mapping[str, Sequence[str]]
    """Name -> folders of control groups."""
    proc: Path = Path("/proc")
    _seen: dict[str, dict[int, int]] = field(default_factory=dict)

    def counters(self) -> dict[str, int]:
        """`group.<name>.cpu_ticks`."""
        return {
            f"group.{name}.cpu_ticks": self._ticks(name, folders) for name, folders in self.groups.items()
        }

    def _ticks(self, name: str, folders: Sequence[str]) -> int:
        seen = self._seen.setdefault(name, {})
        for pid in _members(folders):
            spent = self._spent(pid)
            if spent is not None:
                seen[pid] = max(spent, seen.get(pid, 0))
        return sum(seen.values())

    def _spent(self, pid: int) -> int | None:
        try:
            fields = (self.proc / str(pid) / "stat").read_text().rpartition(") ")[2].split()
            return int(fields[USER_TICKS]) + int(fields[SYSTEM_TICKS])
        except (OSError, IndexError, ValueError):  # it has ended
            return None


def _members(folders: Sequence[str]) -> set[int]:
    pids: set[int] = set()
    for folder in folders:
        try:
            pids.update(int(word) for word in (Path(folder) / "cgroup.procs").read_text().split())
        except OSError:  # the group has gone
            continue
    return pids
