"""The control: free-running load and delayed probes on one directory seen twice hold everything; and what is asked for wrongly."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from attempts import attempts
from leadline.errors import UserError
from leadline.run.consistency.clients import Station
from leadline.run.consistency.delays import MECHANISMS, Probing, planned
from leadline.run.consistency.histories import Asked, FreeRun, sound_histories
from leadline.run.consistency.load_clients import CHANGES_DONE, LoadClient
from leadline.store.histories import read_histories, write_histories

Leadline = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def twice(work_directory: Path) -> list[Station]:
    return [Station("A", work_directory), Station("B", work_directory)]


def test_everything_that_is_exercised_holds_on_one_directory(
    twice: list[Station], work_directory: Path, tmp_path: Path
) -> None:
    for number, attempt in enumerate(attempts()):
        kept = tmp_path / f"kept{number}"
        asked = Asked(FreeRun(2.0), Probing(6, 0.1), 0.1, control=True, keep=kept)
        result = sound_histories("control", twice, None, asked, {})
        report = result.report
        verdicts = {line["verdict"] for line in report["lines"]}
        assert verdicts <= {"held", "not_exercised"} and report["whole"], report["lines"]
        with attempt:
            assert verdicts == {"held"} and report["operations"] > 200
            kinds = {line["kind"] for line in report["lines"]}
            assert kinds >= {"register", "append_log", "entry", "locked_counter"}
    assert [sample.stale for sample in result.delays] == [False] * 6 * len(MECHANISMS)
    assert list(work_directory.iterdir()) == []
    names = {path.name for path in kept.glob("*.history")}
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


def test_a_client_that_is_killed_leaves_an_incomplete_history_and_nothing_counts_as_violated(
    twice: list[Station], work_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the midst of its changes: it writes nothing down before it is told that all have done theirs."""
    await_barrier = LoadClient.await_barrier

    def kill_b_first(client: LoadClient, number: int, within_seconds: float) -> None:
        if number == CHANGES_DONE and client.station.name == "B":
            time.sleep(0.7)
            client._process.kill()
        await_barrier(client, number, within_seconds)

    monkeypatch.setattr(LoadClient, "await_barrier", kill_b_first)
    result = sound_histories("killed", twice[::-1], None, Asked(FreeRun(2.0), None, 0.1, control=True), {})
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
