"""Filesystems that cannot hold what is asked of them, on a real ext4: each command says so in one sentence and leaves nothing."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from leadline.run.posix.installation import program_path
from leadline.store.run_folder import RunFolder

Leadline = Callable[..., subprocess.CompletedProcess[str]]
Ext4 = Callable[..., Path]
CAMPAIGN = """
name = "names"
baselines = false
noise_repeats = 0
[[experiment]]
name = "tree"
engine = "metadata"
items_per_directory = 200
{more}
"""


@pytest.fixture
def ext4(tmp_path: Path, disk: Path) -> Iterator[Ext4]:
    """Mounts one made as told, on an image file; gives a folder in it that ordinary users may enter."""
    points: list[Path] = []
    for folder in [tmp_path, *tmp_path.parents]:
        if folder.stat().st_uid == os.geteuid():
            folder.chmod(folder.stat().st_mode | 0o011)

    def make(size: str, *options: str) -> Path:
        image, point = disk / f"{tmp_path.name}.img", tmp_path / "mount"
        subprocess.run(["truncate", "-s", size, image], check=True)
        subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", *options, image], check=True)
        point.mkdir()
        subprocess.run(["mount", "-o", "loop", image, point], check=True)
        points.append(point)
        (point / "work").mkdir()
        return point / "work"

    yield make
    for point in points:
        subprocess.run(["umount", point], check=True)
    (disk / f"{tmp_path.name}.img").unlink(missing_ok=True)


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """The one sentence."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr


def test_too_few_inodes_are_told_by_mdtest_before_anything_is_made(leadline: Leadline, ext4: Ext4) -> None:
    directory = ext4("100M", "-N", "96")
    said = refused(leadline("mdtest", "-d", directory, "-I", "200"))
    assert "inodes left, and the step needs 201: lower the items" in said
    assert list(directory.iterdir()) == []


def test_too_few_inodes_are_told_by_posix_before_anything_is_made(leadline: Leadline, ext4: Ext4) -> None:
    if not program_path().exists():
        pytest.skip(
            "pjdfstest is not built here yet: leadline posix DIR builds it, with cargo, from crates.io"
        )
    directory = ext4("100M", "-N", "96")
    said = refused(leadline("posix", directory))
    assert "inodes free and the suite needs 200; remove files that are not needed" in said
    assert list(directory.iterdir()) == []


def test_too_few_inodes_fail_a_cell_with_the_sentence_and_the_next_cell_runs(
    leadline: Leadline, ext4: Ext4, tmp_path: Path
) -> None:
    directory, run, path = ext4("100M", "-N", "300"), tmp_path / "run", tmp_path / "names.toml"
    path.write_text(CAMPAIGN.format(more="numjobs = [1, 2]"))
    done = leadline("run", path, "--directory", directory, "--output", run)
    reasons = {record.cell["numjobs"]: record.reason for record in RunFolder.open(run).records()}
    assert reasons[1] is None
    assert "inodes left, and the step needs 401: lower the items" in str(reasons[2])
    assert "lower the items" in done.stdout
    assert list(directory.iterdir()) == []


def test_a_filesystem_that_fills_up_in_a_phase_costs_the_failed_operations_and_nothing_stays(
    leadline: Leadline, ext4: Ext4
) -> None:
    """The filesystem claims room for all files; its own directory blocks then take some of it."""
    directory = ext4("16M", "-b", "1024", "-N", "16000")
    files = os.statvfs(directory).f_bavail
    done = leadline("mdtest", "-d", directory, "-I", files, "-F", "-w", "1024")
    assert done.returncode == 0, done.stderr
    created = next(line for line in done.stdout.splitlines() if line.strip().startswith("file create "))
    failed = int(created.split()[3].replace(",", ""))
    assert 0 < failed < files // 2
    assert "ENOSPC" in done.stdout
    assert list(directory.iterdir()) == []


def test_a_read_only_filesystem_is_told_by_each_command(
    leadline: Leadline, ext4: Ext4, tmp_path: Path
) -> None:
    directory, path = ext4("100M"), tmp_path / "names.toml"
    path.write_text(CAMPAIGN.format(more=""))
    subprocess.run(["mount", "-o", "remount,ro", directory.parent], check=True)
    assert "is mounted read-only" in refused(leadline("mdtest", "-d", directory, "-I", "5"))
    said = refused(leadline("run", path, "--directory", directory, "--output", tmp_path / "run"))
    assert "may not be written" in said or "Read-only file system" in said
    if program_path().exists():
        assert "is mounted read-only" in refused(leadline("posix", directory))


def test_a_path_that_is_no_mount_is_not_measured_under_a_filesystems_name(
    leadline: Leadline, ext4: Ext4, tmp_path: Path
) -> None:
    """An unmounted mount point is an empty local folder; who states what must be mounted there is told."""
    directory, path = ext4("100M"), tmp_path / "names.toml"
    target = f'[target]\ndirectory = "{directory}"\nfilesystem = "lustre"\n[[experiment]]'
    path.write_text(CAMPAIGN.format(more="").replace("[[experiment]]", target))
    said = refused(leadline("run", path, "--output", tmp_path / "run"))
    assert "lustre" in said and "ext4" in said
    assert list(directory.iterdir()) == []


def test_caches_that_may_not_be_dropped_are_told_before_anything_runs(
    argv: Callable[..., list[str]], work_directory: Path, tmp_path: Path
) -> None:
    """As in a container, where /proc/sys is read-only also for root."""
    path = tmp_path / "names.toml"
    path.write_text(CAMPAIGN.format(more="drop_caches = true"))
    words = argv("run", path, "--directory", work_directory, "--output", tmp_path / "run")
    script = 'mount --bind /proc/sys /proc/sys && mount -o remount,ro,bind /proc/sys && exec "$@"'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    said = refused(done)
    assert 'experiment "tree" has drop_caches' in said and "use rank_shift" in said
    assert not (tmp_path / "run").exists() and list(work_directory.iterdir()) == []
