"""Processes of the lab: told by process id, start time and boot, so that a reused id is never signalled.

A child waits for a word on its standard input before it becomes the command. The word comes after its identity is in
the journal; when leadline dies in between, the pipe closes and the child ends by itself.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from leadline.run.lab.control_groups import kill_members, members
from leadline.run.lab.patience import Patience
from leadline.run.lab.resource import Busy, Ledger, Record
from leadline.run.lab.tools import ENTER_GROUPS

AFTER_THE_WORD = f'read -r word && [ "$word" = go ] || exit 125; exec </dev/null; {ENTER_GROUPS}'
KILLED_WITHIN_SECONDS = 5.0
STATE, THREADS, START = 0, 17, 19
"""Fields 3, 20 and 22 of proc_pid_stat(5), counted from the one after the name."""


@dataclass(frozen=True)
class Process:
    """A server that stays in the foreground."""

    name: str
    argv: tuple[str, ...]
    log: str
    groups: tuple[str, ...] = ()
    """Control groups to live in; the first is its leash, which all its descendants share."""
    stop_seconds: float = 5.0
    """How long it may take to end after SIGTERM before it is killed."""
    only_while_up: ClassVar[bool] = False

    def described(self) -> str:
        """By its name."""
        return f"the process {self.name}"

    def found(self, identity: str | None) -> bool:
        """Whether that very process lives; without an identity it never became the command."""
        return identity is not None and alive(identity)

    def make(self, ledger: Ledger, record: Record) -> None:
        """Starts it; it is the caller's to wait until it serves."""
        with Path(self.log).open("ab") as log:
            child = subprocess.Popen(
                ["sh", "-c", AFTER_THE_WORD, "leadline", *self.groups, "--", *self.argv],
                stdin=subprocess.PIPE, stdout=log, stderr=log, cwd="/", start_new_session=True,
            )  # fmt: skip
        ledger.keep(child)
        record(identity_of(child.pid))
        assert child.stdin is not None
        with contextlib.suppress(
            BrokenPipeError
        ):  # it was killed meanwhile; whoever waits for it will say so
            child.stdin.write(b"go\n")
            child.stdin.close()

    def remove(self, ledger: Ledger, identity: str | None) -> None:
        """SIGTERM, then SIGKILL, then whatever it left behind in its group."""
        assert identity is not None
        signal_one(identity, signal.SIGTERM)
        if not _ended(identity, self.stop_seconds):
            signal_one(identity, signal.SIGKILL)
            if not _ended(identity, KILLED_WITHIN_SECONDS):
                raise Busy(
                    f"{self.described()} ({identity}) cannot be killed; it is stuck in the kernel, see dmesg"
                )
        for group in self.groups[:1]:
            kill_members(Path(group))

    def crew(self, identity: str) -> list[str]:
        """The identities of the process and of all its descendants."""
        pids = {int(identity.partition(":")[0]), *(members(Path(self.groups[0])) if self.groups else ())}
        return [each for pid in sorted(pids) if (each := identity_or_none(pid))]


def identity_of(pid: int) -> str:
    """`pid:start:boot`; start is in clock ticks since boot."""
    return _identity(pid, _stat(pid))


def identity_or_none(pid: int) -> str | None:
    """None for a process that has ended."""
    try:
        return identity_of(pid)
    except OSError:
        return None


def alive(identity: str) -> bool:
    """Whether that very process runs; a zombie does not, unless only its first thread has ended: the others keep its files and ports."""
    stat = _stat_of(identity)
    return stat is not None and (stat[STATE] not in ("Z", "X") or int(stat[THREADS]) > 1)


def state(identity: str) -> str | None:
    """The letter of proc_pid_stat(5): R, S, D, T, Z; None when it has ended."""
    stat = _stat_of(identity)
    return None if stat is None else stat[STATE]


def signal_one(identity: str, number: signal.Signals) -> None:
    """Sends a signal to that very process: the descriptor pins it, so the id cannot be reused under our hand."""
    try:
        descriptor = os.pidfd_open(int(identity.partition(":")[0]))
    except OSError:
        return
    try:
        if alive(identity):
            signal.pidfd_send_signal(descriptor, number)
    except ProcessLookupError:
        return
    finally:
        os.close(descriptor)


def _stat_of(identity: str) -> list[str] | None:
    """Of that very process, by one look; None when it has ended."""
    pid = int(identity.partition(":")[0])
    try:
        stat = _stat(pid)
    except OSError:
        return None
    return stat if _identity(pid, stat) == identity else None


def _identity(pid: int, stat: list[str]) -> str:
    return f"{pid}:{stat[START]}:{_boot()}"


def _stat(pid: int) -> list[str]:
    """The fields after the name, which may hold blanks and brackets itself."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text()[:8]


def _ended(identity: str, within_seconds: float) -> bool:
    patience = Patience(within_seconds)
    while alive(identity):
        if patience.is_over():
            return False
        time.sleep(0.01)
    return True
