"""Faults by name from the command line, on a lab that another process works with; and the journal that all of them share."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster_parts import campaign, skip_unless_installed, statuses
from held_parts import Held
from lab_parts import WISHES, eventually

from held_fio import HeldFio
from leadline.errors import UserError
from leadline.run.lab import gate, lifecycle
from leadline.run.lab.breaking import end_faults, fault, standing_faults
from leadline.run.lab.files import Directory
from leadline.run.lab.journal import Journal
from leadline.run.lab.namespaces import links
from leadline.run.lab.parts import parts_of, ready_lab
from leadline.run.lab.processes import alive, state
from leadline.run.lab.signals import ending_orderly
from leadline.run.lab.state import known_labs, lab_state

NAME = "held"
LEFT_BYTES = 1 << 20
Leadline = Callable[..., subprocess.CompletedProcess[str]]
Look = Callable[[], Any]
Fork = Callable[[Callable[[], None]], int]
Start = Callable[..., subprocess.Popen[str]]


def journal() -> Journal:
    return Journal(lab_state(NAME).journal)


def server() -> str:
    _, ready = ready_lab(NAME)
    identity = journal().identity(ready.servers["server"])
    assert identity is not None
    return identity


def is_cut() -> bool:
    host = parts_of(*ready_lab(NAME)).host("client1")
    return "UP" not in links(host.switch)[host.port]


def is_full() -> bool:
    """Whether root can have what was to be left, and not much more; asked while nobody fills, who would miss what the question takes."""
    with gate.passing(lab_state(NAME).folder):
        return fits(LEFT_BYTES // 2) and not fits(2 * LEFT_BYTES)


def fits(size_bytes: int) -> bool:
    with tempfile.TemporaryFile(dir=lab_state(NAME).folder / "mount") as file:
        try:
            os.posix_fallocate(file.fileno(), 0, size_bytes)
        except OSError as error:
            assert error.errno == errno.ENOSPC
            return False
        return True


HOLDS: dict[str, tuple[tuple[str, ...], Callable[[], bool]]] = {
    "cut": (("client1",), is_cut),
    "pause": (("server",), lambda: state(server()) == "T"),
    "kill": (("server",), lambda: not alive(server())),
    "fill": (("disk1", "--leave", "1MiB"), is_full),
}
each_verb = pytest.mark.parametrize("verb", HOLDS)


@pytest.fixture
def start(argv: Callable[..., list[str]], tmp_path: Path) -> Iterator[Start]:
    """Starts `leadline lab fault` on the lab and leaves it to the test."""
    started: list[subprocess.Popen[str]] = []

    def begin(*words: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            argv("lab", "fault", NAME, *words), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )  # fmt: skip
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@pytest.fixture
def campaign_stands(forked: Fork) -> Iterator[int]:
    """Another process is the lab's master and holds its lock; it takes the lab down on SIGTERM."""
    read, write = os.pipe()

    def stand() -> None:
        with ending_orderly(), lifecycle.standing(NAME, Held(), WISHES, lambda line: None, "/runs/one"):
            os.write(write, b"up")
            while True:  # signal.pause() would wait for ever where the signal comes just before it
                time.sleep(0.05)

    child = forked(stand)
    assert os.read(read, 2) == b"up"
    yield child


@each_verb
def test_it_holds_while_a_campaign_has_the_lock_and_is_over_in_time(
    verb: str, campaign_stands: int, start: Start
) -> None:
    words, holds = HOLDS[verb]
    assert not holds()
    for seconds in ("1.5", "15.0"):  # the longer one when this test stood still all through the shorter
        process, seen = start(verb, *words, "--seconds", seconds), False
        while not seen and process.poll() is None:
            seen = holds()
            time.sleep(0.01)  # one who asks without a pause may keep the others from the gate
        assert process.wait(60) == 0
        assert not holds() and standing_faults(lab_state(NAME)) == []
        said = process.communicate()[0]
        assert said.splitlines() == [
            f"{verb} {words[0]}: holds, for {seconds} s at most",
            f"{verb} {words[0]}: over",
        ]
        if seen:
            return
    pytest.fail("nobody saw it hold")


@each_verb
def test_kill_9_of_the_command_undoes_it(verb: str, campaign_stands: int, start: Start) -> None:
    words, holds = HOLDS[verb]
    process = start(verb, *words, "--seconds", "1h")
    assert eventually(holds)
    process.kill()
    assert eventually(lambda: not holds())


