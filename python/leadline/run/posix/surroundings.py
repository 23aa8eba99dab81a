"""What a suite needs around the directory: a short name for it, a place on another filesystem, leave to mount it read-only.

Nothing here is on the filesystem that is tested, but the remount, which is undone whatever ends it.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from leadline.run.observe.machine import Machine
from leadline.run.observe.mounts import find_mount, read_mounts
from leadline.run.targets.work_directory import MARKER, is_marked

LONGEST_SOCKET_PATH = 107
ADDED_BY_THE_SUITE = 60
"""Two temporary folders of 10 characters, a folder of 32, a name of 4, and their slashes."""
PREFIX = "leadline-posix-"
SETTLED_SECONDS = 10.0
"""A folder younger than this may not have been locked yet by whoever made it."""
OTHER_PLACES = ("/dev/shm", "/tmp", "/var/tmp", "/run")


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """For configuration and aliases, outside the filesystem that is tested."""
    with _folder_in(Path(tempfile.gettempdir())) as made:
        yield made


def short_alias(directory: Path, scratch: Path) -> Path | None:
    """A link to the directory, only where sockets in it would have too long a path."""
    if len(str(directory)) + ADDED_BY_THE_SUITE <= LONGEST_SOCKET_PATH:
        return None
    alias = scratch / "a"
    alias.symlink_to(directory)
    return alias


@contextmanager
def another_filesystem(directory: Path) -> Iterator[Path | None]:
    """A folder somewhere else, removed afterwards; None where this machine has no other place to write to."""
    device = directory.stat().st_dev
    for place in OTHER_PLACES:
        if os.access(place, os.W_OK | os.X_OK) and Path(place).stat().st_dev != device:
            with _folder_in(Path(place)) as made:
                yield made
            return
    yield None


@contextmanager
def _folder_in(place: Path) -> Iterator[Path]:
    """Removed afterwards, and by the next run where this one is killed: the lock on it is the kernel's and ends with us."""
    _remove_leftovers(place)
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=place) as made:
        descriptor = os.open(made, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            (Path(made) / MARKER).write_text(json.dumps({"made_by": "leadline"}), encoding="utf-8")
            Path(made).chmod(0o755)  # ordinary users pass through it to an alias
            yield Path(made)
        finally:
            os.close(descriptor)


def _remove_leftovers(place: Path) -> None:
    for found in place.glob(f"{PREFIX}*"):
        with suppress(FileNotFoundError):  # another run was done with it meanwhile
            status = found.lstat()
            is_old = time.time() - status.st_mtime > SETTLED_SECONDS
            is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and is_marked(found)
            if is_ours and is_old and not _in_use(found):
                shutil.rmtree(found, ignore_errors=True)  # does not follow the alias in it


def _in_use(folder: Path) -> bool:
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)


def why_not_remounted(directory: Path, asked_for: bool) -> str:
    """Why the filesystem stays as it is; empty where it may be mounted read-only for a moment."""
    mount = find_mount(Machine(), directory)
    if os.geteuid() != 0:
        return "only root can mount the filesystem read-only"
    if mount is None or str(mount.point) == "/":
        return "the directory lies on the root filesystem, which leadline never mounts read-only"
    if mount.is_fuse:
        return "a FUSE mount is not turned read-only: mount(8) would call the filesystem's own program, which mounts anew"
    if not asked_for:
        return "mounting the filesystem read-only for a moment was not asked for (--remount)"
    others = [each.point for each in read_mounts(Machine()) if each.device == mount.device and each != mount]
    if others:
        return f"the filesystem is also mounted at {others[0]}, where it would turn read-only too"
    return ""


def restore_writing(directory: Path) -> bool:
    """Undoes a read-only mount that a killed case left; whether there was one."""
    try:
        if not os.statvfs(directory).f_flag & os.ST_RDONLY:
            return False
        mount = find_mount(Machine(), directory)
    except OSError:
        return False
    if mount is not None and str(mount.point) != "/":
        subprocess.run(
            ["mount", "-o", "remount,rw", str(mount.point)], check=False, capture_output=True, timeout=30
        )
    return True
