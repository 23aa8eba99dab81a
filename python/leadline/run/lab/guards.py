"""The guard of a fault: a detached process that undoes it when its time is up or when leadline has died.

It waits on a pipe. Leadline and every tool that makes the fault hold the other end, so the pipe closes when the last of them is
gone: only then can nobody make the fault any more, and undoing it is final. Run as `python -m leadline.run.lab.guards`.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from leadline.errors import UserError
from leadline.run.lab.gate import entered, passing
from leadline.run.lab.journal import Journal
from leadline.run.lab.processes import alive, identity_of, signal_one
from leadline.run.lab.resource import Ledger, Record, Resource
from leadline.run.lab.signals import undisturbed

READY_WITHIN_SECONDS = 20.0
LONGEST_SECONDS = 24 * 3600.0


@dataclass(frozen=True)
class Guard:
    """The process that watches over one entry of the journal."""

    journal: str
    number: str
    at_most_seconds: float
    pipe: int
    """Our end of the pipe, as a number only this process can use."""
    only_while_up: ClassVar[bool] = False

    def described(self) -> str:
        """By its entry."""
        return f"the guard of {self.number}"

    def found(self, identity: str | None) -> bool:
        """Whether that very process lives; one that is not recorded ends by itself, its pipe is closed."""
        return identity is not None and alive(identity)

    def make(self, ledger: Ledger, record: Record) -> None:
        """Starts it and waits until it watches."""
        child = subprocess.Popen(
            [sys.executable, "-m", "leadline.run.lab.guards", self.journal, self.number, str(self.at_most_seconds)],
            stdin=self.pipe, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/", start_new_session=True,
        )  # fmt: skip
        ledger.keep(child)
        record(identity_of(child.pid))
        assert child.stdout is not None
        with child.stdout:
            ready, _, _ = select.select([child.stdout], [], [], READY_WITHIN_SECONDS)
            if not ready or child.stdout.readline() != b"watching\n":
                raise UserError(
                    "the guard that would undo the fault could not be started, so the fault was not made"
                )

    def remove(self, ledger: Ledger, identity: str | None) -> None:
        """Killed: whoever removes the guard undoes the fault next."""
        assert identity is not None
        signal_one(identity, signal.SIGKILL)


@contextmanager
def guarded(journal: Journal, fault: Resource, at_most_seconds: float) -> Iterator[str]:
    """The fault lasts as long as the block; at most so many seconds, and at most as long as this process. The number of its entry."""
    if not 0 < at_most_seconds <= LONGEST_SECONDS:
        raise UserError(
            f"a fault may last more than 0 and at most {LONGEST_SECONDS:g} seconds, not {at_most_seconds:g}"
        )
    theirs, ours = os.pipe()
    tools = journal.tools
    numbers: list[str] = []
    try:
        with entered(journal.path.parent):
            numbers.append(journal.intend(fault))
            guard = Guard(str(journal.path), numbers[0], at_most_seconds, theirs)
            numbers.append(journal.intend(guard))
            journal.perform(numbers[1], guard)
            journal.tools = tools.holding(ours)
            journal.perform(numbers[0], fault)
        yield numbers[0]
    finally:
        journal.tools = tools
        with undisturbed():
            _undo(journal, numbers)
            os.close(ours)
            os.close(theirs)


def _undo(journal: Journal, numbers: Sequence[str]) -> None:
    """The fault first: until it is undone its guard stays."""
    with passing(journal.path.parent) as is_open:
        for number in numbers if is_open else ():
            journal.remove(number)


def watch(journal: Path, number: str, at_most_seconds: float) -> None:
    """Waits for the end of the pipe or of the time, then undoes the entry; harmless when it is undone already."""
    print("watching", flush=True)
    sys.stdout.close()
    with contextlib.suppress(OSError):
        select.select([sys.stdin], [], [], at_most_seconds)
    _undo(Journal(journal), [number])


if __name__ == "__main__":
    watch(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
