"""Control groups: a leash for processes that leave their parent, and limits on CPU, memory and disks.

Version 1 and 2 may be mounted side by side, each controller in one of them. Under version 1 a group is made inside our own,
so that no process leaves a limit that it lives under; under version 2 at the root, since a group that holds processes may not hand
controllers down (kernel Documentation/admin-guide/cgroup-v2.rst, "no internal process constraint").
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from leadline.errors import UserError
from leadline.run.lab.patience import Patience
from leadline.run.lab.resource import Busy, Ledger, Record
from leadline.run.observe.machine import Machine
from leadline.run.observe.mounts import Mount, read_mounts

EMPTY_WITHIN_SECONDS = 5.0
ADOPTED_WITHIN_SECONDS = 5.0


@dataclass(frozen=True)
class Place:
    """Where groups of a controller are made."""

    folder: Path
    version: int


@dataclass(frozen=True)
class ControlGroup:
    """A group of the lab. Whatever lives in it when it is removed was put there by the lab or descends from that."""

    path: str
    settings: tuple[str, ...] = ()
    """`file=text`, written when it is made."""
    only_while_up: ClassVar[bool] = False

    def described(self) -> str:
        """By its path."""
        return f"the control group {self.path}"

    def found(self, identity: str | None) -> bool:
        """By inode."""
        try:
            return identity in (None, str(Path(self.path).stat().st_ino))
        except FileNotFoundError:
            return False

    def make(self, ledger: Ledger, record: Record) -> None:
        """Makes it and sets its limits."""
        path = Path(self.path)
        path.mkdir()
        record(str(path.stat().st_ino))
        for setting in self.settings:
            name, _, text = setting.partition("=")
            write_setting(path / name, text)

    def remove(self, ledger: Ledger, identity: str | None) -> None:
        """Kills what lives in it, then removes it."""
        path = Path(self.path)
        patience = Patience(EMPTY_WITHIN_SECONDS)
        while True:
            kill_members(path)
            try:
                path.rmdir()
                return
            except FileNotFoundError:
                return
            except OSError:  # EBUSY until the last process has been reaped
                if patience.is_over():
                    raise Busy(
                        f"processes {members(path)} in {path} cannot be killed, probably stuck in the kernel; see dmesg"
                    ) from None
            time.sleep(0.01)


def members(path: Path) -> list[int]:
    """Process ids in a group; none when it is gone."""
    try:
        return [int(word) for word in (path / "cgroup.procs").read_text().split()]
    except OSError:
        return []


def kill_members(path: Path) -> None:
    """SIGKILL to all of a group: at once where the kernel can (version 2), one by one elsewhere."""
    try:
        (path / "cgroup.kill").write_text("1")
    except OSError:
        for pid in members(path):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def adopt(pids: Callable[[], Iterable[int]], paths: Iterable[str]) -> None:
    """Moves processes with all their threads into groups, until none is left that was forked meanwhile.

    One that is just ending stays where it is, without an error, until it has ended.
    """
    for path in map(Path, paths):
        until = time.monotonic() + ADOPTED_WITHIN_SECONDS
        while outside := set(pids()) - set(members(path)):
            if time.monotonic() > until:
                raise UserError(f"the processes {sorted(outside)} cannot be moved into {path}; see dmesg")
            for pid in outside:
                with contextlib.suppress(ProcessLookupError):  # it has ended
                    (path / "cgroup.procs").write_text(str(pid))
            time.sleep(0.001)


def write_setting(path: Path, text: str) -> None:
    """Raises UserError when the kernel has no such limit or refuses the value."""
    try:
        path.write_text(text)
    except OSError as error:
        raise UserError(
            f'"{text}" cannot be written to {path}: {error.strerror}; this kernel has no such limit'
        ) from None


def leash_place() -> Place | None:
    """Where groups that only hold processes together are made; None where no control groups are mounted."""
    mounts = _hierarchies()
    for mount in mounts:
        if mount.type == "cgroup2" and os.access(mount.point, os.W_OK):
            return Place(Path(mount.point), 2)
    return next((place for name in ("pids", "freezer") if (place := _version_1(mounts, name))), None)


def controller_place(controller: str, controller_2: str | None = None) -> Place:
    """Where groups of a controller are made (`blkio` is called `io` in version 2); raises UserError when there is none."""
    mounts = _hierarchies()
    place = _version_1(mounts, controller) or _version_2(mounts, controller_2 or controller)
    if place is None:
        raise UserError(f"the kernel offers no control group for {controller}; this limit cannot be set here")
    return place


def folders_of_everybody(controller: str) -> tuple[Path, ...]:
    """Under version 1, the groups that leadline's processes and the kernel's own threads live in: our own and the root."""
    mounts = [
        mount for mount in _hierarchies() if mount.type == "cgroup" and controller in mount.super_options
    ]
    own = _version_1(mounts, controller)
    roots = (Path(mount.point) for mount in mounts[:1])
    return tuple(dict.fromkeys((*((own.folder,) if own else ()), *roots)))


def _version_1(mounts: Iterable[Mount], controller: str) -> Place | None:
    for mount in mounts:
        if mount.type == "cgroup" and controller in mount.super_options:
            inside = Path(mount.point) / _own_group(controller).lstrip("/")
            return Place(inside if inside.is_dir() else Path(mount.point), 1)
    return None


def _version_2(mounts: Iterable[Mount], controller: str) -> Place | None:
    for mount in mounts:
        root = Path(mount.point)
        if mount.type == "cgroup2" and controller in (root / "cgroup.controllers").read_text().split():
            write_setting(root / "cgroup.subtree_control", f"+{controller}")
            return Place(root, 2)
    return None


def _own_group(controller: str) -> str:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        if controller in controllers.split(","):
            return group
    return "/"


def _hierarchies() -> list[Mount]:
    return [mount for mount in read_mounts(Machine()) if mount.type in ("cgroup", "cgroup2")]
