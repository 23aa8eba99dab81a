"""The way to 3FS, without a 3FS: a real fio with a real external engine, which takes the options of 3FS's and keeps its rhythm."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from cluster_parts import statuses
from stand_in_engine.build import CannotBuild, stand_in_engine

from attempts import attempts
from leadline.plan.design import design
from leadline.plan.steps import Step
from leadline.run.engines.fio import FioEngine
from leadline.run.seams import Place
from leadline.spec.load import load_campaign, ready_made
from leadline.store.records import StepKind

pytestmark = [pytest.mark.fio, pytest.mark.anybody]
Leadline = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[..., Path]

BATCHES = ("iodepth_batch_submit", "iodepth_batch_complete_min", "iodepth_batch_complete_max")
CAMPAIGN = """
name = "by a stand-in"
baselines = false
noise_repeats = 0
[target]
directory = "{directory}"
[[experiment]]
name = "cells"
rw = ["randread", "randwrite"]
block_size = "256k"
iodepth = [1, 8]
numjobs = 2
ioengine = "external:{engine}"
direct = true
size = "8m"
{extent}
[experiment.fio]
{options}
"""


AFTER_A_RAMP = 'ramp = "100ms"\nruntime = "300ms"'
"""What the engine never hands back is issued in the ramp then, so that the figures are whole."""


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stand-in, built for the installed fio."""
    try:
        return stand_in_engine(tmp_path_factory.mktemp("engine"))
    except CannotBuild as reason:
        pytest.skip(f"the stand-in engine cannot be built here: {reason}")


@pytest.fixture
def campaign(tmp_path: Path, work_directory: Path, engine: Path) -> Write:
    """Four cells by the engine, with its options."""

    def write(options: Mapping[str, Any], extent: str = 'runtime = "300ms"', engine: Path = engine) -> Path:
        path = tmp_path / "campaign.toml"
        lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in options.items())
        path.write_text(
            CAMPAIGN.format(directory=work_directory, engine=engine, extent=extent, options=lines)
        )
        return path

    return write


def batches(size: int) -> dict[str, int]:
    return dict.fromkeys(BATCHES, size)


def jobs_of(report: Path) -> list[dict[str, Any]]:
    """What each job of the engine was given and did."""
    return [json.loads(line) for line in report.read_text().splitlines()]


def verdicts(leadline: Leadline, run: Path) -> dict[tuple[str, int], set[str]]:
    """By test and iodepth."""
    cells = json.loads(leadline("show", run, "--json").stdout)["runs"][0]["cells"]
    return {
        (cell["test"], cell["settings"]["iodepth"]): {verdict["name"] for verdict in cell["verdicts"]}
        for cell in cells
    }


def reasons(run: Path) -> set[str]:
    """Why steps failed."""
    with sqlite3.connect(run / "results.sqlite") as connection:
        return {row[0] for row in connection.execute("SELECT reason FROM step WHERE status = 'failed'")}


def test_options_reach_the_engine_and_one_batch_size_is_the_iodepth_of_every_cell(
    campaign: Write, leadline: Leadline, work_directory: Path, tmp_path: Path
) -> None:
    options = {"mountpoint": str(work_directory), "ior_depth": -3, "ior_timeout": 7, **batches(1024)}
    path = campaign(options)
    for number, attempt in enumerate(attempts()):
        run, report = tmp_path / f"run{number}", tmp_path / f"report{number}"
        done = leadline("run", path, "--output", run, LEADLINE_STAND_IN_REPORT=str(report))
        assert done.returncode == 0, done.stderr
        jobs = jobs_of(report)
        assert sorted(job["iodepth"] for job in jobs) == [1, 1, 1, 1, 8, 8, 8, 8]
        for job in jobs:
            assert job["mountpoint"] == str(work_directory)
            assert (job["ior_depth"], job["ior_timeout"]) == (-3, 7)
            assert job["iodepth_batch_submit"] == job["iodepth"], "fio lowers it to iodepth"
        with attempt:  # 0.3 s may pass with nothing done, or between two batches, with nothing in flight
            assert statuses(run) == ["finished"] * 5
            assert all(job["largest_batch"] == job["iodepth"] for job in jobs)
            assert all(job["requests"] > job["iodepth"] for job in jobs), "more than one batch"
            found = verdicts(leadline, run)
            assert len(found) == 4 and not any("inert axis" in names for names in found.values())


