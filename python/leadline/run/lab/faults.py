"""Faults as verbs: cut a link, pause or kill a server, fill a disk. Each ends when told, at its time limit, or with leadline.

Before a fault is made a guard is started that undoes it (guards.py); fault and guard stand in the lab's journal as well,
so `leadline lab down` undoes both at any time.
"""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from leadline.errors import UserError
from leadline.run.lab.control_groups import ControlGroup, members
from leadline.run.lab.guards import guarded
from leadline.run.lab.journal import Journal
from leadline.run.lab.namespaces import FOLDER, links
from leadline.run.lab.network import LabHost
from leadline.run.lab.patience import Patience
from leadline.run.lab.processes import KILLED_WITHIN_SECONDS, Process, alive, signal_one, state
from leadline.run.lab.resource import Busy, Ledger, Record
from leadline.run.lab.tools import ToolFailed

STOPPED_WITHIN_SECONDS = 5.0
FILLED_TO_BYTES = 64 << 10


@dataclass(frozen=True)
class CutLink:
    """A host's cable pulled at the switch: the host sees no carrier."""

    switch: str
    port: str
    only_while_up: ClassVar[bool] = False

    def described(self) -> str:
        """By its port."""
        return f"a cut link at {self.port} of {self.switch}"

    def found(self, identity: str | None) -> bool:
        """Whether the port is down."""
        if not (FOLDER / self.switch).exists():
            return False
        try:
            flags = links(self.switch).get(self.port)
        except ToolFailed:
            return False
        return flags is not None and "UP" not in flags

    def make(self, ledger: Ledger, record: Record) -> None:
        """Down."""
        ledger.tools.run("ip", "-n", self.switch, "link", "set", self.port, "down")

    def remove(self, ledger: Ledger, identity: str | None) -> None:
        """Up."""
        ledger.tools.run("ip", "-n", self.switch, "link", "set", self.port, "up")


@dataclass(frozen=True)
class Paused:
    """A server and all its descendants under SIGSTOP: it holds its connections and answers nobody."""

    crew: tuple[str, ...]
    """Identities as processes.py writes them."""
    only_while_up: ClassVar[bool] = False

    def described(self) -> str:
        """By its processes."""
        return f"a pause of the processes {', '.join(each.split(':')[0] for each in self.crew)}"

    def found(self, identity: str | None) -> bool:
        """Whether any of them is stopped."""
        return any(state(each) == "T" for each in self.crew)

    def make(self, ledger: Ledger, record: Record) -> None:
        """Stops them and waits until the kernel has."""
        for each in self.crew:
            signal_one(each, signal.SIGSTOP)
        patience = Patience(STOPPED_WITHIN_SECONDS)
        while any(alive(each) and state(each) != "T" for each in self.crew):
            if patience.is_over():
                raise Busy(
                    f"{self.described()} did not take hold; a process is stuck in the kernel, see dmesg"
                )
            time.sleep(0.005)

    def remove(self, ledger: Ledger, identity: str | None) -> None:
        """They go on."""
        for each in self.crew:
            signal_one(each, signal.SIGCONT)


@dataclass(frozen=True)
class Killed:
    """A server ended by SIGKILL with all its descendants; undone by starting it again with the same command."""

    number: str
    """The process's entry in the journal, which the restarted one takes over."""
    crew: tuple[str, ...]
    name: str
    argv: tuple[str, ...]
    log: str
    groups: tuple[str, ...]
    stop_seconds: float
    only_while_up: ClassVar[bool] = True

    def described(self) -> str:
        """By the process's name."""
        return f"the killing of {self.name}"

    def found(self, identity: str | None) -> bool:
        """Whether it was carried out: then it stays so until the process is started again."""
        return not any(alive(each) for each in self.crew)

    def make(self, ledger: Ledger, record: Record) -> None:
        """Kills, and waits until they are gone."""
        for each in self.crew:
            signal_one(each, signal.SIGKILL)
        patience = Patience(KILLED_WITHIN_SECONDS)
        while any(alive(each) for each in self.crew):
            if patience.is_over():
                raise Busy(f"{self.name} cannot be killed; it is stuck in the kernel, see dmesg")
            time.sleep(0.005)

    def remove(self, ledger: Ledger, identity: str | None) -> None:
        """Starts it again under its old entry, unless a guard has done so already."""
        again = ledger.identity(self.number)
        if again is not None and alive(again):
            return
        Process(self.name, self.argv, self.log, self.groups, self.stop_seconds).make(
            ledger, ledger.recorder(self.number)
        )