@each_verb
def test_ctrl_c_ends_it_early(verb: str, campaign_stands: int, start: Start) -> None:
    words, holds = HOLDS[verb]
    process = start(verb, *words, "--seconds", "1h")
    assert eventually(holds) and process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0 and not holds()


@each_verb
def test_end_ends_it_now_and_the_command_that_made_it_returns(
    verb: str, campaign_stands: int, start: Start, leadline: Leadline
) -> None:
    words, holds = HOLDS[verb]
    process = start(verb, *words, "--seconds", "1h")
    assert eventually(lambda: len(standing_faults(lab_state(NAME))) == 1 and holds())
    assert leadline("lab", "status", NAME).stdout.count("\nfault   ") == 1
    ended = leadline("lab", "fault", NAME, "end")
    assert ended.stdout.startswith("ended: ") and not holds()
    assert process.wait(60) == 0
    assert leadline("lab", "fault", NAME, "end").stdout == f"no fault stands in {NAME}\n"


@each_verb
def test_a_lab_that_goes_down_takes_its_faults_along(
    verb: str, campaign_stands: int, start: Start, traces: Look
) -> None:
    words, holds = HOLDS[verb]
    process = start(verb, *words, "--seconds", "1h")
    assert eventually(lambda: len(standing_faults(lab_state(NAME))) == 1 and holds())
    os.kill(campaign_stands, signal.SIGTERM)
    assert os.WEXITSTATUS(os.waitpid(campaign_stands, 0)[1]) == 1  # KeyboardInterrupt, after the way down
    process.wait(60)
    assert known_labs() == [] and eventually(lambda: traces().processes == ())
    assert traces().mounts == () and traces().loops == () and traces().namespaces == ()


def test_a_fault_can_be_timed_to_come_later(campaign_stands: int, start: Start) -> None:
    begun = time.monotonic()
    process = start("cut", "client1", "--seconds", "1h", "--after", "1500ms")
    assert eventually(is_cut) and process.stdout is not None
    assert time.monotonic() - begun >= 1.5
    assert "holds" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0 and not is_cut()


def test_no_fault_is_made_once_the_lab_goes_down() -> None:
    lifecycle.bring_up(NAME, Held(), WISHES, lambda line: None)
    before = journal().path.read_text()
    gate.close(lab_state(NAME).folder)
    with pytest.raises(UserError, match="is being taken down"), fault(NAME, "cut", "client1", 5):
        raise AssertionError
    assert journal().path.read_text() == before and not is_cut()


def test_the_way_down_waits_for_a_fault_that_is_just_being_made() -> None:
    lifecycle.bring_up(NAME, Held(), WISHES, lambda line: None)
    closed = threading.Thread(target=gate.close, args=(lab_state(NAME).folder,))
    with gate.entered(lab_state(NAME).folder):
        closed.start()
        closed.join(0.3)
        assert closed.is_alive()
    closed.join(60)
    assert not closed.is_alive()


def test_a_server_that_does_not_come_back_is_told(tmp_path: Path) -> None:
    once = ("sh", "-c", f"mkdir {tmp_path}/here || exit 3; exec sleep 1000")
    lifecycle.bring_up(NAME, Held(server=once), WISHES, lambda line: None)
    assert eventually((tmp_path / "here").exists)
    with (
        pytest.raises(UserError, match="server was started again and has ended by itself"),
        fault(NAME, "kill", "server", 60),
    ):
        pass


def test_a_server_started_again_lives_under_the_limits_it_was_moved_to() -> None:
    lifecycle.bring_up(NAME, Held(), WISHES, lambda line: None)
    group = limited_group()
    (group / "cgroup.procs").write_text(server().partition(":")[0])
    with fault(NAME, "kill", "server", 60):
        assert (group / "cgroup.procs").read_text() == ""
    assert eventually(lambda: (group / "cgroup.procs").read_text().split() == [server().partition(":")[0]])


def limited_group() -> Path:
    from leadline.run.lab.conditions import limit

    return Path(limit(journal(), f"{lab_state(NAME).prefix}-test-limits", cores=1).paths[0])


