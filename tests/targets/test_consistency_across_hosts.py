"""`leadline consistency HOST:DIRECTORY HOST:DIRECTORY`: clients on hosts that ssh reaches, clocks compared, nothing left there.

The hosts are namespaces of this machine, so their clocks are one: what is measured of them has to hold the true offset, 0.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from cluster_parts import skip_unless_installed, up
from lab_parts import eventually, is_load_at_work
from ssh_parts import Remote

from attempts import attempts
from leadline.analyse.staleness import staleness
from leadline.analyse.visibility import windows
from leadline.store.histories import read_histories
from leadline.store.visibility import Ending, read_visibility

Leadline = Callable[..., subprocess.CompletedProcess[str]]
SOME = ("--mutation", "unlink", "--mutation", "append", "--mutation", "rename over", "--trials", "2")


def nothing_is_left(remotes: list[Remote], *directories: Path) -> None:
    for directory in directories:
        assert list(directory.iterdir()) == []
    for remote in remotes:
        assert eventually(lambda remote=remote: remote.processes() == [] and remote.leavings() == [])  # type: ignore[misc]


def test_two_hosts_that_share_an_ext4_hold_everything_and_their_clocks_are_known(
    remotes: list[Remote], work_directory: Path, leadline: Leadline, tmp_path: Path
) -> None:
    """With more lanes than sshd carries sessions on one connection (MaxSessions)."""
    places = [f"{remote.name}:{work_directory}" for remote in remotes]
    found, grid = tmp_path / "histories.json", tmp_path / "grid.json"
    words = (
        "--histories",
        "3s",
        "--delays",
        "4",
        "--longest-delay",
        "0.2s",
        "--patience",
        "0.5s",
        "--lanes",
        "12",
    )
    for number, attempt in enumerate(attempts()):
        kept = tmp_path / f"kept{number}"
        files = ("--histories-json", found, "--json", grid, "--keep-histories", kept)
        done = leadline("consistency", *places, "--control", *words, *SOME, *files)
        assert done.returncode == 0, done.stdout + done.stderr
        result = read_histories(found)
        assert result.report["whole"]
        assert not [line for line in result.report["lines"] if line["verdict"] == "violated"]
        assert [client["host"] for client in result.clients] == [remote.name for remote in remotes]
        clocks = result.facts["clocks"]
        assert set(clocks) == {remote.name for remote in remotes}
        for facts in clocks.values():
            assert facts["jumped_ns"] == 0 and facts["readings"] > 5
            assert abs(facts["offset_ns"]) <= facts["error_ns"], (
                "the clocks are one, and the bounds hold that"
            )
        assert "The clients are on 2 hosts" in done.stdout
        assert {sample.stale for sample in result.delays} == {False}
        assert {window.ending for window in windows(read_visibility(grid))} == {Ending.AT_ONCE}
        histories = {path.name for path in kept.glob("*.history")}
        assert histories == {"A.history", "B.history", "witness.history"}
        nothing_is_left(remotes, work_directory)
        with attempt:  # how much is done in three seconds, and how long the ways are
            assert result.report["operations"] > 300
            for facts in clocks.values():
                # The last reading is no record, and may be off by more than any of them.
                assert 0 < facts["error_ns"] < 50_000_000
                assert 0 < facts["largest_record_error_ns"] < 50_000_000


def test_a_host_and_this_machine_see_on_two_juicefs_mounts_what_one_machine_sees(
    remotes: list[Remote], leadline: Leadline, tmp_path: Path
) -> None:
    skip_unless_installed("juicefs")
    here, there = (Path(client.directory) for client in up("juicefs", clients=2).clients)
    grid = tmp_path / "grid.json"
    for attempt in attempts():
        done = leadline(
            "consistency", f"{remotes[0].name}:{there}", here, *SOME, "--patience", "2s", "--json", grid
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        result = read_visibility(grid)
        assert [client.get("host") for client in result.clients] == [remotes[0].name, None]
        assert {client["filesystem"] for client in result.clients} == {"fuse.juicefs"}
        lost = {window.cell.mutation for window in windows(result) if window.ending is Ending.LOST}
        assert lost <= {"append"}
        with attempt:  # turns that a stall made longer than the cache time lose nothing
            assert lost, "appends by turns are lost by JuiceFS, wherever its clients are"
    nothing_is_left(remotes[:1], here)


def test_juicefs_on_two_hosts_loses_appends_and_shows_its_cache_time_whose_delays_are_between_hosts(
    remotes: list[Remote], leadline: Leadline, tmp_path: Path
) -> None:
    skip_unless_installed("juicefs")
    found = tmp_path / "histories.json"
    mounts = [Path(client.directory) for client in up("juicefs", clients=2).clients]
    places = [f"{remote.name}:{mount}" for remote, mount in zip(remotes, mounts, strict=True)]
    quick = ("--mutation", "unlink", "--probe", "stat", "--trials", "1", "--patience", "1.5s")
    words = ("--histories", "6s", "--delays", "40", "--longest-delay", "2s", "--histories-json", found)
    for attempt in attempts():
        done = leadline("consistency", *places, *quick, *words)
        assert done.returncode == 0, done.stdout + done.stderr
        result = read_histories(found)
        lines = {(line["kind"], line["guarantee"]): line for line in result.report["lines"]}
        with attempt:
            assert lines["append_log", "no_lost_write"]["verdict"] == "violated"
            assert lines["append_log", "no_lost_write"]["anomalies"].keys() == {"lost"}
            for each in staleness(result.delays):
                assert each.cache_time is not None
                assert each.cache_time.low_seconds <= 1.2 and each.cache_time.high_seconds >= 0.8, each
            for facts in result.facts["clocks"].values():
                assert 0 < facts["largest_delay_error_ns"] < 50_000_000
    nothing_is_left(remotes, mounts[0])


def test_one_mount_under_one_kernel_is_refused_whatever_names_its_host_has(
    remotes: list[Remote], work_directory: Path, leadline: Leadline
) -> None:
    first, second = (f"{remote.name}:{work_directory}" for remote in remotes)
    for places in ((first, first), (first, second), (str(work_directory), second)):
        done = leadline("consistency", *places)
        assert done.returncode == 2 and "lie on the same mounted filesystem" in done.stderr, done.stderr
        assert places[1] in done.stderr
    nothing_is_left(remotes, work_directory)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("{host}:relative", "give the whole path"),
        ("{host}:{work}/missing", "there is no directory"),
        ("{host}:/", "is the root of a mounted filesystem"),
        ("{host}:{work}/foreign", "'thesis.txt' is in it"),
        ("nowhere:{work}", "nowhere cannot be reached"),
    ],
)
def test_a_place_that_is_unfit_is_refused_in_one_sentence(
    remotes: list[Remote], work_directory: Path, leadline: Leadline, place: str, said: str
) -> None:
    (work_directory / "foreign").mkdir()
    (work_directory / "foreign/thesis.txt").touch()
    given = place.format(host=remotes[0].name, work=work_directory)
    done = leadline("consistency", given, f"{remotes[1].name}:{work_directory}")
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert [path.name for path in work_directory.rglob("*")] == ["foreign", "thesis.txt"]


def test_what_a_killed_run_left_on_the_hosts_is_gone_soon_after(
    remotes: list[Remote], work_directory: Path, tmp_path: Path, argv: Callable[..., list[str]]
) -> None:
    places = [f"{remote.name}:{work_directory}" for remote in remotes]
    words = ("--control", "--only", "histories", "--histories", "20s", "--patience", "0.5s")
    process = subprocess.Popen(
        argv("consistency", *places, *words),
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert eventually(lambda: len(list(work_directory.glob("leadline-visibility-*/objects/*"))) > 5)
    process.kill()
    process.wait()
    assert eventually(lambda: list(work_directory.iterdir()) == [])
    nothing_is_left(remotes, work_directory)


@pytest.mark.parametrize("victim", ["load", "host"])
def test_a_client_or_host_that_dies_leaves_an_incomplete_history_and_says_so(
    remotes: list[Remote], work_directory: Path, leadline: Leadline, tmp_path: Path, victim: str
) -> None:
    killer = threading.Thread(target=_kill_under_load, args=(remotes[1], victim == "host"))
    killer.start()
    found = tmp_path / "histories.json"
    places = [f"{remote.name}:{work_directory}" for remote in remotes]
    words = ("--only", "histories", "--histories", "4s", "--patience", "0.2s", "--histories-json", found)
    done = leadline("consistency", *places, "--control", *words)
    killer.join()
    assert done.returncode == 2, done.stdout + done.stderr
    document = json.loads(found.read_text())
    assert document["report"]["whole"] is False
    assert not [line for line in document["report"]["lines"] if line["verdict"] == "violated"]
    assert any("its part of the history is missing" in note for note in document["notes"])
    nothing_is_left(remotes[: 1 if victim == "host" else 2], work_directory)


def _kill_under_load(remote: Remote, everything: bool) -> None:
    """The load there, or whatever runs on the host, ssh included. A load that is killed before it has begun is an error of the user's."""
    loads: list[int] = []

    def are_at_work() -> bool:
        loads[:] = [pid for pid in _pids(remote) if is_load_at_work(Path(f"/proc/{pid}"))]
        return bool(loads)

    assert eventually(are_at_work)
    for pid in _pids(remote) if everything else loads:
        with contextlib.suppress(ProcessLookupError):  # it ended with the one before
            os.kill(pid, signal.SIGKILL)


def _pids(remote: Remote) -> list[int]:
    listed = subprocess.run(
        ["ip", "netns", "pids", remote.host.namespace], capture_output=True, text=True, check=True
    )
    return [int(pid) for pid in listed.stdout.split()]