@pytest.mark.parametrize(("options", "kept"), [({}, 1), (batches(4), 4)])
def test_with_batches_below_it_iodepth_is_inert_and_the_verdict_says_so(
    options: dict[str, int],
    kept: int,
    campaign: Write,
    leadline: Leadline,
    work_directory: Path,
    tmp_path: Path,
) -> None:
    path = campaign({"mountpoint": str(work_directory), **options}, extent=AFTER_A_RAMP)
    for number, attempt in enumerate(attempts()):
        run, report = tmp_path / f"run{number}", tmp_path / f"report{number}"
        done = leadline("run", path, "--output", run, LEADLINE_STAND_IN_REPORT=str(report))
        assert done.returncode == 0, done.stderr
        assert {job["largest_batch"] for job in jobs_of(report)} <= {1, kept}
        with attempt:
            assert {job["largest_batch"] for job in jobs_of(report)} == {1, kept}
            assert statuses(run) == ["finished"] * 5
            found = verdicts(leadline, run)
            inert = {cell for cell, names in found.items() if "inert axis" in names}
            assert inert == {("randread", 8), ("randwrite", 8)} and len(found) == 4


@pytest.mark.parametrize(
    ("extent", "said"),
    [
        ("", f"fio moved {(16 << 20) - 14 * (256 << 10)} of {16 << 20} bytes asked for"),
        ('runtime = "300ms"', "14 of fio's I/Os never completed"),
    ],
)
def test_requests_that_such_an_engine_never_hands_back_fail_the_cell(
    extent: str, said: str, campaign: Write, leadline: Leadline, work_directory: Path, tmp_path: Path
) -> None:
    """At iodepth 8 in batches of 1 seven requests a job are lost, of two jobs; fio itself ends with 0."""
    path = campaign({"mountpoint": str(work_directory)}, extent=extent)
    for number, attempt in enumerate(attempts()):
        run = tmp_path / f"run{number}"
        leadline("run", path, "--output", run)
        with attempt:  # 0.3 s may pass before a job has issued its eight
            assert sorted(statuses(run)) == ["failed"] * 2 + ["finished"] * 3
            assert reasons(run) == {f"{said}: I/O was lost, and its exit code was 0"}


def test_with_whole_batches_nothing_is_lost_and_new_files_are_written(
    campaign: Write, leadline: Leadline, work_directory: Path, tmp_path: Path
) -> None:
    run, path = tmp_path / "run", campaign({"mountpoint": str(work_directory), **batches(1024)}, extent="")
    path.write_text(path.read_text().replace('"randwrite"', '"write"'))
    done = leadline("run", path, "--output", run)
    assert done.returncode == 0, done.stderr
    assert set(statuses(run)) == {"finished"}


def test_a_flush_that_the_engine_does_not_have_fails_the_cell(
    campaign: Write, leadline: Leadline, work_directory: Path, tmp_path: Path
) -> None:
    run, path = (
        tmp_path / "run",
        campaign({"mountpoint": str(work_directory), **batches(8)}, extent="end_fsync = true"),
    )
    path.write_text(path.read_text().replace('rw = ["randread", "randwrite"]', 'rw = "randwrite"'))
    leadline("run", path, "--output", run)
    assert "failed" in statuses(run) and "end_fsync failed" in next(iter(reasons(run)))


@pytest.mark.parametrize(
    ("mountpoint", "said"),
    [
        ("/proc", "does not lie below mountpoint /proc"),
        ("/nowhere", "io engine stand_in init failed"),
    ],
)
def test_a_mountpoint_that_is_not_the_directorys_fails_every_cell_with_the_engines_words(
    mountpoint: str, said: str, campaign: Write, leadline: Leadline, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    leadline("run", campaign({"mountpoint": mountpoint, **batches(8)}), "--output", run)
    assert sorted(statuses(run)) == ["failed"] * 4 + ["finished"]
    assert all(said in reason for reason in reasons(run))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"mountpont": "/3fs"}, 'no option "mountpont"; did you mean "mountpoint"?'),
        ({"mountpoint": "/3fs", "ior_deph": 1}, 'no option "ior_deph"; did you mean "ior_depth"?'),
        (
            {"mountpoint": "/3fs", "iodepth_batch_complete_mni": 8},
            'did you mean "iodepth_batch_complete_min"?',
        ),
    ],
)
def test_a_misspelt_option_is_refused_before_anything_runs(
    options: dict[str, Any], said: str, campaign: Write, leadline: Leadline, tmp_path: Path
) -> None:
    done = leadline("run", campaign(options), "--output", tmp_path / "run")
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1


def test_an_engine_that_is_not_there_is_one_sentence(
    campaign: Write, leadline: Leadline, tmp_path: Path
) -> None:
    missing = tmp_path / "hf3fs_usrbio.so"
    done = leadline("run", campaign({"mountpoint": "/3fs"}, engine=missing), "--output", tmp_path / "run")
    assert done.returncode == 2 and f"there is no external engine {missing}" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def cell_of(experiment: str, **settings: object) -> Step:
    """Of the ready-made campaign."""
    plan, _ = design(load_campaign(ready_made()["3fs_usrbio"]))
    (step,) = (
        step
        for step in plan.steps
        if step.kind is StepKind.CELL
        and step.experiment == experiment
        and settings.items() <= step.cell.items()
    )
    return step


