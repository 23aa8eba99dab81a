"""The control: free-running load and delayed probes on one directory seen twice hold everything; and what is asked for wrongly."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from leadline.errors import UserError
from leadline.run.consistency.clients import Station
from leadline.run.consistency.delays import MECHANISMS, Probing, planned
from leadline.run.consistency.histories import Asked, FreeRun, sound_histories
from leadline.store.histories import read_histories, write_histories

Leadline = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def twice(work_directory: Path) -> list[Station]:
    return [Station("A", work_directory), Station("B", work_directory)]


def test_everything_that_is_exercised_holds_on_one_directory(
    twice: list[Station], work_directory: Path, tmp_path: Path
) -> None:
    asked = Asked(FreeRun(2.0), Probing(6, 0.1), 0.1, control=True, keep=tmp_path / "kept")
    result = sound_histories("control", twice, None, asked, {})
    report = result.report
    wrong = [line for line in report["lines"] if line["verdict"] != "held"]
    assert wrong == [] and report["whole"], wrong
    assert {line["kind"] for line in report["lines"]} >= {"register", "append_log", "entry", "locked_counter"}
    assert report["operations"] > 1000
    assert [sample.stale for sample in result.delays] == [False] * 6 * len(MECHANISMS)
    assert list(work_directory.iterdir()) == []
    names = {path.name for path in (tmp_path / "kept").glob("*.history")}
    assert names == {"A.history", "B.history", "witness.history"}
    write_histories(tmp_path / "result.json", result)
    assert read_histories(tmp_path / "result.json").report == report


def test_delays_are_drawn_for_every_mechanism_and_pair_and_repeat_with_their_seed() -> None:
    todo = planned(Probing(50, 1.0, 3), ["A", "B", "C"])
    assert len(todo) == 200 and todo == planned(Probing(50, 1.0, 3), ["A", "B", "C"])
    assert todo != planned(Probing(50, 1.0, 4), ["A", "B", "C"])
    assert len({(probe.mechanism, probe.writer, probe.reader) for probe in todo}) == 4 * 6
    assert all(0 <= probe.delay_seconds <= 1.0 and 0 <= probe.fill_seconds <= 0.1 for probe in todo)
    assert sum(probe.delay_seconds < 0.1 for probe in todo) > 50, "short delays are probed as well"


@contextlib.contextmanager
def when_loaded(act: Callable[[int], None]) -> Iterator[None]:
    """Acts on the process of client B, a while after it had begun to change things."""
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            for entry in Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError):
                    words = (entry / "cmdline").read_bytes().split(b"\0")
                    if any(word.endswith(b"B.step.json") for word in words) and int(entry.name) in children():
                        time.sleep(0.7)
                        return act(int(entry.name))
            time.sleep(0.05)
        return None

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def children() -> set[int]:
    told = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return {int(word) for word in told}


def test_a_client_that_is_killed_leaves_an_incomplete_history_and_nothing_counts_as_violated(
    twice: list[Station], work_directory: Path
) -> None:
    with when_loaded(lambda pid: os.kill(pid, signal.SIGKILL)):
        result = sound_histories("killed", twice, None, Asked(FreeRun(2.0), None, 0.1, control=True), {})
    assert result.report["whole"] is False
    assert not [line for line in result.report["lines"] if line["verdict"] == "violated"]
    assert any("the client B has ended: it was killed" in note for note in result.notes)
    assert list(work_directory.iterdir()) == []


def test_a_filesystem_without_room_for_the_objects_is_refused_in_one_sentence(
    mounted: Callable[..., Path],
) -> None:
    full = mounted("tmpfs", "size=1m,nr_inodes=20")
    stations = [Station("A", full), Station("B", full)]
    with pytest.raises(UserError, match=r"no object of the sort \w+ can be made: No space left on device"):
        sound_histories("full", stations, None, Asked(FreeRun(1.0), None, 0.1, control=True), {})
    assert list(full.iterdir()) == []


def test_a_folder_that_holds_other_records_is_refused(twice: list[Station], tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    with pytest.raises(UserError, match="is not empty"):
        sound_histories("kept", twice, None, Asked(FreeRun(0.1), None, 0.1, True, tmp_path), {})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--histories", "soon"), '"soon" is not a duration'),
        (("--only", "histories", "--json", "x.json"), "--json and --html hold the grid"),
        (("--histories-json", "x.json"), "ask for one of them"),
        (("--keep-histories", "x"), "as in --histories 20s"),
        (("--only", "delays", "--longest-delay", "0s"), "--longest-delay must be longer than 0 s"),
    ],
)
def test_a_mistake_in_the_command_is_one_sentence(
    leadline: Leadline, work_directory: Path, words: tuple[str, ...], said: str
) -> None:
    done = leadline("consistency", work_directory, work_directory, "--control", *words)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr
