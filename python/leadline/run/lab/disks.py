"""A disk of its own for each storage node of a distributed target: image, loop device, ext4, mount.

Nodes that shared one filesystem could not be filled or slowed down one by one, and each would count the space of the others as its own.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from leadline.errors import UserError
from leadline.run.lab.laboratory import Laboratory
from leadline.run.lab.state import storage_root

KIND = "ext4"
NEEDS = {"mkfs.ext4": "e2fsprogs"}
# What mkfs leaves to a kernel thread would write in the background of the first cells; nobody needs a reserve for root here.
MAKE = ("mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard")
ROOM = 1.25
"""Image bytes a byte of data, as for the local filesystems."""
ROOM_FLOOR_BYTES = 512 << 20
"""Journal and inode tables, and what a storage server leaves free by itself."""


@dataclass(frozen=True)
class Disk:
    """The disk of one storage node."""

    device: Path
    """To be throttled by its number."""
    point: Path


def make_disks(lab: Laboratory, storage: Path, nodes: int, data_bytes: int) -> tuple[Disk, ...]:
    """One for each node, each big enough for all of the data: where a target puts what is its own affair."""
    size_bytes = round(data_bytes * ROOM) + ROOM_FLOOR_BYTES
    check_free(nodes, data_bytes, size_bytes)
    return tuple(_make_disk(lab, storage, number, size_bytes) for number in range(1, nodes + 1))


def _make_disk(lab: Laboratory, storage: Path, number: int, size_bytes: int) -> Disk:
    device = lab.loop(lab.image(storage, size_bytes, f"disk{number}.img"))
    lab.run(*MAKE, device)
    # Not beside the journal in /run: a server may have a /run of its own.
    point = lab.inside(storage, f"disk{number}")
    lab.mount(str(device), point, KIND)
    return Disk(device, point)


def check_free(nodes: int, data_bytes: int, size_bytes: int) -> None:
    """The images are sparse, but replicas may fill all of them."""
    status = os.statvfs(storage_root())
    free_bytes = status.f_bavail * status.f_frsize
    if nodes * size_bytes > free_bytes:
        raise UserError(
            f"{storage_root()} has {free_bytes / 2**30:.1f} GiB free and {nodes} disks for {data_bytes / 2**30:.1f} GiB of data "
            f"each need {size_bytes / 2**30:.1f} GiB; make room, scale the campaign down, or let LEADLINE_LAB_STORAGE "
            "name another disk"
        )