HEAD = """
--name=leadline
--directory=/3fs/leadline-work/leadline-files
--filename_format=$jobnum.$filenum
--rw={rw}
--bs=4096
--iodepth=64
--numjobs=4
--ioengine={ioengine}
--direct=1
--size=1073741824
--nrfiles=1
"""
TAIL = """
--ramp_time=2000000us
--runtime=10000000us
--time_based=1
--randseed=1
--lat_percentiles=1
--clat_percentiles=0
--output-format=json+
--write_bw_log=/scratch/throughput
--log_avg_msec=250
--eta=always
--eta-interval=500ms
--output=/scratch/fio.json
"""
USRBIO = """
--mountpoint=/3fs
--iodepth_batch_submit=1024
--iodepth_batch_complete_min=1024
--iodepth_batch_complete_max=1024
"""
EXTERNAL = "external:/usr/lib/hf3fs_usrbio.so"


@pytest.mark.parametrize(
    ("experiment", "golden"),
    [
        ("fuse", HEAD.format(rw="randread", ioengine="io_uring") + TAIL),
        ("usrbio", HEAD.format(rw="randread", ioengine=EXTERNAL) + USRBIO + TAIL),
        ("usrbio", HEAD.format(rw="write", ioengine=EXTERNAL) + USRBIO + TAIL),
    ],
)
def test_the_command_lines_for_3fs_are_these(experiment: str, golden: str) -> None:
    words = golden.split()
    rw = next(word for word in words if word.startswith("--rw=")).removeprefix("--rw=")
    step = cell_of(experiment, rw=rw, block_size=4096, iodepth=64, numjobs=4)
    place = Place(Path("/3fs/leadline-work/leadline-files"))
    argv = FioEngine().prepare(step, place, Path("/scratch")).argv
    assert sorted(argv[1:]) == sorted(words)
    assert argv.index(f"--ioengine={step.cell['ioengine']}") < min(
        [place for place, word in enumerate(argv) if word in USRBIO.split()], default=len(argv)
    ), "fio knows an engine's options only once it has loaded the engine"


def test_the_ready_made_campaign_ties_its_batches_to_every_iodepth_and_flushes_nothing() -> None:
    fuse, usrbio = load_campaign(ready_made()["3fs_usrbio"]).experiment
    assert (fuse.ioengine, fuse.fio) == (("io_uring",), {})
    assert usrbio.ioengine == (EXTERNAL,)
    assert usrbio.fio["mountpoint"] == "/3fs"
    for name in BATCHES:
        assert int(str(usrbio.fio[name])) >= max(usrbio.iodepth)
    assert not usrbio.end_fsync and not usrbio.fsync_on_close


def test_the_ready_made_campaign_runs_by_the_stand_in_when_it_is_made_small(
    engine: Path, leadline: Leadline, work_directory: Path, tmp_path: Path
) -> None:
    text = ready_made()["3fs_usrbio"].read_text()
    for pattern, new in {
        r'filesystem = "fuse.hf3fs"\n': "",
        r'"/3fs/leadline-work"': f'"{work_directory}"',
        r'mountpoint = "/3fs"': f'mountpoint = "{work_directory}"',
        r'"external:[^"]*"': f'"external:{engine}"',
        r"iodepth = \[.*\]": "iodepth = [4, 128]",
        r"numjobs = \[.*\]": "numjobs = 2",
        r"block_size = \[.*\]": 'block_size = "64k"',
        r'"1GiB"': '"16MiB"',
        r'ramp = "2s"': 'ramp = "50ms"',
        r'runtime = "10s"': 'runtime = "250ms"\nrepeats = 1',
        r"\[target\]": "baselines = false\nnoise_repeats = 0\n[target]",
    }.items():
        text, times = re.subn(pattern, new, text)
        assert times == 1, pattern
    path = tmp_path / "small.toml"
    path.write_text(text)
    for number, attempt in enumerate(attempts()):
        run, report = tmp_path / f"run{number}", tmp_path / f"report{number}"
        done = leadline("run", path, "--output", run, LEADLINE_STAND_IN_REPORT=str(report))
        assert done.returncode == 0, done.stderr
        assert len(statuses(run)) >= 16
        assert {job["largest_batch"] for job in jobs_of(report)} == {4, 128}
        with attempt:  # a quarter of a second may pass before a batch of 8 MiB is through
            assert set(statuses(run)) == {"finished"}
