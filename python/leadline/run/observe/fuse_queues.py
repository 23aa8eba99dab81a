"""Requests that wait at a FUSE filesystem's daemon, or that it works on: what the kernel shows of each connection.

Source: kernel Documentation/filesystems/fuse/fuse.rst, "Control filesystem". It is read where it is mounted and never mounted here:
a user's machine stays as it is. Only background requests (readahead, writeback, asynchronous direct I/O) are held back by
`max_background`; calls that wait for their answer are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.run.observe.machine import Machine
from leadline.run.observe.mounts import find_mount

CONNECTIONS = "/sys/fs/fuse/connections"
GAUGE = "waiting_requests"
MINOR_BITS = 20
"""Of the kernel's own device numbers, by which connections are named; only `fuseblk` has a major."""


@dataclass(frozen=True)
class FuseQueue:
    """The queue of one mount."""

    waiting: str
    """The file that holds how many requests wait or are worked on; empty where it cannot be read."""
    max_background: int | None = None
    congestion_threshold: int | None = None
    why: str = ""
    """Why it cannot be read."""

    def facts(self) -> dict[str, Any]:
        """For the record of a step: what its level is to be read against."""
        if self.why:
            return {"unread": self.why}
        return {"max_background": self.max_background, "congestion_threshold": self.congestion_threshold}


def find_fuse_queue(machine: Machine, directory: Path) -> FuseQueue | None:
    """Of the mount that a directory lies on; None where it is no FUSE mount."""
    mount = find_mount(machine, directory)
    if mount is None or not mount.is_fuse:
        return None
    major, minor = (int(part) for part in mount.device.split(":"))
    folder = f"{CONNECTIONS}/{major << MINOR_BITS | minor}"
    if machine.integer(f"{folder}/waiting") is None:
        return FuseQueue("", why=_why(machine, folder))
    most, congested = (
        machine.integer(f"{folder}/{name}") for name in ("max_background", "congestion_threshold")
    )
    return FuseQueue(f"{folder}/waiting", most, congested)


def read_queues(machine: Machine, queues: Mapping[str, str]) -> dict[str, float]:
    """Gauges by name; what cannot be read (any more) is not there."""
    levels = {name: machine.integer(path) for name, path in queues.items()}
    return {name: float(level) for name, level in levels.items() if level is not None}


def _why(machine: Machine, folder: str) -> str:
    if not machine.names(CONNECTIONS):
        return f"fusectl is not mounted at {CONNECTIONS}"
    return f"{folder}/waiting may not be read by this user"
