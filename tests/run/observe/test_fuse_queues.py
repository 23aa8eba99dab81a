"""The queue of a FUSE mount: found by its connection, read where the kernel shows it, and said where it does not."""

from __future__ import annotations

import time
from pathlib import Path

from leadline.run.observe.counters import CounterSampler
from leadline.run.observe.fuse_queues import find_fuse_queue
from leadline.run.observe.machine import Machine

MOUNTS = (
    "30 1 0:{number} / /mnt/j rw - fuse.juicefs JuiceFS:x rw\n31 1 8:1 / /disk rw - {type} /dev/sda1 rw\n"
)


def machine(root: Path, connection: int | None, type: str = "ext4") -> Machine:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/mountinfo").write_text(MOUNTS.format(number=52, type=type))
    if connection is not None:
        folder = root / f"sys/fs/fuse/connections/{connection}"
        folder.mkdir(parents=True)
        for name, value in (("waiting", 5), ("max_background", 12), ("congestion_threshold", 9)):
            (folder / name).write_text(f"{value}\n")
    return Machine(root)


def test_the_connection_of_a_mount_is_named_by_its_device_number(tmp_path: Path) -> None:
    queue = find_fuse_queue(machine(tmp_path, 52), Path("/mnt/j/work"))
    assert queue is not None and queue.waiting == "/sys/fs/fuse/connections/52/waiting"
    assert (queue.max_background, queue.congestion_threshold) == (12, 9)


def test_a_filesystem_on_a_block_device_has_the_whole_number(tmp_path: Path) -> None:
    queue = find_fuse_queue(machine(tmp_path, (8 << 20) | 1, "fuseblk"), Path("/disk"))
    assert queue is not None and queue.max_background == 12


def test_what_is_no_fuse_mount_has_no_queue(tmp_path: Path) -> None:
    assert find_fuse_queue(machine(tmp_path, 52), Path("/disk")) is None


def test_where_fusectl_is_not_mounted_that_is_said_and_it_is_not_mounted_for_them(tmp_path: Path) -> None:
    queue = find_fuse_queue(machine(tmp_path, None), Path("/mnt/j"))
    assert queue is not None and queue.waiting == ""
    assert queue.facts() == {"unread": "fusectl is not mounted at /sys/fs/fuse/connections"}
    assert not (tmp_path / "sys").exists()


def test_the_level_of_a_queue_is_sampled_beside_a_step(tmp_path: Path) -> None:
    machine(tmp_path, 52)
    queues = {"client1": "/sys/fs/fuse/connections/52/waiting"}
    with CounterSampler([], [], interval_seconds=0.05, root=tmp_path, queues=queues) as sampler:
        time.sleep(0.12)
    (series,) = (each for each in sampler.series() if each.name == "fuse.client1.waiting_requests")
    assert set(series.values) == {5.0} and series.unit == "requests"
