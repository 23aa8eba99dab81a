"""Real fio, real files: a campaign from its first step to its report, and whatever may interrupt it."""

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random

import pytest

from held_fio import HeldFio
from leadline.cli.main import main
from leadline.cli.sounding import resume

pytestmark = pytest.mark.fio
Leadline = Callable[..., subprocess.CompletedProcess[str]]
Started = Callable[..., subprocess.Popen[str]]
Stored = Callable[[Path], dict[int, list[object]]]
Hold = Callable[[int], HeldFio]
KILLS = 20
STEPS = 5


def wait_until(condition: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.005)


def test_a_campaign_runs_to_its_report_and_leaves_the_directory_empty(
    campaign: Path, work_directory: Path, tmp_path: Path, leadline: Leadline, stored: Stored
) -> None:
    run = tmp_path / "results"
    done = leadline("run", campaign, "--directory", work_directory, "--output", run)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].startswith("[1/5] laying out files: 1 x 1 x 1m: ")
    assert [line.split("]")[0] for line in lines[:STEPS]] == [f"[{step}/5" for step in range(1, STEPS + 1)]
    assert all("IOPS" in line and "mean" in line for line in lines[:STEPS])
    assert str(run / "report.html") in done.stdout.replace("\n", "")
    assert list(work_directory.iterdir()) == []
    steps = stored(run)
    assert sorted(steps) == list(range(STEPS))
    assert "tiny" in (run / "report.html").read_text()


def test_stored_totals_are_those_that_fio_printed(
    campaign: Path, work_directory: Path, tmp_path: Path, leadline: Leadline, stored: Stored
) -> None:
    run = tmp_path / "results"
    leadline("run", campaign, "--directory", work_directory, "--output", run)
    for ordinal, (_, measurements) in stored(run).items():
        printed = json.loads(gzip.decompress((run / "raw" / f"{ordinal:05d}.fio.json.gz").read_bytes()))
        totals = [
            (job[direction]["total_ios"], job[direction]["io_bytes"])
            for job in printed["jobs"] for direction in ("read", "write") if job[direction]["total_ios"]
        ]  # fmt: skip
        assert [(each[1], each[2]) for each in measurements] == totals  # type: ignore[index, attr-defined]


def test_the_command_that_a_report_shows_repeats_the_cell_when_pasted_after_the_run(
    campaign: Path, work_directory: Path, tmp_path: Path, leadline: Leadline
) -> None:
    run = tmp_path / "results"
    leadline("run", campaign, "--directory", work_directory, "--output", run)
    cell = json.loads(leadline("show", run, "--json").stdout)["runs"][0]["cells"][0]
    pasted = subprocess.run(
        cell["command"], shell=True, capture_output=True, text=True, timeout=120, check=True
    )
    printed = json.loads(pasted.stdout)
    assert sum(job[cell["direction"]]["total_ios"] for job in printed["jobs"]) > 0


def test_the_seed_decides_the_order_and_the_offsets(campaign: Path, leadline: Leadline) -> None:
    listed = [leadline("plan", campaign, "--all").stdout for _ in range(2)]
    assert listed[0] == listed[1]
    campaign.write_text(campaign.read_text().replace('name = "tiny"', 'name = "tiny"\nseed = 5'))
    assert leadline("plan", campaign, "--all").stdout != listed[0]


def in_a_process(act: Callable[[], object], output: Path) -> int:
    """Does it in a process of its own, which need not wait for Python and its imports to start; its id."""
    child = os.fork()
    if child:
        return child
    code = 1
    with output.open("w") as file, redirect_stdout(file), redirect_stderr(file):
        try:
            act()
            code = 0
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        finally:
            file.flush()
            os._exit(code)


def command(*words: object) -> Callable[[], None]:
    def act() -> None:
        sys.argv = ["leadline", *map(str, words)]
        main()

    return act


