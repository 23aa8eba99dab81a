"""Clients that start together or not at all, and of which none is forgotten."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from leadline.errors import UserError
from leadline.run.crews.together import Together
from leadline.run.executable import engine_executable
from leadline.run.hosts.local import LocalHost
from leadline.run.seams import Client, Completed, Gate, Invocation


@pytest.fixture(autouse=True)
def _engine_is_there() -> None:
    try:
        engine_executable()
    except UserError as error:
        pytest.skip(str(error))


class LateHost(LocalHost):
    """Takes its time to get to the gate: until it may."""

    came_ns = 0

    def __init__(self) -> None:
        super().__init__()
        self.may_come = threading.Event()

    def run(
        self,
        invocation: Invocation,
        on_start: Callable[[int], None],
        on_line: Callable[[str], None],
        gate: Gate | None = None,
    ) -> Completed:
        assert self.may_come.wait(60)
        self.came_ns = time.monotonic_ns()
        return super().run(invocation, on_start, on_line, gate)


def client(name: str, host: LocalHost | None = None) -> Client:
    return Client(name, host or LocalHost(), Path("/"))


def invocations(folder: Path, **scripts: str) -> dict[str, Invocation]:
    made = {}
    for name, script in scripts.items():
        scratch = folder / name
        scratch.mkdir()
        made[name] = Invocation(("sh", "-c", script), scratch, scratch, 120)
    return made


def run(
    crew: Together, asked: Mapping[str, Invocation], lines: list[str] | None = None
) -> Mapping[str, Completed]:
    heard = lines if lines is not None else []
    return crew.run(asked, lambda pid: None, heard.append)


def test_nobody_starts_before_the_last_one_is_there(tmp_path: Path) -> None:
    late = LateHost()
    crew = Together([client("a"), client("late", late), client("c")])
    threading.Timer(0.7, late.may_come.set).start()
    completed = run(crew, invocations(tmp_path, a="touch ran", late="touch ran", c="touch ran"))
    assert [each.exit_code for each in completed.values()] == [0, 0, 0]
    assert late.came_ns > 0
    assert all(each.started_ns > late.came_ns for each in completed.values())
    assert all(each.wall_ns <= each.ended_ns - late.came_ns for each in completed.values()), (
        "waiting is not working"
    )
    starts = [each.started_ns for each in completed.values()]
    assert crew.facts()["release_skew_ns"] == max(starts) - min(starts)


def test_only_the_clients_that_are_asked_for_are_waited_for(tmp_path: Path) -> None:
    crew = Together([client("a"), client("b")])
    assert set(run(crew, invocations(tmp_path, b="true"))) == {"b"}


def test_their_output_is_told_apart_and_their_lines_are_heard(tmp_path: Path) -> None:
    crew, lines = Together([client("a"), client("b")]), []  # type: ignore[var-annotated]
    completed = run(crew, invocations(tmp_path, a="echo from a", b="echo from b; exit 3"), lines)
    assert (completed["a"].stdout, completed["b"].stdout) == ("from a\n", "from b\n")
    assert (completed["a"].exit_code, completed["b"].exit_code) == (0, 3)
    assert sorted(lines) == ["from a\n", "from b\n"]


def test_a_client_that_cannot_start_keeps_the_others_from_starting_and_everyone_has_a_reason(
    tmp_path: Path,
) -> None:
    asked = invocations(tmp_path, a="touch ran", b="touch ran")
    asked["broken"] = Invocation(("no-such-program",), tmp_path, tmp_path, 20)
    completed = run(Together([client("a"), client("broken"), client("b")]), asked)
    assert "no-such-program was not found" in str(completed["broken"].reason)
    for name in ("a", "b"):
        assert completed[name].reason == "it was not started, because another client could not be"
        assert not (tmp_path / name / "ran").exists()


def test_a_client_that_dies_at_work_is_told_from_those_that_finished(tmp_path: Path) -> None:
    crew = Together([client("a"), client("b")])
    completed = run(crew, invocations(tmp_path, a="sleep 0.2; echo done", b="kill -9 $PPID"))
    assert completed["a"].reason is None
    assert completed["a"].stdout == "done\n"
    assert "its supervisor left no report" in str(completed["b"].reason)


def test_an_interrupt_reaches_those_at_work(tmp_path: Path) -> None:
    crew = Together([client("a"), client("b")])
    asked = invocations(tmp_path, a="touch ready; sleep 600", b="touch ready; sleep 600")
    interrupter = threading.Thread(
        target=lambda: (
            wait_for(tmp_path / "a" / "ready"),
            wait_for(tmp_path / "b" / "ready"),
            crew.interrupt(),
        )
    )
    interrupter.start()
    completed = run(crew, asked)
    interrupter.join()
    assert all(each.interrupted and not each.timed_out for each in completed.values())


def test_an_interrupt_reaches_those_that_wait_at_the_gate(tmp_path: Path) -> None:
    late = LateHost()
    crew = Together([client("a"), client("late", late)])
    asked = invocations(tmp_path, a="touch ran", late="touch ran")
    threading.Timer(0.3, lambda: (crew.interrupt(), late.may_come.set())).start()
    completed = run(crew, asked)
    assert all(each.interrupted and each.reason for each in completed.values())
    assert not list(tmp_path.glob("*/ran"))


LEADLINE_THAT_IS_KILLED = """
import sys
from pathlib import Path
from leadline.run.crews.together import Together
from leadline.run.hosts.local import LocalHost
from leadline.run.seams import Client, Invocation
here = Path(sys.argv[1])
script = "setsid sh -c 'echo $$ > child; exec sleep 300' & sleep 300"
asked = {name: Invocation(("sh", "-c", script), here / name, here / name, 300) for name in ("a", "b")}
Together([Client(name, LocalHost(), here) for name in asked]).run(asked, print, print)
"""


def test_nothing_outlives_a_leadline_that_is_killed(tmp_path: Path) -> None:
    children = [tmp_path / name / "child" for name in ("a", "b")]
    for child in children:
        child.parent.mkdir()
    leadline = subprocess.Popen(
        [sys.executable, "-c", LEADLINE_THAT_IS_KILLED, tmp_path], stdout=subprocess.DEVNULL
    )
    for child in children:
        wait_for(child, filled=True)
    leadline.send_signal(signal.SIGKILL)
    leadline.wait()
    for child in children:
        wait_until(lambda child=child: not Path(f"/proc/{int(child.read_text())}").exists())  # type: ignore[misc]


def wait_for(path: Path, filled: bool = False) -> None:
    wait_until(lambda: path.exists() and (not filled or path.stat().st_size > 0))


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)
