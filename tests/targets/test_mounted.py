"""What a user has mounted, measured as it is: when it goes away in the middle, every step from then on says so, and nothing is
written to what lies underneath."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cluster_parts import statuses
from lab_parts import eventually
from program_parts import skip_unless_built

from held_fio import HeldFio
from leadline.run.lab.juicefs import JUICEFS

pytestmark = pytest.mark.fio
Started = Callable[[str, str], subprocess.Popen[str]]
DONE_BEFORE = 2
"""Steps that are stored when the mount goes away."""
CAMPAIGN = """
name = "tiny"
baselines = false
noise_repeats = 0
[target]
directory = "{directory}"
filesystem = "{filesystem}"
[[experiment]]
name = "grid"
rw = ["randread", "randwrite"]
iodepth = [1, 2, 4, 8]
ioengine = "psync"
size = "1m"
runtime = "300ms"
"""
STEPS = 9
"""The layout and eight cells."""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def held(held_fio: Callable[[int], HeldFio]) -> HeldFio:
    """The load of the step that is in flight then."""
    return held_fio(DONE_BEFORE + 1)


@pytest.fixture
def started(run: Path, held: HeldFio, tmp_path: Path, argv: Callable[..., list[str]]) -> Iterator[Started]:
    """Starts a campaign on a directory of a stated type and comes back in the midst of its third step."""
    running: list[subprocess.Popen[str]] = []

    def start(directory: str, filesystem: str) -> subprocess.Popen[str]:
        path = tmp_path / "tiny.toml"
        path.write_text(CAMPAIGN.format(directory=directory, filesystem=filesystem))
        process = subprocess.Popen(
            argv("run", path, "--output", run), cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )  # fmt: skip
        running.append(process)
        assert eventually(held.stands) and len(statuses(run)) == DONE_BEFORE
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


@pytest.fixture
def juicefs(disk: Path, tmp_path: Path) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """A small JuiceFS of our own, mounted by a client in the foreground: its mount point, and the client."""
    skip_unless_built(tmp_path / "programs", JUICEFS)
    folder = disk / f"juicefs-{tmp_path.name}"
    point, meta = folder / "mount", f"sqlite3://{folder}/meta.db"
    point.mkdir(parents=True)
    made = [JUICEFS.path, "format", "--storage", "file", "--bucket", f"{folder}/data/", meta, "mounted"]
    subprocess.run(made, check=True, capture_output=True, timeout=60)
    words = [
        JUICEFS.path,
        "--no-agent",
        "mount",
        "--no-usage-report",
        "--cache-dir",
        folder / "cache",
        meta,
        point,
    ]
    client = subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    assert eventually(lambda: f" {point} fuse.juicefs " in Path("/proc/mounts").read_text())
    yield point, client
    kill_with_its_children(client)
    subprocess.run(["umount", "--lazy", point], check=False, capture_output=True)


def kill_with_its_children(process: subprocess.Popen[bytes]) -> None:
    """JuiceFS serves from a child of its own. Once: later the number may be somebody else's."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def sentences_after_the_first_failure(run: Path) -> set[str]:
    """Why each step from there on failed; none of them may have been finished."""
    with sqlite3.connect(run / "results.sqlite") as connection:
        steps = connection.execute("SELECT status, reason FROM step ORDER BY ordinal").fetchall()
    assert len(steps) == STEPS, "every step is recorded"
    first = next(place for place, (status, _) in enumerate(steps) if status == "failed")
    assert first in (DONE_BEFORE, DONE_BEFORE + 1) and {status for status, _ in steps[first:]} == {"failed"}
    # The step in flight had done its I/O and may be finished.
    return {reason for _, reason in steps[first + 1 :]}


def test_a_mount_that_goes_away_fails_every_following_step_with_one_sentence(
    mounted: Callable[..., Path], started: Started, held: HeldFio, run: Path
) -> None:
    inside = mounted("tmpfs", "size=64m")
    process = started(str(inside), "tmpfs")
    subprocess.run(["umount", "--lazy", inside.parent], check=True)
    held.let_go()
    assert process.wait(timeout=300) == 0
    assert sentences_after_the_first_failure(run) == {f"{inside} has disappeared"}
    assert list(inside.parent.iterdir()) == []


def test_the_local_directory_under_a_mount_that_goes_away_is_not_measured_in_its_place(
    tmp_path: Path, started: Started, held: HeldFio, run: Path
) -> None:
    """The same path is there below: without the check its disk would be measured under the mount's name."""
    point = tmp_path / "mount"
    inside = point / "inside"
    inside.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "leadline-test", point], check=True)
    try:
        inside.mkdir()
        process = started(str(inside), "tmpfs")
    finally:
        subprocess.run(["umount", "--lazy", point], check=True)
    held.let_go()
    assert process.wait(timeout=300) == 0
    (said,) = sentences_after_the_first_failure(run)
    assert said.startswith(f"{inside} now lies on another filesystem")
    assert list(inside.iterdir()) == []


def test_a_killed_fuse_client_fails_every_following_step_with_one_sentence(
    juicefs: tuple[Path, subprocess.Popen[bytes]], started: Started, held: HeldFio, run: Path
) -> None:
    point, client = juicefs
    work = point / "work"
    work.mkdir()
    process = started(str(work), "fuse.juicefs")
    kill_with_its_children(client)
    held.let_go()
    assert process.wait(timeout=300) == 0
    said = sentences_after_the_first_failure(run)
    # The kernel answers stat(2) from its attribute cache for a second after the client has died; then the directory is gone.
    unreachable = f"{work} cannot be reached any more: Transport endpoint is not connected"
    assert said <= {unreachable, f"{work} has disappeared"}