@pytest.mark.slow
def test_a_run_killed_at_twenty_random_moments_loses_at_most_the_cell_in_flight(
    campaign: Path, work_directory: Path, tmp_path: Path, stored: Stored, working_in: Callable[[Path], list[str]]
) -> None:  # fmt: skip
    """Each run is killed once at a moment of its own, from its start to beyond its last step, and then resumed."""
    campaign.write_text(campaign.read_text().replace("200ms", "100ms"))
    random = Random(20260102)
    kept_at_kill = []
    for kill in range(KILLS):
        run, said = tmp_path / f"results-{kill}", tmp_path / f"said-{kill}"
        running = in_a_process(
            command("run", campaign, "--directory", work_directory, "--output", run), tmp_path / "out"
        )
        wait_until(lambda run=run: (run / "manifest.json").exists())  # type: ignore[misc]
        # After so many steps, whatever the machine's speed, and then at any moment of the next one.
        wait_until(lambda run=run, kill=kill: len(stored(run)) >= kill % (STEPS + 1))  # type: ignore[misc]
        time.sleep(random.uniform(0, 0.4))
        before_kill = stored(run)
        os.kill(running, signal.SIGKILL)
        os.waitpid(running, 0)
        wait_until(lambda: not working_in(work_directory))
        kept = stored(run)
        assert before_kill.items() <= kept.items(), "what was stored before the kill is stored after it"
        results = list((run / "raw").glob("*.fio.json.gz"))
        assert len(results) - len(kept) <= 1, "whatever had been measured is kept, but for the cell in flight"
        kept_at_kill.append(len(kept))
        # As the command does it, without the report, which would take most of the time.
        resumed = in_a_process(lambda run=run: resume(run), said)  # type: ignore[misc]
        assert os.waitstatus_to_exitcode(os.waitpid(resumed, 0)[1]) == 0, said.read_text()
        whole = stored(run)
        assert sorted(whole) == list(range(STEPS)), "every step is there"
        assert kept.items() <= whole.items(), "the figures of finished steps are unchanged"
        assert {step[0][0] for step in whole.values()} == {"finished"}  # type: ignore[index]
        assert said.read_text().count("\n") == STEPS - len(kept), "only what was missing was run, a line each"
        assert list(work_directory.iterdir()) == [], "nothing is left behind"
        assert not list(run.glob("scratch-*"))
        shutil.rmtree(run)
    assert len(set(kept_at_kill)) >= 4, f"the kills fell on different steps: {kept_at_kill}"


def test_resuming_runs_only_the_steps_that_are_missing(
    campaign: Path, work_directory: Path, tmp_path: Path, leadline: Leadline, started: Started, stored: Stored, held_fio: Hold
) -> None:  # fmt: skip
    run, held = tmp_path / "results", held_fio(3)
    process = started("run", campaign, "--directory", work_directory, "--output", run)
    wait_until(held.stands)
    process.kill()
    process.wait()
    held.let_go()
    kept = len(stored(run))
    assert kept == 2
    lines = [line for line in leadline("run", "--resume", run).stdout.splitlines() if line.startswith("[")]
    assert lines[0].startswith(f"[{kept + 1}/5]")
    assert len(lines) == STEPS - kept


def test_a_finished_run_can_be_resumed_and_nothing_is_run(
    campaign: Path, work_directory: Path, tmp_path: Path, leadline: Leadline, stored: Stored
) -> None:
    run = tmp_path / "results"
    leadline("run", campaign, "--directory", work_directory, "--output", run)
    before = stored(run)
    done = leadline("run", "--resume", run)
    assert done.returncode == 0
    assert stored(run) == before
    assert "[1/5]" not in done.stdout


