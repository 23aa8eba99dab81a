"""The mount table: which filesystem a directory really lies on.

Source: proc_pid_mountinfo(5). Names hold blanks as octal escapes; where two mounts share a point, the later
hides the earlier.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from leadline.run.observe.machine import Machine

# One name a line would be forty lines of nothing.
# fmt: off
NETWORK_TYPES = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "lustre", "9p", "afs", "beegfs", "gpfs", "orangefs",
    "pvfs2", "wekafs", "ocfs2", "gfs2", "panfs", "coda", "virtiofs",
})
NETWORK_FUSE_TYPES = frozenset({
    "juicefs", "glusterfs", "sshfs", "s3fs", "ceph-fuse", "ceph", "mfs", "moosefs", "hf3fs", "gcsfuse",
    "goofys", "rclone", "cvmfs2", "seaweedfs", "curvefs", "alluxio", "dfuse", "davfs", "saunafs",
    "mountpoint-s3", "blobfuse2",
})
# fmt: on
MEMORY_TYPES = frozenset({"tmpfs", "ramfs", "hugetlbfs", "devtmpfs"})


@dataclass(frozen=True)
class Mount:
    """One line of the mount table."""

    device: str  # "major:minor", as in st_dev
    root: PurePosixPath  # the part of the filesystem that is seen at the mount point
    point: PurePosixPath
    options: tuple[str, ...]
    type: str
    source: str
    super_options: tuple[str, ...]

    @property
    def is_fuse(self) -> bool:
        return self.type in ("fuse", "fuseblk") or self.type.startswith("fuse.")

    @property
    def is_network(self) -> bool | None:
        """None for a FUSE filesystem that is unknown: its traffic is its own business."""
        if self.type in NETWORK_TYPES:
            return True
        if self.type == "fuseblk" or not self.is_fuse:
            return False
        subtype = self.type.removeprefix("fuse.")
        if subtype.lower() in NETWORK_FUSE_TYPES or self.source.lower().startswith("juicefs:"):
            return True
        return None

    def super_option(self, key: str) -> str | None:
        """The value of `key=value` among the options of the filesystem itself."""
        for option in self.super_options:
            name, mark, value = option.partition("=")
            if mark and name == key:
                return value
        return None


def read_mounts(machine: Machine) -> list[Mount]:
    """The mount table in the order in which mounts were made."""
    text = machine.text("/proc/self/mountinfo", "mount table") or ""
    return [mount for mount in map(_parse, text.splitlines()) if mount is not None]


def find_mount(machine: Machine, directory: Path) -> Mount | None:
    """The mount a directory lies on: the longest mount point above it, the latest where several are equal."""
    target = machine.resolve(directory)
    above = [mount for mount in read_mounts(machine) if target.is_relative_to(mount.point)]
    # max keeps the first of equals, and the last made is the one that is seen.
    return max(reversed(above), key=lambda mount: len(mount.point.parts), default=None)


def _parse(line: str) -> Mount | None:
    """`36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`."""
    before, mark, after = line.partition(" - ")
    left, right = before.split(" "), after.split(" ")
    if not mark or len(left) < 6 or len(right) < 2:
        return None
    return Mount(
        device=left[2],
        root=PurePosixPath(_unescape(left[3])),
        point=PurePosixPath(_unescape(left[4])),
        options=tuple(left[5].split(",")),
        type=right[0],
        source=_unescape(right[1]),
        super_options=tuple(_unescape(right[2]).split(",")) if len(right) > 2 else (),
    )


def _unescape(name: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), name)
