"""Slow disks under control groups of version 1: a limit on a block device in the groups of everybody who reaches it.

Version 1 charges an operation to the group of whoever submits it: a server its direct I/O and its fsyncs, a thread of the kernel
all other writeback. A limit on the servers alone would leave that free. The device is the lab's own, so the limit is set where all of
them live, our own group and the root, and nobody else feels it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from leadline.run.lab.control_groups import write_setting
from leadline.run.lab.resource import Ledger, Record


@dataclass(frozen=True)
class Throttle:
    """One limit in one group (kernel Documentation/admin-guide/cgroup-v1/blkio-controller.rst)."""

    folder: str
    file: str
    device: str
    """Its number, as "7:3"."""
    limit: int
    only_while_up: ClassVar[bool] = False

    def described(self) -> str:
        """By file and device."""
        return f"a limit on the block device {self.device} in {self.folder}/{self.file}"

    def found(self, identity: str | None) -> bool:
        """Whether the device has a limit there."""
        try:
            lines = (Path(self.folder) / self.file).read_text().splitlines()
        except FileNotFoundError:
            return False
        return any(line.split()[0] == self.device for line in lines if line.strip())

    def make(self, ledger: Ledger, record: Record) -> None:
        """From now on; raises UserError when the kernel refuses."""
        write_setting(Path(self.folder) / self.file, f"{self.device} {self.limit}")

    def remove(self, ledger: Ledger, identity: str | None) -> None:
        """A limit of 0 is none. It would outlive the loop device and slow down the next one of that number."""
        write_setting(Path(self.folder) / self.file, f"{self.device} 0")
