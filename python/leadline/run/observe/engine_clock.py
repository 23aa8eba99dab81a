"""Processor time of the load generators and of everything they started.

A process that ends hands its time to the parent that waits for it (cutime and cstime in proc_pid_stat(5)), so
the sum over a living tree never loses a job. When the first process of a tree is gone, what it used up to the
last look stays counted.
"""

from __future__ import annotations

from leadline.run.observe.machine import Machine


class EngineClock:
    """Ticks that the watched process trees have used since each was first watched."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._begun: dict[int, int] = {}
        self._used: dict[int, int] = {}

    @property
    def is_watching(self) -> bool:
        return bool(self._begun)

    def watch(self, pid: int) -> None:
        """Count this process and its descendants from now on."""
        self._begun.setdefault(pid, self._tree_ticks(pid))
        self._used.setdefault(pid, 0)

    def ticks(self) -> int:
        """Ticks used by all watched trees; never falls."""
        for pid, begun in self._begun.items():
            self._used[pid] = max(self._used[pid], self._tree_ticks(pid) - begun)
        return sum(self._used.values())

    def _tree_ticks(self, pid: int) -> int:
        stat = self._machine.text(f"/proc/{pid}/stat")
        if stat is None:
            return 0
        # The command in parentheses may hold blanks and parentheses: count columns after the last one.
        columns = stat.rpartition(")")[2].split()
        own_and_reaped = sum(int(column) for column in columns[11:15])
        return own_and_reaped + sum(self._tree_ticks(child) for child in self._children(pid))

    def _children(self, pid: int) -> list[int]:
        """fio forks its jobs from its first thread, so that thread's children are all there are."""
        children = self._machine.text(f"/proc/{pid}/task/{pid}/children")
        return [int(child) for child in (children or "").split()]
