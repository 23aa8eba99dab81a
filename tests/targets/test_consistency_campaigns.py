"""Consistency in a campaign: really run, kept in the run, resumed after a kill, judged against promises, and laid out in the report."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attempts import attempts
from leadline.run.lab.state import lab_state
from leadline.store.records import Status
from leadline.store.run_folder import RunFolder
from leadline.store.visibility import DECIDED, Ending, visibility_of

Leadline = Callable[..., subprocess.CompletedProcess[str]]
TWO_CACHES = """
name = "caches"
order = "as written"
baselines = false
noise_repeats = 0
[[target]]
label = "no caches"
name = "juicefs"
options = { attr-cache = 0, entry-cache = 0, dir-entry-cache = 0 }
[[target]]
label = "caches of 1 s"
name = "juicefs"
options = { attr-cache = 1, entry-cache = 1, dir-entry-cache = 1 }
[[experiment]]
name = "rates"
engine = "metadata"
items_per_directory = 200
directories = false
[[experiment]]
name = "seen"
engine = "consistency"
cells = ["unlink / stat, looked", "append / append, read"]
trials = 2
patience = "2s"
promise = ["close-to-open", "bounded=1ms"]
"""
CONTROL = """
name = "control"
baselines = false
[[experiment]]
name = "control"
engine = "consistency"
control = true
cells = ["unlink / stat", "append / append", "rename over / open"]
trials = 2
patience = "500ms"
promise = "posix"
"""
LONG = CONTROL.replace("trials = 2", "trials = 400").replace("500ms", "20s")


def campaign(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "campaign.toml"
    path.write_text(text)
    return path


def test_caches_are_late_and_lose_appends_no_caches_do_not_and_the_report_has_the_price(
    leadline: Leadline, tmp_path: Path
) -> None:
    for number, attempt in enumerate(attempts()):
        run = tmp_path / f"run{number}"
        done = leadline("run", campaign(tmp_path, TWO_CACHES), "--output", run)
        assert done.returncode == 0, done.stdout + done.stderr
        shown = json.loads(leadline("show", "--json", run).stdout)["runs"][0]
        none, second = shown["consistency"]
        assert (none["label"], second["label"]) == ("no caches", "caches of 1 s")
        assert shown["failed"] == [] and shown["missing_cells"] == 0
        ending = {
            one["label"]: {each["cell"]: each["ending"] for each in one["grid"]} for one in (none, second)
        }
        assert ending["no caches"]["append / append, read, writer close"] != "lost"
        (price,) = shown["prices"]
        fresh, late = price["points"]
        assert (fresh["cache_seconds"], late["cache_seconds"]) == (0, 1) and fresh["appends_lost"] == 0
        page = (run / "report.html").read_text()
        assert "The price of consistency: juicefs" in page
        with attempt:
            assert ending["caches of 1 s"]["unlink / stat, looked"] == "later"
            assert ending["caches of 1 s"]["append / append, read, writer close"] == "lost"
            verdicts = {each["promise"]: each["verdict"] for each in second["promises"]}
            assert verdicts == {"close-to-open": "violated", "bounded=1ms": "violated"}
            assert 0.5e9 < late["stale_ns"] < 2e9 and late["appends_lost"] == 2
            assert late["rates_per_second"]["file stat"] > fresh["rates_per_second"]["file stat"]
            assert "LOST 2 of 2" in page


@pytest.mark.anybody
def test_a_directory_seen_twice_is_a_control_that_holds_everything_and_leaves_nothing(
    leadline: Leadline, tmp_path: Path, work_directory: Path
) -> None:
    run = tmp_path / "run"
    done = leadline("run", campaign(tmp_path, CONTROL), "--directory", work_directory, "--output", run)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "promise posix: held" in " ".join(done.stdout.split())
    (record,) = RunFolder.open(run).records()
    assert record.status is Status.FINISHED and list(record.documents) == ["visibility"]
    assert list(work_directory.iterdir()) == []


@pytest.mark.anybody
def test_one_mount_has_no_two_clients_and_is_refused_before_anything_is_written(
    leadline: Leadline, tmp_path: Path, work_directory: Path
) -> None:
    run = tmp_path / "run"
    alone = CONTROL.replace("control = true\n", "")
    done = leadline("run", campaign(tmp_path, alone), "--directory", work_directory, "--output", run)
    assert done.returncode == 2 and not run.exists()
    assert "has 1 of the 3 mounts" in done.stderr and "control = true" in done.stderr


def test_mounts_that_are_there_already_are_clients_each(leadline: Leadline, tmp_path: Path) -> None:
    """Two mounts of one JuiceFS that a lab brought up, given as directories; no third, so no witness."""
    up = leadline("lab", "up", "juicefs", "--clients", "2")
    assert up.returncode == 0, up.stderr
    seats = json.loads(lab_state("juicefs").ready.read_text())["clients"]
    first, second = (seat["directory"] for seat in seats)
    target = f"[[target]]\ndirectory = {json.dumps(first)}\nmounts = [{json.dumps(second)}]\n"
    text = CONTROL.replace("control = true", "witness = false").replace(
        "[[experiment]]", f"{target}[[experiment]]"
    )
    path = campaign(tmp_path, text.replace('"posix"', '"eventual"'))
    for number, attempt in enumerate(attempts()):
        run = tmp_path / f"run{number}"
        done = leadline("run", path, "--output", run)
        assert done.returncode == 0, done.stdout + done.stderr
        (site,) = json.loads(leadline("show", "--json", run).stdout)["runs"][0]["consistency"]
        endings = {each["cell"]: each["ending"] for each in site["grid"]}
        with attempt:  # turns that a stall made longer than the cache time lose nothing
            assert endings["append / append, read, writer close"] == "lost"
            assert [each["verdict"] for each in site["promises"]] == ["violated"]
    assert leadline("lab", "down", "juicefs").returncode == 0


def test_mounts_that_die_meanwhile_fail_the_step_which_keeps_what_was_seen_and_the_lab_goes_down(
    argv: Callable[..., list[str]], tmp_path: Path, labs: Path, traces: Callable[[], Any]
) -> None:
    before = traces()
    text = LONG.replace("control = true", 'targets = ["juicefs"]').replace("20s", "2s").replace("400", "60")
    path, run = campaign(tmp_path, "target = 'juicefs'\n" + text), tmp_path / "run"
    with subprocess.Popen(
        argv("run", path, "--output", run), cwd=tmp_path, stdout=subprocess.DEVNULL
    ) as running:
        try:
            mount = lab_state("juicefs").folder / "client2"
            # Trials are begun in their order, a few at a time: by then some are decided, and most are not begun.
            _until(lambda: any(mount.glob("work/leadline-consistency-*/leadline-visibility-*/9-*")))
            daemons = _daemons(labs)
            assert daemons
            for daemon in daemons:
                os.kill(daemon, signal.SIGKILL)
            assert running.wait(120) == 0
        finally:
            running.send_signal(signal.SIGINT)  # a test that failed would wait for all of its trials
    (record,) = RunFolder.open(run).records()
    assert record.status is Status.FAILED and record.reason is not None and "was cut short" in record.reason
    endings = {trial.ending for trial in visibility_of(record.documents["visibility"]).trials}
    assert Ending.UNDECIDED in endings and endings & DECIDED
    assert "undecided" in (run / "report.html").read_text()
    _until(lambda: traces() == before)


def _daemons(labs: Path) -> list[int]:
    """The JuiceFS processes that serve mounts of this test's labs; they blank the end of their command lines, so which serves which is
    not to be seen."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
            ours = f"LEADLINE_LAB_STATE={labs}".encode() in (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if ours and words.split(b" ")[0].endswith(b"juicefs") and b" mount " in words:
            found.append(int(entry.name))
    return found


@pytest.mark.anybody
def test_killed_in_a_sounding_it_is_resumed_and_nothing_is_left(
    leadline: Leadline, argv: Callable[..., list[str]], tmp_path: Path, work_directory: Path
) -> None:
    run, path = tmp_path / "run", campaign(tmp_path, LONG)
    command = argv("run", path, "--directory", work_directory, "--output", run)
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL) as running:
        _until(lambda: any(work_directory.glob("leadline-consistency-*/leadline-visibility-*/*")))
        os.kill(running.pid, signal.SIGKILL)
    _until(lambda: not _engines(work_directory))
    assert RunFolder.open(run).records() == []
    _shorten(run)
    resumed = leadline("run", "--resume", run)
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert [record.status for record in RunFolder.open(run).records()] == [Status.FINISHED]
    assert list(work_directory.iterdir()) == []


def _shorten(run: Path) -> None:
    """What was killed would take minutes; its plan asks for less from now on."""
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["plan"][0]["cell"] |= {"trials": 1, "patience": 0.5}
    (run / "manifest.json").write_text(json.dumps(manifest))


def _engines(directory: Path) -> list[str]:
    """Clients that still work there."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if "visibility-client" in words and str(directory) in words:
            found.append(words)
    return found


def _until(true: Callable[[], bool], within_seconds: float = 60.0) -> None:
    until = time.monotonic() + within_seconds
    while not true():
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.05)