def test_two_faults_stand_side_by_side_and_the_same_one_twice_is_refused() -> None:
    lifecycle.bring_up(NAME, Held(), WISHES, lambda line: None)
    with fault(NAME, "cut", "client1", 60), fault(NAME, "fill", "server", 60, LEFT_BYTES):
        assert is_cut() and is_full() and len(standing_faults(lab_state(NAME))) == 2
        with pytest.raises(UserError, match="client1 is cut off already"), fault(NAME, "cut", "client1", 5):
            raise AssertionError
        with (
            fault(NAME, "kill", "server", 60),
            pytest.raises(UserError, match="server is killed already"),
            fault(NAME, "pause", "server", 5),
        ):
            raise AssertionError
    assert not is_cut() and not is_full() and end_faults(NAME) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("cut", "cleint1", "--seconds", "1"), 'no host "cleint1"; did you mean "client1"?'),
        (("kill", "client1", "--seconds", "1"), 'no server "client1" (it has: server)'),
        (("fill", "disk2", "--seconds", "1"), 'no disk "disk2"; did you mean "disk1"?'),
        (("kil", "server", "--seconds", "1"), 'no fault "kil"; did you mean "kill"?'),
        (("cut", "client1"), "needs to know of what and for how long"),
        (("cut", "client1", "--seconds", "0"), "a fault may last more than 0"),
        (("cut", "client1", "--seconds", "1", "--leave", "1k"), "--leave goes with fill, not with cut"),
    ],
)
def test_a_wrong_fault_is_one_sentence(words: tuple[str, ...], said: str, leadline: Leadline) -> None:
    lifecycle.bring_up(NAME, Held(), WISHES, lambda line: None)
    refused = leadline("lab", "fault", NAME, *words)
    assert refused.returncode == 2 and said in refused.stderr and len(refused.stderr.splitlines()) == 1
    assert standing_faults(lab_state(NAME)) == []


def test_a_lab_that_is_not_up_has_nothing_to_break(leadline: Leadline) -> None:
    refused = leadline("lab", "fault", "moosefs", "cut", "client1", "--seconds", "1")
    assert refused.returncode == 2 and "moosefs is not up (no lab is up)" in refused.stderr


def test_many_processes_write_one_journal_and_every_line_is_whole(tmp_path: Path, forked: Fork) -> None:
    path = tmp_path / "journal.jsonl"
    long = "x" * 9000  # more than a page, so that a write takes several steps

    def write() -> None:
        for number in range(60):
            Journal(path).intend(Directory(f"/nowhere/{os.getpid()}-{number}-{long}"))

    children = [forked(write) for _ in range(4)]
    seen = [0]
    while len(seen) < 10_000 and seen[-1] < 240:
        seen.append(len(Journal(path).entries()))  # raises when it meets half a line
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 4
    assert seen == sorted(seen) and len({each.resource for each in Journal(path).entries()}) == 240


@pytest.mark.anybody
def test_a_line_that_a_killed_writer_left_is_taken_away_by_the_next(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    first = journal.intend(Directory("/nowhere/one"))
    with journal.path.open("a") as file:
        file.write('{"number": "half", "event": "inten')
    assert [each.number for each in journal.entries()] == [first]
    second = journal.intend(Directory("/nowhere/two"))
    assert [each.number for each in journal.entries()] == [first, second]


@pytest.mark.fio
def test_a_campaign_outlives_a_cut_cable(
    held_fio: Callable[[int], HeldFio], argv: Callable[..., list[str]], tmp_path: Path, traces: Look
) -> None:
    """The cable is cut while a load is held, so that the next ones meet it."""
    skip_unless_installed("moosefs")
    before, run, held = traces(), tmp_path / "run", held_fio(2)
    words, quiet = argv("run", campaign("moosefs", tmp_path), "--output", run), subprocess.DEVNULL
    cut = argv("lab", "fault", "moosefs", "cut", "client1", "--seconds", "1.5")
    with subprocess.Popen(words, cwd=tmp_path, stdout=quiet, stderr=quiet) as running:
        assert eventually(held.stands)
        with subprocess.Popen(cut, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as broken:
            assert broken.stdout is not None and "holds" in broken.stdout.readline()
            held.let_go()
            assert broken.stdout.read() == "cut client1: over\n" and broken.wait(60) == 0
        assert running.wait(120) == 0
    assert set(statuses(run)) == {"finished"}
    assert eventually(lambda: traces() == before)


def test_a_mount_whose_server_is_gone_does_not_stop_the_way_down(traces: Look) -> None:
    skip_unless_installed("moosefs")
    before = traces()
    from leadline.run.lab.registry import lab_target

    lifecycle.bring_up("moosefs", lab_target("moosefs"), WISHES, lambda line: None)
    _, ready = ready_lab("moosefs")
    master = Journal(lab_state("moosefs").journal).identity(ready.servers["mfsmaster"])
    assert master is not None
    os.kill(int(master.partition(":")[0]), signal.SIGKILL)
    started = time.monotonic()
    lifecycle.tear_down("moosefs")
    assert time.monotonic() - started < 120
    assert eventually(lambda: traces() == before)
