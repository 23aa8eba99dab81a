"""Faults by name, on a lab that is up, also one that a campaign works with: `fault("moosefs", "cut", "client1", 5)`.

Undone when the block ends, when the time is up, when `end_faults` says so, when the lab goes down, and when this process dies.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from leadline.errors import UserError, did_you_mean
from leadline.run.lab.faults import Ballast, CutLink, Killed, Paused, cut_link, fill_disk, kill, pause
from leadline.run.lab.gate import passing
from leadline.run.lab.guards import Guard
from leadline.run.lab.journal import Entry, Journal
from leadline.run.lab.parts import Parts, parts_of, ready_lab
from leadline.run.lab.patience import Patience
from leadline.run.lab.processes import Process
from leadline.run.lab.resource import Resource
from leadline.run.lab.state import LabState

VERBS: Mapping[str, str] = {
    "cut": "a host's cable is pulled",
    "kill": "a server is killed, and started again at the end",
    "pause": "a server stands still",
    "fill": "a disk is filled",
}
RESTARTED_FOR_SECONDS = 1.0
"""How long a server that was started again is watched."""
FAULTS = (CutLink, Paused, Killed, Ballast)


@dataclass(frozen=True)
class Fault:
    """One that is made here and now."""

    journal: Path
    number: str

    def stands(self) -> bool:
        """False once anybody has undone it."""
        return Journal(self.journal).entry(self.number) is not None


@dataclass(frozen=True)
class Standing:
    """One that holds, whoever made it."""

    number: str
    described: str
    at_most_seconds: float


@contextmanager
def fault(name: str, verb: str, subject: str, seconds: float, leave_bytes: int = 0) -> Iterator[Fault]:
    """Breaks a part of a lab while the block lasts, at most so many seconds; raises UserError for what is not there or broken already."""
    state, ready = ready_lab(name)
    if verb not in VERBS:
        raise UserError(
            f'there is no fault "{verb}"{did_you_mean(verb, VERBS)} (there are: {", ".join(VERBS)})'
        )
    journal = Journal(state.journal)
    parts = parts_of(state, ready)
    with _begun(journal, parts, verb, subject, seconds, leave_bytes) as number:
        yield Fault(state.journal, number)
    if verb == "kill":
        _check_restarted(journal, subject, parts.server(subject))


def standing_faults(state: LabState) -> list[Standing]:
    """What is broken right now."""
    entries = Journal(state.journal).entries()
    guards = {each.resource.number: each.resource for each in entries if isinstance(each.resource, Guard)}
    return [
        Standing(each.number, each.resource.described(), guards[each.number].at_most_seconds)
        for each in _standing(entries)
        if each.number in guards
    ]


def end_faults(name: str) -> list[str]:
    """Undoes every fault of a lab now; what they were, in words."""
    state, _ = ready_lab(name)
    journal = Journal(state.journal)
    ended: list[str] = []
    with passing(state.folder) as is_open:
        entries = journal.entries() if is_open else []
        for each in _standing(entries):
            journal.remove(each.number)
            ended.append(each.resource.described())
        for each in entries:
            if isinstance(each.resource, Guard):
                journal.remove(each.number)
    return ended


def _begun(
    journal: Journal, parts: Parts, verb: str, subject: str, seconds: float, leave_bytes: int
) -> AbstractContextManager[str]:
    if verb == "cut":
        host = parts.host(subject)
        _refuse_twice(journal, subject, CutLink(host.switch, host.port))
        return cut_link(journal, host, seconds)
    if verb == "fill":
        point = parts.disk(subject)
        return fill_disk(journal, point, leave_bytes, seconds)
    number = parts.server(subject)
    if _is_killed(journal.entries(), number):
        raise UserError(f"{subject} is killed already; end that first with leadline lab fault NAME end")
    return (kill if verb == "kill" else pause)(journal, number, seconds)


def _check_restarted(journal: Journal, subject: str, number: str) -> None:
    """A server that does not come back after a kill is a finding of its own, and no fault that was undone."""
    patience = Patience(RESTARTED_FOR_SECONDS)
    while _stands_again(journal, subject, number) and not patience.is_over():
        time.sleep(0.05)


def _stands_again(journal: Journal, subject: str, number: str) -> bool:
    """False once it is killed anew or the lab goes down, neither of which can happen behind the gate, while we look."""
    with passing(journal.path.parent) as is_open:
        entries = journal.entries() if is_open else []
        entry = next((each for each in entries if each.number == number), None)
        if entry is None or not isinstance(entry.resource, Process) or _is_killed(entries, number):
            return False
        if not entry.resource.found(entry.identity):
            raise UserError(f"{subject} was started again and has ended by itself; see {entry.resource.log}")
        return True


def _is_killed(entries: list[Entry], number: str) -> bool:
    killings = (each.resource for each in _standing(entries) if isinstance(each.resource, Killed))
    return any(killing.number == number for killing in killings)


def _refuse_twice(journal: Journal, subject: str, wanted: Resource) -> None:
    if any(each.resource == wanted for each in _standing(journal.entries())):
        raise UserError(f"{subject} is cut off already; end that first with leadline lab fault NAME end")


def _standing(entries: list[Entry]) -> list[Entry]:
    return [
        each for each in entries if isinstance(each.resource, FAULTS) and each.resource.found(each.identity)
    ]
