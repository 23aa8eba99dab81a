"""Mounts: told by the mount point, the type and the device number of what is mounted there."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar

from leadline.errors import UserError
from leadline.run.lab.holders import holders
from leadline.run.lab.patience import Patience
from leadline.run.lab.resource import Busy, Ledger, Record
from leadline.run.lab.tools import ToolFailed, in_groups
from leadline.run.observe import mounts as table
from leadline.run.observe.machine import Machine

BUSY_FOR_SECONDS = 2.0
MOUNTED_WITHIN_SECONDS = 30.0


@dataclass(frozen=True)
class Mount:
    """A filesystem at a point of the lab. `command` mounts it when mount(8) does not (FUSE clients)."""

    source: str
    point: str
    filesystem: str
    """As the mount table names it: "xfs", "fuse.juicefs"."""
    options: str = ""
    command: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    """Control groups that `command` and the client that it leaves behind live in."""
    only_while_up: ClassVar[bool] = False

    def described(self) -> str:
        """By its point."""
        return f"a mount at {self.point}"

    def found(self, identity: str | None) -> bool:
        """Whether anything, or that very filesystem, is mounted there."""
        return any(identity in (None, _identity(mount)) for mount in self._here())

    def make(self, ledger: Ledger, record: Record) -> None:
        """Mounts, and waits until the mount table shows it: some FUSE clients return before."""
        if self.command:
            # When leadline is killed before the command has joined its group, the group is gone first and the command ends.
            ledger.tools.leave(*in_groups(self.groups, self.command))
        else:
            options = ("-o", self.options) if self.options else ()
            ledger.tools.run("mount", "-t", self.filesystem, *options, self.source, self.point)
        until = time.monotonic() + MOUNTED_WITHIN_SECONDS
        while not (here := self._here()):
            if time.monotonic() > until:
                raise UserError(
                    f"nothing was mounted at {self.point} within {MOUNTED_WITHIN_SECONDS:g} s; see the lab's log files"
                )
            time.sleep(0.01)
        record(_identity(here[-1]))
        if here[-1].type != self.filesystem:
            raise UserError(f"{self.point} holds {here[-1].type} where {self.filesystem} was to be mounted")

    def remove(self, ledger: Ledger, identity: str | None) -> None:
        """Unmounts, and names who prevents it; never lazily, which would only hide what is still in use."""
        if any(identity not in (None, _identity(top)) for top in self._here()[-1:]):
            raise Busy(f"something else was mounted over {self.point}; unmount it first")
        patience = Patience(BUSY_FOR_SECONDS)
        while True:
            try:
                ledger.tools.run("umount", self.point)
                return
            except ToolFailed as error:
                if not self.found(identity):
                    return
                if "busy" not in error.said:
                    raise
                if patience.is_over():
                    raise Busy(
                        f"{self.point} is in use by {holders(Path(self.point))}; end that, then run leadline lab down again"
                    ) from None
            time.sleep(0.05)

    def _here(self) -> list[table.Mount]:
        point = PurePosixPath(self.point)
        return [mount for mount in table.read_mounts(Machine()) if mount.point == point]


def _identity(mount: table.Mount) -> str:
    return f"{mount.device} {mount.type}"
