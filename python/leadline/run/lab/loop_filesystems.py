"""Local filesystems of the lab: ext4, xfs and btrfs on a loop device with direct I/O, and tmpfs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from leadline.errors import UserError, did_you_mean
from leadline.run.lab.laboratory import Laboratory, Wishes
from leadline.run.lab.state import Ready, storage_root

WORK = "work"
ROOM = 1.25
"""Image bytes a byte of data: metadata, journal, and the reserve that filesystems need to stay fast."""
ROOM_FLOOR_BYTES = 512 << 20
"""xfs wants 300 MiB for itself, btrfs some of it twice."""

MEMORY_FLOOR_BYTES = 16 << 20
NO_NETWORK = "it is a filesystem of this machine alone"


@dataclass(frozen=True)
class LoopFilesystem:
    """One kind of filesystem, made anew on an image file each time it comes up."""

    kind: str
    summary: str
    needs: Mapping[str, str]
    make: tuple[str, ...]
    """The mkfs command line, without the device."""
    options: str = ""

    @property
    def cannot(self) -> Mapping[str, str]:
        """Conditions that it cannot be held to, and why."""
        return {"network": NO_NETWORK}

    def up(self, lab: Laboratory, wishes: Wishes) -> Ready:
        """Image, loop device, filesystem, mount, a work directory in it."""
        _check(wishes, self.kind, ("mount",))
        size_bytes = round(wishes.size_bytes * ROOM) + ROOM_FLOOR_BYTES
        _check_free(size_bytes)
        folder = lab.storage()
        image = lab.image(folder, size_bytes)
        device = lab.loop(image)
        lab.run(*self.make, device)
        point = lab.folder("mount")
        options = wishes.options.get("mount", self.options)
        lab.mount(str(device), point, self.kind, options)
        facts = {
            "filesystem": self.kind, "device": str(device), "image": str(image), "size_bytes": size_bytes, "mount_options": options,
            "made_by": " ".join(self.make),
        }  # fmt: skip
        return Ready(str(_work_directory(point)), self.kind, facts)


@dataclass(frozen=True)
class MemoryFilesystem:
    """tmpfs: how fast files can be when there is no disk at all."""

    summary: str = "files in memory: what the kernel and fio cost without a disk"

    @property
    def needs(self) -> Mapping[str, str]:
        """Nothing but mount(8)."""
        return {}

    @property
    def cannot(self) -> Mapping[str, str]:
        """Conditions that it cannot be held to, and why."""
        return {"network": NO_NETWORK, "disk": "it lies in memory"}

    def up(self, lab: Laboratory, wishes: Wishes) -> Ready:
        """A mount and a work directory in it."""
        _check(wishes, "tmpfs", ())
        size_bytes = round(wishes.size_bytes * ROOM) + MEMORY_FLOOR_BYTES
        free_bytes = psutil.virtual_memory().available
        if size_bytes > free_bytes:
            raise UserError(
                f"a tmpfs of {size_bytes / 2**30:.1f} GiB does not fit in {free_bytes / 2**30:.1f} GiB of free memory; "
                "scale the campaign down with --scale 1/16"
            )
        point = lab.folder("mount")
        lab.mount("leadline", point, "tmpfs", f"size={size_bytes}")
        return Ready(str(_work_directory(point)), "tmpfs", {"filesystem": "tmpfs", "size_bytes": size_bytes})


LOCAL: Mapping[str, LoopFilesystem | MemoryFilesystem] = {
    "ext4": LoopFilesystem(
        "ext4",
        "ext4 with its journal on a loop device",
        {"mkfs.ext4": "e2fsprogs"},
        # What mkfs leaves to a kernel thread would write in the background of the first cells.
        ("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"),
    ),
    "xfs": LoopFilesystem(
        "xfs", "xfs on a loop device", {"mkfs.xfs": "xfsprogs"}, ("mkfs.xfs", "-q", "-f", "-K")
    ),
    "btrfs": LoopFilesystem(
        "btrfs", "btrfs on a loop device", {"mkfs.btrfs": "btrfs-progs"}, ("mkfs.btrfs", "-q", "-f", "-K")
    ),
    "tmpfs": MemoryFilesystem(),
}


def _work_directory(point: Path) -> Path:
    """Not journaled: it goes with the filesystem it lies in."""
    path = point / WORK
    path.mkdir()
    return path


def _check(wishes: Wishes, kind: str, options: tuple[str, ...]) -> None:
    """Raises UserError for what a local filesystem cannot be asked."""
    for name in wishes.options:
        if name not in options:
            known = f"it knows: {', '.join(options)}" if options else "it has none"
            raise UserError(
                f'{kind} has no option "{name}" in the lab{did_you_mean(name, options)} ({known})'
            )
    if wishes.clients != 1 or wishes.storage_nodes not in (None, 1):
        raise UserError(
            f"{kind} is a filesystem of one machine; it has no clients and storage nodes to choose"
        )


def _check_free(size_bytes: int) -> None:
    status = os.statvfs(storage_root())
    free_bytes = status.f_bavail * status.f_frsize
    if size_bytes > free_bytes:
        raise UserError(
            f"{storage_root()} has {free_bytes / 2**30:.1f} GiB free and the image needs {size_bytes / 2**30:.1f} GiB; "
            "make room, scale the campaign down, or let LEADLINE_LAB_STORAGE name another disk"
        )
