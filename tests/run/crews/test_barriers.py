"""Barriers that commands ask for while they run: nobody goes on before all are there, and nobody waits for one who is gone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from leadline.errors import UserError
from leadline.run.crews.barriers import Barriers
from leadline.run.crews.together import Together
from leadline.run.executable import engine_executable
from leadline.run.hosts.answering import LEFT_ALONE
from leadline.run.hosts.local import LocalHost
from leadline.run.seams import Client, Completed, Invocation


def in_threads(*calls: Callable[[], object]) -> list[object]:
    """What each call came to, all at once; a broken barrier comes to its own type."""
    results: list[object] = [None] * len(calls)

    def note(place: int, call: Callable[[], object]) -> None:
        try:
            results[place] = call()
        except threading.BrokenBarrierError:
            results[place] = threading.BrokenBarrierError

    threads = [threading.Thread(target=note, args=each, daemon=True) for each in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "somebody still waits"
    return results


def test_all_leave_with_the_greatest_number_that_was_brought() -> None:
    barriers = Barriers(3)

    def rounds(place: int) -> list[int]:
        return [barriers.meet(number, number * 10 + place) for number in range(1, 200)]

    expected = [number * 10 + 2 for number in range(1, 200)]
    assert in_threads(*(lambda place=place: rounds(place) for place in range(3))) == [expected] * 3


def test_who_leaves_is_waited_for_by_nobody_now_or_later() -> None:
    barriers = Barriers(3)
    assert in_threads(
        lambda: barriers.meet(1, 0),
        lambda: time.sleep(0.2) or barriers.leave(),
        lambda: time.sleep(0.4) or barriers.meet(1, 0),
    ) == [threading.BrokenBarrierError, None, threading.BrokenBarrierError]


def test_who_leaves_after_the_last_barrier_breaks_nothing() -> None:
    barriers = Barriers(2)
    assert in_threads(lambda: (barriers.meet(1, 4), barriers.leave()), lambda: (time.sleep(0.1), barriers.meet(1, 5))[1]) == [
        (5, None), 5
    ]  # fmt: skip


def test_a_client_at_another_barrier_is_not_taken_for_one_at_this() -> None:
    barriers = Barriers(2)
    assert (
        in_threads(lambda: barriers.meet(1, 0), lambda: barriers.meet(2, 0))
        == [threading.BrokenBarrierError] * 2
    )


@pytest.fixture
def _engine_that_takes_answers() -> None:
    import subprocess

    try:
        said = subprocess.run(
            [engine_executable(), "supervise", "--help"], capture_output=True, text=True, check=True
        )
    except UserError as error:
        pytest.skip(str(error))
    assert "--answers" in said.stdout, "leadline-engine is older than leadline: build it anew"


def run(folder: Path, lines: list[str] | None = None, **scripts: str) -> Mapping[str, Completed]:
    """Real shells under real supervisors, which ask and are answered."""
    asked = {}
    for name, script in scripts.items():
        scratch = folder / name
        scratch.mkdir()
        asked[name] = Invocation(("sh", "-c", script), scratch, scratch, 120, takes_answers=True)
    crew = Together([Client(name, LocalHost(), Path("/")) for name in scripts])
    return crew.run(asked, lambda pid: None, (lines if lines is not None else []).append)


ASK = "echo barrier {} {}; read answer; echo heard $answer; "


@pytest.mark.usefixtures("_engine_that_takes_answers")
def test_commands_are_answered_when_all_have_asked(tmp_path: Path) -> None:
    lines: list[str] = []
    late = "sleep 0.3; " + ASK.format(1, 7) + ASK.format(2, 1)
    completed = run(tmp_path, lines, a=ASK.format(1, 3) + "sleep 0.2; " + ASK.format(2, 9), b=late)
    assert [each.exit_code for each in completed.values()] == [0, 0]
    for each in completed.values():
        assert [line for line in each.stdout.splitlines() if "heard" in line] == [
            "heard go 1 7",
            "heard go 2 9",
        ]
    assert sorted(lines) == ["heard go 1 7\n"] * 2 + ["heard go 2 9\n"] * 2, (
        "questions are told to nobody else"
    )


@pytest.mark.usefixtures("_engine_that_takes_answers")
def test_a_client_that_dies_ends_the_others_and_tells_why(tmp_path: Path) -> None:
    waits = ASK.format(1, 0) + "sleep 600"
    completed = run(tmp_path, a=waits, b="sleep 0.3; kill -9 $$", c=waits)
    assert not any(each.timed_out for each in completed.values()), (
        "nobody waits for the dead until the timeout"
    )
    assert (completed["b"].exit_code, completed["b"].reason) == (None, None)
    assert {completed[name].reason for name in "ac"} == {LEFT_ALONE}


@pytest.mark.usefixtures("_engine_that_takes_answers")
def test_an_interrupt_ends_clients_that_wait_at_a_barrier(tmp_path: Path) -> None:
    asked = {}
    for name, script in {"a": ASK.format(1, 0), "b": "sleep 600"}.items():
        (tmp_path / name).mkdir()
        argv = ("sh", "-c", script)
        asked[name] = Invocation(argv, tmp_path / name, tmp_path / name, 120, takes_answers=True)
    crew = Together([Client(name, LocalHost(), Path("/")) for name in asked])
    threading.Timer(0.5, crew.interrupt).start()
    completed = crew.run(asked, lambda pid: None, lambda line: None)
    assert all(each.interrupted and not each.timed_out for each in completed.values())
