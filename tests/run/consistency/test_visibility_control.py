"""The control: one mount seen twice must hold everything, so whatever is not at once there would be a mistake of the grid's own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from leadline.errors import UserError
from leadline.run.consistency import lanes
from leadline.run.consistency.clients import Client, ClientLost, Station
from leadline.run.consistency.grid import chosen, full_factorial
from leadline.run.consistency.visibility import Sounding, sound
from leadline.store.visibility import Ending, read_visibility, write_visibility

Leadline = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def twice(work_directory: Path) -> list[Station]:
    return [Station("A", work_directory), Station("B", work_directory)]


def test_every_combination_that_makes_sense_is_seen_at_once_on_one_mount(
    twice: list[Station], work_directory: Path, tmp_path: Path
) -> None:
    cells = full_factorial()
    result = sound("control", twice, None, Sounding(cells, 1, 0.2, control=True), {})
    assert len(result.trials) == len(cells)
    odd = [trial for trial in result.trials if trial.ending is not Ending.AT_ONCE]
    assert {
        (str(trial.cell), trial.reason) for trial in odd if trial.ending is not Ending.UNSUPPORTED
    } == set()
    assert len(odd) < len(cells) / 4, "what this filesystem does not offer (xattrs, O_DIRECT) is a few cells"
    assert list(work_directory.iterdir()) == []
    path = tmp_path / "trials.json"
    write_visibility(result, path)
    assert read_visibility(path) == result


def test_writers_and_readers_take_turns(twice: list[Station]) -> None:
    (cell,) = chosen("default", ["chmod"])
    todo = lanes.assignments([cell], 4, twice, "f")
    assert [(each.writer, each.reader) for each in todo] == [("A", "B"), ("B", "A")] * 2
    assert len({each.folder for each in todo}) == 4


def test_of_three_clients_each_writes_for_each(twice: list[Station], work_directory: Path) -> None:
    stations = [*twice, Station("C", work_directory)]
    cells = chosen("default", ["chmod"])
    result = sound("three", stations, None, Sounding(cells, 6, 0.2, control=True), {})
    pairs = {(trial.writer, trial.reader) for trial in result.trials}
    assert pairs == {("A", "B"), ("A", "C"), ("B", "A"), ("B", "C"), ("C", "A"), ("C", "B")}
    assert {trial.ending for trial in result.trials} == {Ending.AT_ONCE}
    assert set(result.trials[0].at_the_end) == {"A", "B", "C"}


def test_a_client_that_hangs_leaves_what_was_not_done_undecided(
    twice: list[Station], monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = []
    attempt = lanes.attempt

    def freeze_first(cell, folder, writer, reader, patience_seconds):  # type: ignore[no-untyped-def]
        if len(stopped) < 1:
            stopped.append(reader._process.pid)
            os.kill(stopped[0], signal.SIGSTOP)
            monkeypatch.setattr("leadline.run.consistency.clients.ANSWERS_WITHIN_SECONDS", 0.3)
        return attempt(cell, folder, writer, reader, patience_seconds)

    monkeypatch.setattr(lanes, "attempt", freeze_first)
    try:
        result = sound("control", twice, None, Sounding(chosen("default"), 1, 0.2, lanes=1, control=True), {})
    finally:
        for process in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
    assert {trial.ending for trial in result.trials} == {Ending.UNDECIDED}
    assert all("did not answer within" in trial.reason for trial in result.trials)
    assert result.settings["settled_seconds"] is None
    assert any("cut short" in note for note in result.notes)


def test_a_client_whose_process_died_is_lost(work_directory: Path) -> None:
    client = Client(Station("A", work_directory))
    client._process.kill()
    client._process.wait()
    with pytest.raises(ClientLost, match="the client A has ended"):
        client.do([{"call": "release"}])
    client.close()


def test_the_command_tells_holds_the_promise_and_writes_both_files(
    leadline: Leadline, work_directory: Path, tmp_path: Path
) -> None:
    page, trials = tmp_path / "matrix.html", tmp_path / "trials.json"
    done = leadline(
        "consistency", work_directory, work_directory, "--control", "--patience", "0.3s", "--trials", "1",
        "--promise", "posix", "--json", trials, "--html", page,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Promise posix: held" in done.stdout and "append" in done.stdout
    assert json.loads(trials.read_text())["format"] == "leadline visibility 1"
    text = page.read_text()
    assert "Visibility matrix" in text and "http" not in text.replace("http-equiv", "")
    assert list(work_directory.iterdir()) == []


def test_the_same_mount_given_twice_is_refused_and_explained(
    leadline: Leadline, work_directory: Path
) -> None:
    done = leadline("consistency", work_directory, work_directory)
    assert done.returncode == 2
    assert "lie on the same mounted filesystem" in done.stderr and "--control" in done.stderr
    assert list(work_directory.iterdir()) == []


def test_a_folder_with_files_of_somebody_else_is_refused_and_left_alone(
    leadline: Leadline, work_directory: Path
) -> None:
    (work_directory / "thesis.tex").write_text("years of work")
    done = leadline("consistency", work_directory, work_directory, "--control")
    assert done.returncode == 2 and "is not empty ('thesis.tex' is in it)" in done.stderr
    assert (work_directory / "thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "two mounts are needed"),
        (["/tmp"], "two mounts are needed"),
        (["/nowhere/a", "/nowhere/b"], "there is no directory /nowhere/a"),
        (["/tmp", "/tmp", "--target", "juicefs"], "give mounts or --target, not both"),
        (["/tmp", "/tmp", "--option", "attr-cache=0"], "--option goes with --target"),
        (
            ["/tmp", "/tmp", "--promise", "close-to-opem"],
            'no promise "close-to-opem"; did you mean "close-to-open"',
        ),
        (["/tmp", "/tmp", "--mutation", "unlnk"], 'no mutation "unlnk"; did you mean "unlink"'),
        (["/tmp", "/tmp", "--patience", "soon"], '"soon"'),
        (["--target", "juicfs"], 'did you mean "juicefs"'),
    ],
)
def test_a_mistake_is_one_sentence(leadline: Leadline, words: list[str], said: str) -> None:
    done = leadline("consistency", *words)
    assert done.returncode == 2
    assert said in done.stderr and done.stderr.count("\n") == 1, done.stderr


@pytest.fixture
def under_way(argv: Callable[..., list[str]], work_directory: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run in the middle of its trials, of which it has more than anybody waits for."""
    words = argv("consistency", work_directory, work_directory, "--control", "--trials", "5000")
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as started:
        until = time.monotonic() + 60
        while not list(work_directory.glob("leadline-visibility-*/*-*")) and time.monotonic() < until:
            time.sleep(0.01)
        yield started
        started.kill()


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_ended_leaves_nothing(
    by: signal.Signals, under_way: subprocess.Popen[bytes], work_directory: Path
) -> None:
    under_way.send_signal(by)
    assert under_way.wait(60) == 130
    assert list(work_directory.iterdir()) == []


def test_what_a_killed_run_left_is_removed_by_the_next(
    under_way: subprocess.Popen[bytes], leadline: Leadline, work_directory: Path
) -> None:
    under_way.kill()
    under_way.wait()
    assert list(work_directory.glob("leadline-visibility-*/*"))
    done = leadline(
        "consistency",
        work_directory,
        work_directory,
        "--control",
        "--patience",
        "0.3s",
        "--mutation",
        "chmod",
    )
    assert done.returncode == 0, done.stderr
    assert list(work_directory.iterdir()) == []


def test_directories_of_different_filesystems_are_refused(
    work_directory: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    stations = [Station("A", work_directory), Station("B", other)]
    with pytest.raises(UserError, match="does not show what is written in"):
        sound("two", stations, None, Sounding(chosen("default"), 1, 0.2, control=True), {})
    assert list(work_directory.iterdir()) == []
