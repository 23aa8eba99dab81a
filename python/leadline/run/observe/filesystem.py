"""The filesystem under a directory: its kind decides what a figure measured there can mean."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from leadline.run.observe.machine import Machine, sentence_for
from leadline.run.observe.mounts import MEMORY_TYPES, Mount, find_mount


def describe_filesystem(machine: Machine, directory: Path) -> dict[str, Any]:
    """JSON-ready facts; a fact that cannot be read is None."""
    mount = find_mount(machine, directory)
    if mount is None:
        machine.note("filesystem type", f"the mount table names no mount above {directory}.")
    return {"directory": str(directory), **_describe_mount(mount), **_describe_space(machine, directory)}


def _describe_mount(mount: Mount | None) -> dict[str, Any]:
    if mount is None:
        return {"type": None, "is_fuse": None, "is_network": None, "is_memory": None}
    return {
        "type": mount.type,
        "source": mount.source,
        "mount_point": str(mount.point),
        "mount_options": list(mount.options),
        "filesystem_options": list(mount.super_options),
        "device": mount.device,
        "is_fuse": mount.is_fuse,
        "is_network": mount.is_network,
        "is_memory": mount.type in MEMORY_TYPES,
    }


def _describe_space(machine: Machine, directory: Path) -> dict[str, Any]:
    """Size and identity by system call, which a recording answers only where it holds the directory."""
    path = machine.path(directory)
    try:
        space, status = os.statvfs(path), path.stat()
    except OSError as error:
        machine.note("filesystem size", sentence_for(error, directory))
        return dict.fromkeys(("size_bytes", "available_bytes", "inodes", "inodes_free", "st_dev"))
    return {
        "size_bytes": space.f_blocks * space.f_frsize,
        "available_bytes": space.f_bavail * space.f_frsize,  # what an ordinary user may still write
        "block_size_bytes": space.f_bsize,
        "inodes": space.f_files,
        "inodes_free": space.f_favail,
        "st_dev": status.st_dev,
    }
