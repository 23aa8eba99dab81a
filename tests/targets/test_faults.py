"""Faults: each takes hold, and each is undone when told, when its time is up, and when leadline is killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from lab_parts import EVERYTHING, WISHES, eventually

from leadline.errors import UserError
from leadline.run.lab import lifecycle
from leadline.run.lab.faults import cut_link, fill_disk, kill, pause
from leadline.run.lab.journal import Entry, Journal
from leadline.run.lab.namespaces import links
from leadline.run.lab.network import network_of
from leadline.run.lab.processes import Process, alive, signal_one, state
from leadline.run.lab.state import lab_state

NAME = "everything"
LEFT_BYTES = 1 << 20


@dataclass(frozen=True)
class Case:
    """A fault, and how one sees from outside whether it holds."""

    begin: Callable[[Journal, float], AbstractContextManager[None]]
    holds: Callable[[Journal], bool]


def server(journal: Journal) -> Entry:
    return next(entry for entry in journal.entries() if isinstance(entry.resource, Process))


def identity(journal: Journal) -> str:
    found = server(journal).identity
    assert found is not None
    return found


def network() -> Any:
    return network_of(lab_state(NAME).prefix, 2)


def mount_point() -> Path:
    return lab_state(NAME).folder / "mount"


def free_bytes() -> int:
    status = os.statvfs(mount_point())
    return status.f_bavail * status.f_frsize


CASES = {
    "cut link": Case(
        lambda journal, seconds: cut_link(journal, network().hosts[1], seconds),
        lambda journal: "UP" not in links(network().switch)["p2"],
    ),
    "pause": Case(
        lambda journal, seconds: pause(journal, server(journal).number, seconds),
        lambda journal: state(identity(journal)) == "T",
    ),
    "kill": Case(
        lambda journal, seconds: kill(journal, server(journal).number, seconds),
        lambda journal: not alive(identity(journal)),
    ),
    "full disk": Case(
        lambda journal, seconds: fill_disk(journal, mount_point(), LEFT_BYTES, seconds),
        lambda journal: free_bytes() <= LEFT_BYTES,
    ),
}
each_fault = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@pytest.fixture
def lab(labs: Path) -> Journal:
    lifecycle.bring_up(NAME, EVERYTHING, WISHES, lambda line: None)
    journal = Journal(lab_state(NAME).journal)
    process = server(journal).resource
    assert isinstance(process, Process)
    assert eventually(lambda: len(process.crew(identity(journal))) == 2)
    return journal


@each_fault
def test_it_holds_in_the_block_and_is_undone_after(case: Case, lab: Journal) -> None:
    before = [entry.number for entry in lab.entries()]
    with case.begin(lab, 60):
        assert eventually(lambda: case.holds(lab))  # a process stops when it is next given a processor
    assert eventually(lambda: not case.holds(lab))
    assert [entry.number for entry in lab.entries()] == before


@each_fault
def test_it_is_undone_when_its_time_is_up(case: Case, lab: Journal) -> None:
    begun = time.monotonic()
    with case.begin(lab, 0.5):
        assert eventually(lambda: case.holds(lab) or time.monotonic() - begun >= 0.5)
        assert eventually(lambda: not case.holds(lab))
    assert not case.holds(lab)


@each_fault
def test_it_is_undone_after_kill_9_of_leadline(
    case: Case, lab: Journal, forked: Callable[[Callable[[], None]], int], traces: Callable[[], Any]
) -> None:
    read, write = os.pipe()

    def break_it() -> None:
        with case.begin(Journal(lab.path), 3600):
            os.write(write, b"!")
            time.sleep(3600)

    child = forked(break_it)
    os.read(read, 1)
    assert eventually(lambda: case.holds(lab))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert eventually(lambda: not case.holds(lab))
    lifecycle.tear_down(NAME)
    assert eventually(lambda: traces().processes == ())  # the guard is gone too
    assert traces().files == () and traces().mounts == ()


@each_fault
def test_lab_down_ends_a_fault_that_its_guard_has_not_ended(
    case: Case, lab: Journal, forked: Callable[[Callable[[], None]], int], traces: Callable[[], Any]
) -> None:
    read, write = os.pipe()

    def break_it() -> None:
        with case.begin(Journal(lab.path), 3600):
            os.write(write, b"!")
            time.sleep(3600)

    forked(break_it)
    os.read(read, 1)
    lifecycle.tear_down(NAME)
    assert eventually(lambda: traces().processes == ())
    assert traces().files == () and traces().mounts == () and traces().namespaces == ()


def test_a_restarted_server_is_the_same_command_and_stopped_with_the_lab(lab: Journal) -> None:
    first = identity(lab)
    with kill(lab, server(lab).number, 60):
        pass
    second = identity(lab)
    assert second != first and alive(second)
    lifecycle.tear_down(NAME)
    assert not alive(second)


def test_a_restarted_server_hears_sigterm_and_ctrl_c_as_the_first_one_did(lab: Journal) -> None:
    def ignored() -> str:
        status = Path("/proc", identity(lab).partition(":")[0], "status").read_text()
        return next(line for line in status.splitlines() if line.startswith("SigIgn:"))

    first = ignored()
    with kill(lab, server(lab).number, 60):
        pass
    assert ignored() == first


def test_all_processes_of_a_paused_server_stand_still(lab: Journal) -> None:
    process = server(lab).resource
    assert isinstance(process, Process)
    crew = process.crew(identity(lab))
    with pause(lab, server(lab).number, 60):
        assert eventually(lambda: [state(each) for each in crew] == ["T", "T"])
    assert "T" not in [state(each) for each in crew]


def test_a_reused_process_id_is_never_signalled(lab: Journal) -> None:
    """The journal's process has ended and another runs under its id: undoing leaves that one alone."""
    entry = server(lab)
    pid, start, boot = identity(lab).split(":")
    lab.recorder(entry.number)(f"{pid}:{int(start) - 1}:{boot}")
    signal_one(identity(lab), signal.SIGKILL)
    lab.remove(entry.number)
    assert alive(f"{pid}:{start}:{boot}")


def test_a_fault_without_an_end_is_refused(lab: Journal) -> None:
    with pytest.raises(UserError, match="a fault may last"), cut_link(lab, network().hosts[0], 0):
        raise AssertionError


def test_a_server_that_is_gone_cannot_be_paused(lab: Journal) -> None:
    with pytest.raises(UserError, match="stopped already"), pause(lab, "nowhere", 1):
        raise AssertionError
