"""Metadata in campaigns on filesystems that are really up: several clients on their own mounts, hosts by ssh and by MPI."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cluster_parts import skip_unless_installed
from ssh_parts import Remote

from leadline.formats.mdtest import read_summary
from leadline.store.records import Direction, StepKind, StepRecord
from leadline.store.run_folder import RunFolder

Leadline = Callable[..., subprocess.CompletedProcess[str]]
CAMPAIGN = """
name = "names"
baselines = false
noise_repeats = 0
{where}
[[experiment]]
name = "tree"
engine = "metadata"
depth = 1
branching_factor = 2
items_per_directory = 20
numjobs = 2
{more}
"""
MPIRUN = ("mpirun", "--allow-run-as-root", "--oversubscribe")
needs_mpi = pytest.mark.skipif(
    not (shutil.which("mpirun") and importlib.util.find_spec("mpi4py")),
    reason="mpirun or mpi4py is not installed",
)


def measured(leadline: Leadline, folder: Path, where: str, more: str) -> list[StepRecord]:
    """The cells of a campaign that went well."""
    path, run = folder / "names.toml", folder / "run"
    path.write_text(CAMPAIGN.format(where=where, more=more))
    done = leadline("run", path, "--output", run)
    assert done.returncode == 0, done.stderr
    with RunFolder.open(run).locked():
        records = RunFolder.open(run).records()
    assert [record.reason for record in records if record.reason] == []
    return [record for record in records if record.kind is StepKind.CELL]


def done_by(record: StepRecord, operation: Direction) -> dict[tuple[str, int], int]:
    """Operations by client and rank."""
    return {
        (each.host, each.job): each.operations for each in record.measurements if each.direction is operation
    }


def check_two_clients(record: StepRecord, names: tuple[str, str]) -> None:
    first, second = names
    ranks = [(first, 0), (first, 1), (second, 2), (second, 3)]
    for operation in (
        Direction.DIRECTORY_STAT,
        Direction.FILE_CREATE,
        Direction.FILE_STAT,
        Direction.FILE_REMOVE,
    ):
        assert done_by(record, operation) == dict.fromkeys(ranks, 60), operation
    assert all(not each.failed for each in record.measurements)
    phases = {phase["operation"]: phase for phase in record.facts["phases"]}
    assert phases["file stat"]["planned"] == 240
    assert len({each["name"] for each in record.facts["clients"]}) == 2
    totals = [series for series in record.throughput if series.name == "file create"]
    widths = [end - start for start, end in zip([0, *totals[0].times_ns], totals[0].times_ns, strict=False)]
    assert sum(
        rate * width / 1e9 for rate, width in zip(totals[0].values, widths, strict=True)
    ) == pytest.approx(240)


def test_clients_of_a_lab_target_work_in_one_directory_each_on_what_the_other_made(
    leadline: Leadline, tmp_path: Path
) -> None:
    """Shared and own trees, and a shift by the ranks of one client: every stat is of an item that another mount created.

    Without renames: a client of GlusterFS knows a renamed directory by its old name for a second, and answers ESTALE.
    """
    skip_unless_installed("glusterfs")
    actions = 'actions = ["create", "stat", "read", "remove"]'
    more = f"clients = 2\nrank_shift = 2\nunique_trees = [false, true]\n{actions}"
    records = measured(leadline, tmp_path, 'target = "glusterfs"', more)
    assert len(records) == 2
    for record in records:
        check_two_clients(record, ("client1", "client2"))


def test_requests_that_reach_the_filesystem_are_counted_where_it_counts_them(
    leadline: Leadline, tmp_path: Path
) -> None:
    skip_unless_installed("moosefs")
    (record,) = measured(leadline, tmp_path, 'target = "moosefs"', "clients = 2\ndirectories = false")
    requests = {phase["operation"]: phase["requests"] for phase in record.facts["phases"]}
    assert requests["file create"]["FUSE create"] == 240
    assert requests["file remove"]["FUSE unlink"] == 240


@pytest.mark.fio
def test_hosts_by_ssh_are_clients(
    leadline: Leadline, remotes: list[Remote], tmp_path: Path, work_directory: Path
) -> None:
    hosts = '[hosts]\nkind = "ssh"\nnames = ["remote1", "remote2"]'
    where = f'[target]\ndirectory = "{work_directory}"\n{hosts}'
    (record,) = measured(leadline, tmp_path, where, "clients = 2")
    check_two_clients(record, ("remote1", "remote2"))
    assert list(work_directory.iterdir()) == []
    assert [remote.leavings() for remote in remotes] == [[], []]


def test_mdtest_runs_on_hosts_by_ssh(leadline: Leadline, remotes: list[Remote], work_directory: Path) -> None:
    done = leadline(
        "mdtest", "-d", work_directory, "-I", "30", "-F", "--np", "2", "--hosts", "remote1,remote2"
    )
    assert done.returncode == 0, done.stderr
    assert "4 tasks, 120 files/directories" in done.stdout
    assert set(read_summary(done.stdout).rows) >= {"file create", "file stat", "file read", "file remove"}
    assert list(work_directory.iterdir()) == []


@needs_mpi
@pytest.mark.anybody
def test_ranks_of_mpi_are_clients(leadline: Leadline, tmp_path: Path, work_directory: Path) -> None:
    launcher = " ".join((*MPIRUN, "--map-by slot"))
    where = f'[target]\ndirectory = "{work_directory}"\n[hosts]\nkind = "mpi"\nlauncher = "{launcher}"'
    (record,) = measured(leadline, tmp_path, where, "clients = 2")
    check_two_clients(record, ("rank0", "rank1"))


@needs_mpi
@pytest.mark.anybody
def test_mpirun_starts_mdtest_as_it_starts_the_real_one(
    argv: Callable[..., list[str]], work_directory: Path
) -> None:
    words = argv("mdtest", "-d", work_directory, "-z", "1", "-b", "2", "-I", "20", "-u", "-N", "1")
    done = subprocess.run(
        [*MPIRUN, "-np", "3", *words], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("SUMMARY rate") == 1, "one process prints for all"
    assert "3 tasks, 180 files/directories" in done.stdout
    detail = next(line for line in done.stdout.splitlines() if line.strip().startswith("file create "))
    assert detail.split()[2:4] == ["180", "0"]
    tree = next(line for line in done.stdout.splitlines() if line.strip().startswith("tree create "))
    assert tree.split()[2] == "9", "every directory of every tree is counted"
    assert list(work_directory.iterdir()) == []


@needs_mpi
@pytest.mark.anybody
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-I", "5", "-N", "1", "-d", "DIRECTORY"), "test-dir.0-0 was left behind by an earlier run"),
        (("-I", "5", "-d", "DIRECTORY", "--np", "2"), "leave --np out"),
    ],
)
def test_a_mistake_under_mpirun_is_said_once_and_nobody_hangs(
    words: tuple[str, ...], said: str, argv: Callable[..., list[str]], work_directory: Path
) -> None:
    (work_directory / "test-dir.0-0").mkdir()
    asked = argv("mdtest", *(word.replace("DIRECTORY", str(work_directory)) for word in words))
    done = subprocess.run(
        [*MPIRUN, "-np", "2", *asked], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 2
    assert done.stderr.count(said) == 1, done.stderr


def test_hosts_by_ssh_are_asked_for_fio_only_by_what_runs_fio(
    leadline: Leadline, remotes: list[Remote], tmp_path: Path, work_directory: Path
) -> None:
    """A fio that does not answer stands first on PATH: nobody asks it anything."""
    programs, path = tmp_path / "bin", tmp_path / "names.toml"
    programs.mkdir()
    (programs / "fio").write_text("#!/bin/sh\nexit 1\n")
    (programs / "fio").chmod(0o755)
    hosts = '[hosts]\nkind = "ssh"\nnames = ["remote1", "remote2"]'
    path.write_text(
        CAMPAIGN.format(where=f'[target]\ndirectory = "{work_directory}"\n{hosts}', more="clients = 2")
    )
    done = leadline("run", path, "--output", tmp_path / "run", PATH=f"{programs}:{os.environ['PATH']}")
    assert done.returncode == 0, done.stderr
    (record,) = RunFolder.open(tmp_path / "run").records()
    assert record.reason is None
