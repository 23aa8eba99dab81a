"""A target that makes one of each resource, what any real one is put together from; and how tests look at labs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from leadline.run.lab.conditions import DiskLimits, limit, lose_packets, shape_link
from leadline.run.lab.laboratory import Laboratory, Wishes
from leadline.run.lab.state import LabState, Ready

SERVER = ("sh", "-c", "sleep 1000 & exec sleep 1000")
"""With a child of its own, as servers have."""
CLIENT = "mount -t tmpfs leadline"
"""What it leaves behind keeps its output open, as some FUSE clients do."""


@dataclass(frozen=True)
class Everything:
    """Image, loop, mount, a mount by a command, hosts, links under conditions, a limited group and a server in it."""

    summary: str = "for tests"
    needs: Mapping[str, str] = field(default_factory=dict)

    def up(self, lab: Laboratory, wishes: Wishes) -> Ready:
        device = lab.loop(lab.image(lab.storage(), 64 << 20))
        lab.run("mkfs.ext4", "-q", device)
        lab.mount(str(device), lab.folder("mount"), "ext4")
        point = lab.folder("by-command")
        lab.mount_by(("sh", "-c", f"{CLIENT} {point}; sleep 1000 &"), point, "tmpfs", "client")
        network = lab.network(2)
        shape_link(lab.journal, network.hosts[0], 50_000_000)
        lose_packets(lab.journal, network.hosts[1], 1)
        disks = {Path(device): DiskLimits(read_iops=100)}
        group = limit(lab.journal, f"{lab.state.prefix}-limits", cores=0.5, disks=disks)
        lab.start("server", SERVER, network.hosts[0], group)
        return Ready(str(point), "tmpfs")


EVERYTHING = Everything()
WISHES = Wishes(1 << 20)


def eventually(true: Callable[[], bool], within_seconds: float = 60.0) -> bool:
    """Whether it becomes true in time; returns as soon as it is. Long, because a busy machine may stand still for seconds."""
    until = time.monotonic() + within_seconds
    while not true():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def kinds(state: LabState) -> list[str]:
    """The kinds of the resources that a lab has made, in order."""
    events = map(json.loads, state.journal.read_text().splitlines())
    return [event["kind"] for event in events if event["event"] == "intended"]


def is_load_at_work(process: Path) -> bool:
    """Whether a process, as /proc/PID, is a load of the engine's that has passed the first barrier: until then it has one thread."""
    try:
        words = (process / "cmdline").read_bytes().split(b"\0")
        return words[1:2] == [b"run"] and len(list((process / "task").iterdir())) > 1
    except OSError:
        return False
