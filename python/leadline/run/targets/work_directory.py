"""A directory that leadline may write to: empty or marked as its own, never a device, a mount's root or foreign data.

The marker names every leadline that works here. Only the folders whose names leadline gives are ever removed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import shutil
import stat
from pathlib import Path
from typing import IO

from leadline.errors import UserError
from leadline.run.layouts import OWN_PREFIX

MARKER = ".leadline"


class WorkDirectory:
    """The local-directory target: any path of this machine, also one where something is mounted further up."""

    def __init__(
        self,
        path: Path,
        space_bytes: int = 0,
        sections: frozenset[str] = frozenset(),
        file_names: frozenset[str] = frozenset(),
    ) -> None:
        """Of a user's job file: its `sections`, after which fio names files (`section.job.file`), and the `file_names` in it."""
        self._path = path
        self._space_bytes = space_bytes
        self._sections = sections
        self._file_names = file_names
        self._device: int | None = None
        self._marker: IO[str] | None = None

    def prepare(self) -> Path:
        """Checks and marks the directory; raises UserError when it is unfit."""
        path = check_directory(self._path)
        self._claim(path)
        remove_own_folders(
            path
        )  # left by a leadline that was killed: they are ours and would count as used space
        check_space(path, self._space_bytes)
        self._file_names -= {entry.name for entry in path.iterdir()}  # what was there is not ours to remove
        self._path, self._device = path, path.stat().st_dev
        return path

    def _claim(self, path: Path) -> None:
        """Marks the directory and holds the marker locked; the kernel frees the lock when we are killed."""
        try:
            self._marker = _locked(path / MARKER)
            text = json.dumps({"made_by": "leadline", "process": os.getpid()}) + "\n"
            writing = os.open(path / MARKER, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW)
            with os.fdopen(writing, "w", encoding="utf-8") as marker:
                marker.write(text)
        except BlockingIOError:
            raise UserError(
                f"another leadline is working in {path}; wait for it or give another directory"
            ) from None
        except OSError as error:
            raise UserError(
                f"{path} cannot be written ({error.strerror}); point leadline at a directory you may write to"
            ) from None

    def check(self) -> str | None:
        """None while the directory is there, marked, and on the same filesystem as at the start."""
        try:
            device = self._path.stat().st_dev
        except OSError:
            return f"{self._path} has disappeared"
        if device != self._device:
            return f"{self._path} now lies on another filesystem: something was mounted or unmounted there"
        unreachable = _unreachable(self._path / MARKER)
        if unreachable is not None:
            return f"{self._path} cannot be reached any more: {unreachable}"
        if not is_marked(self._path):
            return f"{self._path} has lost its marker {MARKER}: something else has emptied or replaced it"
        return None

    def clean_up(self) -> None:
        """Removes the files and the marker; the directory itself was the user's and stays."""
        if is_marked(self._path):  # else it is gone, or something else lies there now
            remove_own_folders(self._path)
            remove_job_files(self._path, self._sections)
            remove_named_files(self._path, self._file_names)
            (self._path / MARKER).unlink(missing_ok=True)
        if self._marker is not None:  # also on a mount that has died: held open, it could not be unmounted
            with contextlib.suppress(OSError):
                self._marker.close()


def _locked(marker: Path) -> IO[str]:
    """Open for reading: a file open for writing would keep the mount from being turned read-only, which a conformance suite asks for.

    A link by the marker's name would have us empty what it points at, so it is not followed.
    """
    for way in (os.O_RDONLY, os.O_RDWR):
        held = os.fdopen(os.open(marker, way | os.O_CREAT | os.O_NOFOLLOW, 0o644), encoding="utf-8")
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            held.close()
            if (
                way == os.O_RDWR or error.errno != errno.EBADF
            ):  # flock(2): NFS locks only what is open for writing
                raise
        else:
            break
    return held


def check_directory(path: Path) -> Path:
    """The absolute path when leadline may work there; raises UserError."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise UserError(f"there is no directory {path}; make it first: mkdir -p {path}") from None
    except OSError as error:
        raise UserError(f"{path} cannot be used: {error.strerror}") from None
    if stat.S_ISBLK(mode) or stat.S_ISCHR(mode):
        raise UserError(
            f"{path} is a device; leadline writes only into directories, so that nothing on a disk is lost"
        )
    if not stat.S_ISDIR(mode):
        raise UserError(f"{path} is not a directory; point leadline at an empty one")
    path = path.resolve()
    if os.path.ismount(path):
        raise UserError(
            f"{path} is the root of a mounted filesystem; make a directory inside it: mkdir {path / 'leadline'}"
        )
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        raise UserError(
            f"{path} may not be written by this user; choose another directory or change its owner"
        )
    foreign = [entry.name for entry in path.iterdir() if entry.name != MARKER]
    if foreign and not is_marked(path):
        raise UserError(
            f"{path} is not empty ({sorted(foreign)[0]!r} is in it) and not marked as leadline's; give an empty directory"
        )
    return path


def _unreachable(path: Path) -> str | None:
    """Why the filesystem does not answer for a path (its client died: ENOTCONN; it hangs up: EIO); None when it does."""
    try:
        path.read_bytes()
    except (FileNotFoundError, PermissionError, IsADirectoryError):
        return None
    except OSError as error:
        return error.strerror
    return None


def is_marked(path: Path) -> bool:
    """Whether leadline wrote the marker there: a link or somebody else's file of that name is none.

    It may be empty: a leadline killed between making and writing it leaves it so.
    """
    marker = path / MARKER
    try:
        if marker.is_symlink() or not marker.is_file():
            return False
        text = marker.read_text(encoding="utf-8")
        return not text or json.loads(text)["made_by"] == "leadline"
    except (OSError, ValueError, KeyError, TypeError):
        return False


def check_space(path: Path, needed_bytes: int) -> None:
    """Raises UserError unless the files fit with a twentieth to spare; ramfs and the like, which claim no size at all, are tried."""
    total, _, free = shutil.disk_usage(path)
    if total and needed_bytes * 1.05 > free:
        raise UserError(
            f"{path} has {free / 2**30:.1f} GiB free and the plan needs {needed_bytes / 2**30:.1f} GiB; "
            "make room or scale it down with --scale 1/16"
        )


def remove_own_folders(path: Path) -> None:
    """Removes folders of leadline's own naming in a directory that carries the marker; links are never followed."""
    if not is_marked(path):
        return
    for entry in path.iterdir():
        if entry.name.startswith(OWN_PREFIX) and entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)


def remove_job_files(path: Path, sections: frozenset[str]) -> None:
    """Removes what fio named after a job file's sections (`section.job.file`, where the file names its own directory)."""
    for entry in path.iterdir():
        section, job, file = entry.name.rsplit(".", 2) if entry.name.count(".") >= 2 else ("", "", "")
        if (
            section in sections
            and job.isdigit()
            and file.isdigit()
            and entry.is_file()
            and not entry.is_symlink()
        ):
            entry.unlink(missing_ok=True)


def remove_named_files(path: Path, names: frozenset[str]) -> None:
    """Removes the files by these names; links and folders are left alone."""
    for name in names:
        if (path / name).is_file() and not (path / name).is_symlink():
            (path / name).unlink(missing_ok=True)
