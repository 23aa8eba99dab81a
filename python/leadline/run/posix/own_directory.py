"""The folder inside the user's directory in which a suite works: marked as leadline's, locked while in use, removed afterwards.

Unlike a measurement, a conformance run may be given the root of a mount or a directory with data in it: it touches nothing but
this folder. What a killed run left there is removed by the next one.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import platform
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from leadline.errors import UserError
from leadline.run.lab.files import remove_tree
from leadline.run.targets.work_directory import MARKER, is_marked

NAME = "leadline-posix"
WORK = "w"
"""Short: a socket's whole path has at most 107 characters, and the suite adds 60."""
NEEDED_BYTES = 64 * 2**20
NEEDED_INODES = 200

Tell = Callable[[str], None]


@contextmanager
def own_directory(path: Path, tell: Tell) -> Iterator[Path]:
    """The folder to work in, which others may enter; raises UserError where none can be made."""
    inside = usable(path) / NAME
    if os.path.lexists(inside):
        _remove_leftovers(inside, tell)
    try:
        inside.mkdir(mode=0o755)
        inside.chmod(0o755)  # whatever the umask
    except OSError as error:
        raise UserError(f"{path} cannot be written: {_why(error)}") from None
    with _marked(inside):
        try:
            (inside / WORK).mkdir()
            (inside / WORK).chmod(0o755)
            yield inside / WORK
        finally:
            _leave(inside, tell)


def usable(path: Path) -> Path:
    """The absolute path where a suite can run; raises UserError."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise UserError(f"there is no directory {path}; give one on the filesystem to be tested") from None
    except OSError as error:
        raise UserError(f"{path} cannot be used: {error.strerror}") from None
    if not stat.S_ISDIR(mode):
        raise UserError(f"{path} is not a directory; give one on the filesystem to be tested")
    space = os.statvfs(path)
    if space.f_flag & os.ST_RDONLY:
        raise UserError(f"{path} is mounted read-only and the suite has to write; mount it with rw")
    free = space.f_bavail * space.f_frsize
    if space.f_blocks and free < NEEDED_BYTES:
        raise UserError(
            f"{path} has {free / 2**20:.0f} MiB free and the suite needs {NEEDED_BYTES / 2**20:.0f} MiB; make room"
        )
    if space.f_files and 0 <= space.f_favail < NEEDED_INODES:  # ceph-fuse counts none, and says -1
        raise UserError(
            f"{path} has {space.f_favail} inodes free and the suite needs {NEEDED_INODES}; remove files that are not needed"
        )
    return path.resolve()


@contextmanager
def _marked(inside: Path) -> Iterator[None]:
    """The lock is the kernel's and ends with us. Opened for reading: a file open for writing would forbid to remount read-only."""
    document = {"made_by": "leadline", "process": os.getpid(), "host": platform.node()}
    (inside / MARKER).write_text(json.dumps(document) + "\n", encoding="utf-8")
    descriptor = os.open(inside / MARKER, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        if not _lock(descriptor):
            raise UserError(f"another leadline is at work in {inside}; wait for it")
        yield
    finally:
        os.close(descriptor)


def _remove_leftovers(inside: Path, tell: Tell) -> None:
    if inside.is_symlink() or not inside.is_dir() or not (is_marked(inside) or _empty(inside)):
        raise UserError(
            f"{inside} is there and not marked as leadline's; move it away, or give another directory"
        )
    _refuse_if_in_use(inside)
    tell(f"removing what an interrupted run left in {inside}")
    _remove(inside)


def _refuse_if_in_use(inside: Path) -> None:
    marker = inside / MARKER
    if not marker.is_file():
        return
    host = json.loads(marker.read_text(encoding="utf-8") or "{}").get("host", platform.node())
    if host != platform.node():  # a lock of another host's may not reach us
        raise UserError(
            f"{inside} was made by leadline on the host {host}; wait for it, or remove that folder if it does not run any more"
        )
    descriptor = os.open(marker, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        if not _lock(descriptor):
            raise UserError(f"another leadline is at work in {inside}; wait for it")
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """False while another holds it; a filesystem without locks is taken at its word."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _leave(inside: Path, tell: Tell) -> None:
    """A filesystem that died or turned read-only is reason enough for the run to end; that its folder stays is only said."""
    try:
        _remove(inside)
    except (OSError, UserError) as error:
        tell(f"{inside} stays, and the next run removes it: {error}")


def _remove(inside: Path) -> None:
    """The suite takes the owner's rights away here and there; they are given back first."""
    for top, folders, _ in os.walk(inside):
        for folder in (Path(top) / name for name in folders):
            if not folder.is_symlink():
                with suppress(OSError):  # what follows says it
                    folder.chmod(0o700)
    remove_tree(inside)


def _empty(inside: Path) -> bool:
    """A run that was killed between making the folder and marking it."""
    return not any(inside.iterdir())


def _why(error: OSError) -> str:
    advice = {
        errno.EROFS: "it is mounted read-only; mount it with rw",
        errno.EACCES: "this user may not write there; run it as root or give another directory",
        errno.ENOSPC: "it is full; make room",
        errno.EDQUOT: "the quota is used up; make room",
    }
    return advice.get(error.errno or 0, error.strerror or str(error))
