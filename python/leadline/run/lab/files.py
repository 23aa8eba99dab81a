"""Directories and image files of the lab. Removal never crosses into another filesystem and never follows a link."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from leadline.errors import UserError
from leadline.run.lab.resource import Busy, Ledger, Record
from leadline.run.observe.machine import Machine
from leadline.run.observe.mounts import read_mounts


@dataclass(frozen=True)
class Directory:
    """A new directory; removed with all that is in it."""

    path: str
    only_while_up: ClassVar[bool] = False

    def described(self) -> str:
        """Its path."""
        return self.path

    def found(self, identity: str | None) -> bool:
        """By device and inode."""
        return _found(self.path, identity)

    def make(self, ledger: Ledger, record: Record) -> None:
        """One level: what lies above must be there."""
        Path(self.path).mkdir(mode=0o755)
        record(_identity(self.path))

    def remove(self, ledger: Ledger, identity: str | None) -> None:
        """The whole tree, unless something is still mounted in it."""
        remove_tree(Path(self.path))


@dataclass(frozen=True)
class Image:
    """A new sparse file that will back a loop device."""

    path: str
    size_bytes: int
    only_while_up: ClassVar[bool] = False

    def described(self) -> str:
        """Its path."""
        return self.path

    def found(self, identity: str | None) -> bool:
        """By device and inode."""
        return _found(self.path, identity)

    def make(self, ledger: Ledger, record: Record) -> None:
        """Only its length is set: blocks come with the data."""
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            record(_identity(self.path))
            os.ftruncate(descriptor, self.size_bytes)
        finally:
            os.close(descriptor)

    def remove(self, ledger: Ledger, identity: str | None) -> None:
        """The file."""
        Path(self.path).unlink(missing_ok=True)


def remove_tree(path: Path) -> None:
    """Removes a directory of ours; raises Busy while a filesystem is mounted inside: its files are not ours to delete."""
    inside = [mount.point for mount in read_mounts(Machine()) if mount.point.is_relative_to(path)]
    if inside:
        raise Busy(
            f"{inside[-1]} is still mounted inside {path}; unmount it, then run leadline lab down again"
        )
    try:
        shutil.rmtree(path, onerror=_unless_gone)  # does not follow links
    except OSError as error:
        raise UserError(f"{path} could not be removed: {error.strerror} ({error.filename})") from None


def _unless_gone(call: object, path: str, failure: tuple[object, BaseException, object]) -> None:
    """What goes by itself meanwhile (a file that was hidden because it was open, once it is closed) is no reason to leave the rest."""
    if not isinstance(failure[1], FileNotFoundError):
        raise failure[1]


def _identity(path: str) -> str:
    status = os.lstat(path)
    return f"{status.st_dev}:{status.st_ino}"


def _found(path: str, identity: str | None) -> bool:
    try:
        return identity is None or _identity(path) == identity if os.path.lexists(path) else False
    except FileNotFoundError:
        return False
