"""Metadata in campaigns, from the file to the report: with data beside it, killed in a phase, on a tree that was left."""

import json
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from leadline.store.records import Direction, StepKind
from leadline.store.run_folder import RunFolder

Leadline = Callable[..., subprocess.CompletedProcess[str]]
CAMPAIGN = """
name = "names"
baselines = false
noise_repeats = 0

[[experiment]]
name = "tree"
engine = "metadata"
depth = 1
branching_factor = 2
items_per_directory = {items}
numjobs = [1, 2]
"""
DATA = """
[[experiment]]
name = "data"
rw = "randread"
size = "1m"
runtime = "200ms"
"""


@pytest.fixture
def campaign(tmp_path: Path) -> Callable[..., Path]:
    def write(items: int, more: str = "") -> Path:
        """`more` goes on where the experiment ends."""
        path = tmp_path / "names.toml"
        path.write_text(CAMPAIGN.format(items=items) + more)
        return path

    return write


def has_files(directory: Path) -> bool:
    """os.walk does not mind what goes while it looks."""
    return any(name.startswith("file.mdtest.") for *_, names in os.walk(directory) for name in names)


def finished(run: Path) -> int:
    """Stored steps that went well."""
    try:
        with sqlite3.connect(run / "results.sqlite") as connection:
            return int(
                connection.execute("SELECT count(*) FROM step WHERE status = 'finished'").fetchone()[0]
            )
    except sqlite3.OperationalError:
        return 0


@pytest.mark.fio
def test_metadata_and_data_are_measured_in_one_campaign(
    campaign: Callable[..., Path], work_directory: Path, tmp_path: Path, leadline: Leadline
) -> None:
    run = tmp_path / "run"
    done = leadline("run", campaign(50, DATA), "--directory", work_directory, "--output", run)
    assert done.returncode == 0, done.stderr
    assert "file create" in done.stdout and "IOPS" in done.stdout
    assert list(work_directory.iterdir()) == []
    with RunFolder.open(run).locked():
        records = RunFolder.open(run).records()
    assert [record.reason for record in records if record.reason] == []
    (two,) = (record for record in records if record.cell.get("numjobs") == 2)
    created = [each for each in two.measurements if each.direction is Direction.FILE_CREATE]
    assert [(each.job, each.operations) for each in created] == [(0, 150), (1, 150)]
    assert sum(record.kind is StepKind.CELL for record in records) == 3
    assert (run / "report.html").is_file()


def test_killed_in_a_phase_it_is_resumed_and_nothing_stays_behind(
    campaign: Callable[..., Path],
    work_directory: Path,
    tmp_path: Path,
    argv: Callable[..., list[str]],
    leadline: Leadline,
    working_in: Callable[[Path], list[str]],
) -> None:
    """`kill -9` while files are there: the tree is leadline's own, so the resumed run removes it."""
    run, many = tmp_path / "run", campaign(50_000, "directories = false")
    words = argv("run", many, "--directory", work_directory, "--output", run)
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while not has_files(work_directory):
            assert time.monotonic() < deadline, "no file was ever made"
        process.send_signal(signal.SIGKILL)
    while working_in(run):  # ranks make files until their supervisor has ended them
        assert time.monotonic() < deadline + 60, "the ranks go on"
        time.sleep(0.01)
    assert finished(run) == 0
    of_few_items(run)
    left = next(path for path in work_directory.iterdir() if path.name.startswith("leadline-metadata-"))
    assert left.is_dir(), "the killed run left a tree"
    resumed = leadline("run", "--resume", run)
    assert resumed.returncode == 0, resumed.stderr
    assert finished(run) == 2
    assert list(work_directory.iterdir()) == []


def of_few_items(run: Path) -> None:
    """What was killed takes long enough to be met in its midst by whoever is slow."""
    manifest = json.loads((run / "manifest.json").read_text())
    for step in manifest["plan"]:
        step["cell"]["items_per_directory"] = 100
    (run / "manifest.json").write_text(json.dumps(manifest))


def test_a_tree_of_mdtests_own_in_the_directory_is_none_of_leadlines(
    campaign: Callable[..., Path], work_directory: Path, tmp_path: Path, leadline: Leadline
) -> None:
    (work_directory / "test-dir.0-0" / "mdtest_tree.0").mkdir(parents=True)
    done = leadline("run", campaign(5), "--directory", work_directory, "--output", tmp_path / "run")
    assert done.returncode == 2
    assert "is not empty ('test-dir.0-0' is in it)" in done.stderr and len(done.stderr.splitlines()) == 1
    assert (work_directory / "test-dir.0-0" / "mdtest_tree.0").is_dir()


def test_the_plan_says_how_many_operations_and_inodes(
    campaign: Callable[..., Path], work_directory: Path, leadline: Leadline
) -> None:
    done = leadline("plan", campaign(100), "--directory", work_directory)
    assert done.returncode == 0, done.stderr
    assert "Metadata: 7,212 operations, 603 inodes at most at one time" in done.stdout
    assert "metadata, depth 1 x 2, 100 items a directory, 2 ranks, calls, full path" in done.stdout
    assert list(work_directory.iterdir()) == []


@pytest.mark.root
def test_a_filesystem_that_turned_read_only_is_a_recorded_failure_with_its_sentence(
    campaign: Callable[..., Path], mounted: Callable[..., Path], tmp_path: Path, leadline: Leadline
) -> None:
    directory = mounted("tmpfs")
    subprocess.run(["mount", "-o", "remount,ro", directory.parent], check=True)
    done = leadline("run", campaign(5), "--directory", directory, "--output", tmp_path / "run")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert "may not be written" in done.stderr or "Read-only file system" in done.stderr


@pytest.mark.root
def test_too_few_inodes_are_told_before_the_first_phase(
    campaign: Callable[..., Path], mounted: Callable[..., Path], tmp_path: Path, leadline: Leadline
) -> None:
    directory, run = mounted("tmpfs", "nr_inodes=200"), tmp_path / "run"
    done = leadline("run", campaign(100), "--directory", directory, "--output", run)
    assert "inodes left, and the step needs" in done.stdout
    with RunFolder.open(run).locked():
        reasons = [record.reason for record in RunFolder.open(run).records()]
    assert all(reason and "lower the items" in reason for reason in reasons)