def test_what_a_run_killed_while_it_cleaned_up_left_is_removed_when_it_is_resumed(
    campaign: Path, work_directory: Path, tmp_path: Path, leadline: Leadline
) -> None:
    run = tmp_path / "results"
    leadline("run", campaign, "--directory", work_directory, "--output", run)
    (work_directory / ".leadline").write_text('{"made_by": "leadline", "process": 1}\n')
    (work_directory / "leadline-files-1x1m").mkdir()
    assert leadline("run", "--resume", run).returncode == 0
    assert list(work_directory.iterdir()) == []


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_keeps_finished_steps_and_says_how_to_go_on(
    by: signal.Signals, campaign: Path, work_directory: Path, tmp_path: Path, started: Started, stored: Stored,
    working_in: Callable[[Path], list[str]],
) -> None:  # fmt: skip
    campaign.write_text(campaign.read_text().replace("200ms", "120s"))
    run = tmp_path / "results"
    process = started("run", campaign, "--directory", work_directory, "--output", run)
    wait_until(lambda: stored(run) and any("--runtime" in line for line in working_in(work_directory)))
    asked = time.monotonic()
    process.send_signal(by)
    output, _ = process.communicate(timeout=100)
    assert time.monotonic() - asked < 100, "it does not wait for the cell to end"
    assert process.returncode == 130
    assert "Stopped; 1 of 5 steps are kept" in output
    assert f"leadline run --resume {run}" in output
    assert "Traceback" not in output
    assert working_in(work_directory) == []
    assert list(work_directory.iterdir()) == []
    assert list(stored(run)) == [0]


def test_an_impatient_second_ctrl_c_changes_nothing(
    campaign: Path, work_directory: Path, tmp_path: Path, started: Started, stored: Stored, working_in: Callable[[Path], list[str]]
) -> None:  # fmt: skip
    campaign.write_text(campaign.read_text().replace("200ms", "120s"))
    process = started("run", campaign, "--directory", work_directory, "--output", tmp_path / "results")
    wait_until(
        lambda: (
            stored(tmp_path / "results") and any("--runtime" in line for line in working_in(work_directory))
        )
    )
    for _ in range(3):
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)
    output, _ = process.communicate(timeout=100)
    assert process.returncode == 130
    assert "Traceback" not in output
    assert list(work_directory.iterdir()) == []


def test_a_directory_that_disappears_in_mid_run_is_recorded_and_reported(
    campaign: Path, work_directory: Path, tmp_path: Path, started: Started, stored: Stored, held_fio: Hold
) -> None:
    run, held = tmp_path / "results", held_fio(3)
    process = started("run", campaign, "--directory", work_directory, "--output", run)
    wait_until(held.stands)
    work_directory.rename(tmp_path / "moved")
    held.let_go()
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    assert f"FAILED: {work_directory} has disappeared" in output
    assert sorted(stored(run)) == list(range(STEPS))
    assert (run / "report.html").exists()
    shutil.rmtree(tmp_path / "moved")


@pytest.mark.root
def test_a_disk_that_fills_up_under_fio_is_a_recorded_failure(
    tmp_path: Path, mounted: Callable[..., Path], started: Started, stored: Stored, held_fio: Hold
) -> None:
    """The space was there when the run began; something else takes it while the first cell runs."""
    held = held_fio(2)
    inside = mounted("tmpfs", "size=12m")
    (tmp_path / "c.toml").write_text(FILLED_UP)
    process = started("run", tmp_path / "c.toml", "--directory", inside, "--output", tmp_path / "results")
    wait_until(held.stands)
    (inside.parent / "filler").write_bytes(bytes(8 << 20))
    held.let_go()
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    assert "FAILED: fio's job 0 ended with error 28" in output
    statuses = [step[0][0] for _, step in sorted(stored(tmp_path / "results").items())]  # type: ignore[index]
    assert statuses == ["finished", "finished", "failed", "finished"], "and the walk goes on"
    assert list(inside.iterdir()) == []


FILLED_UP = """
name = "filled up"
baselines = false
noise_repeats = 0
order = "as written"

[[experiment]]
name = "before"
rw = "randread"
size = "1m"
runtime = "1s"

[[experiment]]
name = "too large by now"
rw = "write"
block_size = "64k"
size = "8m"

[[experiment]]
name = "after"
rw = "write"
size = "1m"
"""
