"""Processor time of groups: of all that live in them, and of those that have ended since."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from pathlib import Path

from leadline.run.observe.group_clock import GroupClock, processor_time_ns
from leadline.run.observe.machine import Machine


def group(path: Path, *pids: int) -> str:
    path.mkdir(exist_ok=True)
    (path / "cgroup.procs").write_text("".join(f"{pid}\n" for pid in pids))
    return str(path)


def test_all_members_of_all_folders_count_together(tmp_path: Path) -> None:
    folders = (group(tmp_path / "a", 7), group(tmp_path / "b", 7, 8))
    clock = GroupClock({"servers": folders}, spent_ns={7: 15, 8: 2}.get)
    assert clock.counters() == {"group.servers.cpu_nanoseconds": 17}


def test_a_process_that_ends_keeps_what_it_had(tmp_path: Path) -> None:
    spent = {7: 10, 8: 20}
    folder = group(tmp_path / "a", 7, 8)
    clock = GroupClock({"servers": (folder,)}, spent_ns=spent.get)
    clock.counters()
    group(tmp_path / "a", 8)
    spent[8] = 25
    assert clock.counters() == {"group.servers.cpu_nanoseconds": 35}


def test_a_quota_is_counted_by_the_periods_in_which_it_ran_out(
    tmp_path: Path, recorded: Callable[[str], Path]
) -> None:
    root = recorded("limited_container")
    (root / "proc/7").mkdir()
    (root / "proc/7/cgroup").write_text((root / "proc/self/cgroup").read_text())
    statistics = root / "sys/fs/cgroup/cpu,cpuacct/cpu.stat"
    clock = GroupClock({"servers": (group(tmp_path / "a", 7),)}, Machine(root), spent_ns={7: 15}.get)
    for periods in (3, 4):
        statistics.write_text(f"nr_periods 9\nnr_throttled {periods}\nthrottled_time 800\n")
        assert clock.counters() == {
            "group.servers.cpu_nanoseconds": 15,
            "group.servers.throttled_microseconds": periods * 100_000,
        }


def test_a_group_that_is_gone_counts_nothing(tmp_path: Path) -> None:
    assert GroupClock({"client1": (str(tmp_path / "gone"),)}).counters() == {
        "group.client1.cpu_nanoseconds": 0
    }


def test_a_process_clock_is_finer_than_a_tick_and_agrees_with_the_kernels_own_count() -> None:
    pid = os.getpid()
    earlier, before, later = time.process_time_ns(), processor_time_ns(pid), time.process_time_ns()
    assert before is not None and earlier <= before <= later
    until = time.process_time_ns() + 3_000_000  # a third of a tick
    while time.process_time_ns() < until:
        pass
    earlier_seconds, after, later_seconds = used_seconds(), processor_time_ns(pid), used_seconds()
    assert after is not None and after - before >= 3_000_000
    assert earlier_seconds - 0.05 <= after / 1e9 <= later_seconds + 0.05


def used_seconds() -> float:
    """By the kernel's own count."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def test_a_process_that_never_was_has_no_clock() -> None:
    largest = int(Path("/proc/sys/kernel/pid_max").read_text())
    assert processor_time_ns(largest) is None
