"""Processor time of groups: of all that live in them, and of those that have ended since."""

from __future__ import annotations

from pathlib import Path

from leadline.run.observe.group_clock import GroupClock


def process(proc: Path, pid: int, user: int, system: int) -> None:
    (proc / str(pid)).mkdir(parents=True, exist_ok=True)
    fields = ["S", *["0"] * 10, str(user), str(system), *["0"] * 30]
    (proc / str(pid) / "stat").write_text(f"{pid} (a (odd) name) {' '.join(fields)}\n")


def group(path: Path, *pids: int) -> str:
    path.mkdir(exist_ok=True)
    (path / "cgroup.procs").write_text("".join(f"{pid}\n" for pid in pids))
    return str(path)


def test_all_members_of_all_folders_count_together(tmp_path: Path) -> None:
    proc = tmp_path / "proc"
    process(proc, 7, 10, 5)
    process(proc, 8, 1, 1)
    folders = (group(tmp_path / "a", 7), group(tmp_path / "b", 7, 8))
    assert GroupClock({"servers": folders}, proc).counters() == {"group.servers.cpu_ticks": 17}


def test_a_process_that_ends_keeps_what_it_had(tmp_path: Path) -> None:
    proc = tmp_path / "proc"
    process(proc, 7, 10, 0)
    process(proc, 8, 20, 0)
    folder = group(tmp_path / "a", 7, 8)
    clock = GroupClock({"servers": (folder,)}, proc)
    clock.counters()
    group(tmp_path / "a", 8)
    process(proc, 8, 25, 0)
    assert clock.counters() == {"group.servers.cpu_ticks": 35}


def test_a_group_that_is_gone_counts_nothing(tmp_path: Path) -> None:
    assert GroupClock({"client1": (str(tmp_path / "gone"),)}, tmp_path).counters() == {
        "group.client1.cpu_ticks": 0
    }