@dataclass(frozen=True)
class Ballast:
    """A file that leaves so few bytes free on a filesystem."""

    path: str
    leave_bytes: int
    only_while_up: ClassVar[bool] = False

    def described(self) -> str:
        """By its path."""
        return f"the ballast {self.path}"

    def found(self, identity: str | None) -> bool:
        """By inode."""
        try:
            return identity in (None, str(Path(self.path).stat().st_ino))
        except OSError:  # gone, or the filesystem is
            return False

    def make(self, ledger: Ledger, record: Record) -> None:
        """Allocated blocks, not holes."""
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            record(str(os.fstat(descriptor).st_ino))
            self._fill(descriptor)
        finally:
            os.close(descriptor)

    def _fill(self, descriptor: int) -> None:
        """As far as root can, as which servers and loads run here, and then back by what is to be left.

        Filesystems state more than anybody gets (ext4 keeps some blocks for its own metadata), so they are asked and not believed.
        """
        status = os.fstatvfs(descriptor)
        held_bytes, step_bytes = 0, status.f_bfree * status.f_frsize
        while step_bytes >= FILLED_TO_BYTES:
            try:
                os.posix_fallocate(descriptor, held_bytes, step_bytes)
                held_bytes += step_bytes
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                os.ftruncate(descriptor, held_bytes)
            step_bytes //= 2
        os.ftruncate(descriptor, max(0, held_bytes - self.leave_bytes))

    def remove(self, ledger: Ledger, identity: str | None) -> None:
        """The space is free again."""
        Path(self.path).unlink(missing_ok=True)


@contextmanager
def cut_link(journal: Journal, host: LabHost, at_most_seconds: float) -> Iterator[str]:
    """While the block lasts, and no longer than said, the host is unreachable."""
    with guarded(journal, CutLink(host.switch, host.port), at_most_seconds) as number:
        yield number


@contextmanager
def pause(journal: Journal, number: str, at_most_seconds: float) -> Iterator[str]:
    """Stops the server whose entry in the journal is `number`, and lets it go on afterwards."""
    process, identity = _running(journal, number)
    with guarded(journal, Paused(tuple(process.crew(identity))), at_most_seconds) as entry:
        yield entry


@contextmanager
def kill(journal: Journal, number: str, at_most_seconds: float) -> Iterator[str]:
    """Kills the server, and starts it again afterwards."""
    process, identity = _running(journal, number)
    crew = tuple(process.crew(identity))
    groups = (*process.groups, *_limits_on(journal, identity, process.groups))
    killed = Killed(number, crew, process.name, process.argv, process.log, groups, process.stop_seconds)
    with guarded(journal, killed, at_most_seconds) as entry:
        yield entry


@contextmanager
def fill_disk(journal: Journal, directory: Path, leave_bytes: int, at_most_seconds: float) -> Iterator[str]:
    """Leaves only so many bytes free on the filesystem of a directory of the lab."""
    with guarded(
        journal, Ballast(str(directory / "leadline-ballast"), leave_bytes), at_most_seconds
    ) as number:
        yield number


def _limits_on(journal: Journal, identity: str, own: tuple[str, ...]) -> list[str]:
    """Groups of the lab that a process was moved into after its start; started again, it has to live under them again."""
    pid = int(identity.partition(":")[0])
    groups = [each.resource for each in journal.entries() if isinstance(each.resource, ControlGroup)]
    return [each.path for each in groups if each.path not in own and pid in members(Path(each.path))]


def _running(journal: Journal, number: str) -> tuple[Process, str]:
    entry = journal.entry(number)
    if entry is None or not isinstance(entry.resource, Process):
        raise UserError(f"the lab has no process under {number}; it was stopped already")
    if entry.identity is None or not alive(entry.identity):
        raise UserError(f"{entry.resource.described()} has ended by itself; see {entry.resource.log}")
    return entry.resource, entry.identity
