"""Targets of the lab in campaigns: really up, really measured, down again whatever ends the run; and what must be mounted."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lab_parts import eventually

from held_fio import HeldFio
from leadline.errors import UserError
from leadline.run.lab.registry import TARGETS
from leadline.run.targets.fake import FakeTarget
from leadline.run.targets.mounted import Mounted

pytestmark = pytest.mark.fio
Leadline = Callable[..., subprocess.CompletedProcess[str]]
Look = Callable[[], Any]
Hold = Callable[[int], HeldFio]

CAMPAIGN = """
name = "tiny"
baselines = false
noise_repeats = 0
[target]
{target}
[[experiment]]
name = "grid"
rw = ["randread", "randwrite"]
iodepth = [1, 2]
ioengine = "libaio"
size = "1m"
runtime = "200ms"
"""


@pytest.fixture
def campaign(tmp_path: Path) -> Callable[..., Path]:
    """Four cells of 0.2 s on a target."""

    def write(target: str, **changed: str) -> Path:
        text = CAMPAIGN.format(target=target)
        for old, new in changed.items():
            text = text.replace(old, new)
        path = tmp_path / "tiny.toml"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def started(tmp_path: Path, argv: Callable[..., list[str]]) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts leadline and leaves it to the test."""
    running: list[subprocess.Popen[str]] = []

    def start(*arguments: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            argv(*arguments), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def steps(run: Path) -> list[tuple[int, str, str | None]]:
    """Ordinal, status and reason of each stored step."""
    if not (run / "results.sqlite").exists():
        return []
    with sqlite3.connect(run / "results.sqlite") as connection:
        try:
            return connection.execute("SELECT ordinal, status, reason FROM step ORDER BY ordinal").fetchall()
        except sqlite3.OperationalError:  # not made yet
            return []


@pytest.mark.parametrize("name", ["ext4", "xfs", "btrfs", "tmpfs"])
def test_each_local_filesystem_comes_up_is_measured_and_goes(
    name: str, campaign: Callable[..., Path], leadline: Leadline, tmp_path: Path, traces: Look
) -> None:
    before = traces()
    run = tmp_path / "run"
    done = leadline("run", campaign(f'name = "{name}"'), "--output", run)
    assert done.returncode == 0, done.stderr
    assert f"{name} is up after" in done.stdout and f"{name} is down after" in done.stdout
    assert [status for _, status, _ in steps(run)] == ["finished"] * 5
    environment = json.loads((run / "environment.json").read_text())
    assert environment["target"]["name"] == name
    assert environment["filesystem"]["type"] == name
    assert traces() == before


def test_ctrl_c_takes_the_target_down_and_resume_brings_it_up_again(
    campaign: Callable[..., Path],
    started: Callable[..., subprocess.Popen[str]],
    held_fio: Hold,
    leadline: Leadline,
    tmp_path: Path,
    traces: Look,
) -> None:
    before = traces()
    run, held = tmp_path / "run", held_fio(3)
    process = started("run", campaign('name = "xfs"'), "--output", run)
    assert eventually(held.stands)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert traces() == before and len(steps(run)) == 2
    held.let_go()
    resumed = leadline("run", "--resume", run)
    assert resumed.returncode == 0, resumed.stderr
    assert [status for _, status, _ in steps(run)] == ["finished"] * 5
    assert traces() == before


def test_after_kill_9_resume_starts_from_a_fresh_filesystem_and_goes_on(
    campaign: Callable[..., Path],
    started: Callable[..., subprocess.Popen[str]],
    held_fio: Hold,
    leadline: Leadline,
    tmp_path: Path,
    traces: Look,
) -> None:
    before = traces()
    run, held = tmp_path / "run", held_fio(3)
    process = started("run", campaign('name = "ext4"'), "--output", run)
    assert eventually(held.stands)
    process.kill()
    process.wait()
    held.let_go()
    kept = steps(run)
    assert len(kept) == 2 and len(traces().mounts) == 1
    resumed = leadline("run", "--resume", run)
    assert resumed.returncode == 0, resumed.stderr
    assert "taking it down first" in resumed.stdout
    assert steps(run)[: len(kept)] == kept and [status for _, status, _ in steps(run)] == ["finished"] * 5
    assert eventually(lambda: traces() == before)  # the killed one's supervisor ends in its own time


def test_lab_down_cleans_after_a_killed_campaign(
    campaign: Callable[..., Path],
    started: Callable[..., subprocess.Popen[str]],
    held_fio: Hold,
    leadline: Leadline,
    tmp_path: Path,
    traces: Look,
) -> None:
    before = traces()
    held = held_fio(2)
    process = started("run", campaign('name = "ext4"'), "--output", tmp_path / "run")
    assert eventually(held.stands)
    in_use = leadline("lab", "down", "ext4")
    assert in_use.returncode == 2 and "in use by" in in_use.stderr
    process.kill()
    process.wait()
    assert leadline("lab", "down").returncode == 0
    assert eventually(lambda: traces() == before)


def test_a_filesystem_that_vanishes_in_the_middle_is_recorded_step_by_step(
    campaign: Callable[..., Path],
    started: Callable[..., subprocess.Popen[str]],
    held_fio: Hold,
    tmp_path: Path,
    labs: Path,
) -> None:
    run, held = tmp_path / "run", held_fio(3)
    process = started("run", campaign('name = "tmpfs"'), "--output", run)
    assert eventually(held.stands)
    subprocess.run(["umount", "--lazy", labs / "tmpfs" / "mount"], check=True)
    held.let_go()
    assert process.wait(timeout=60) == 0
    statuses = [status for _, status, _ in steps(run)]
    assert statuses[:2] == ["finished"] * 2 and statuses[3:] == ["failed"] * 2
    assert all("has disappeared" in str(reason) for _, _, reason in steps(run)[3:])


def test_the_command_lines_directory_wins_and_says_so(
    campaign: Callable[..., Path], leadline: Leadline, work_directory: Path, tmp_path: Path, traces: Look
) -> None:
    done = leadline(
        "run", campaign('name = "xfs"'), "--directory", work_directory, "--output", tmp_path / "run"
    )
    assert done.returncode == 0, done.stderr
    assert f"Measuring {work_directory} (--directory) in place of the lab's xfs" in done.stdout
    assert "is up after" not in done.stdout
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["directory"] == str(work_directory)


def test_a_dry_run_brings_nothing_up(campaign: Callable[..., Path], leadline: Leadline, labs: Path) -> None:
    done = leadline("plan", campaign('name = "xfs"'))
    assert done.returncode == 0 and "5 steps" in done.stdout
    assert not labs.exists()


def test_a_stated_filesystem_is_measured_when_it_is_mounted_and_refused_when_not(
    campaign: Callable[..., Path], leadline: Leadline, mounted: Callable[..., Path], tmp_path: Path
) -> None:
    inside = mounted("tmpfs", "size=64m")
    right = leadline(
        "run", campaign(f'directory = "{inside}"\nfilesystem = "tmpfs"'), "--output", tmp_path / "right"
    )
    assert right.returncode == 0, right.stderr
    wrong = leadline(
        "run", campaign(f'directory = "{inside}"\nfilesystem = "nfs4"'), "--output", tmp_path / "wrong"
    )
    assert (
        wrong.returncode == 2
        and 'lies on tmpfs where the campaign states filesystem = "nfs4"' in wrong.stderr
    )
    assert list(inside.iterdir()) == [] and not (tmp_path / "wrong").exists()


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ('name = "xsf"', 'did you mean "xfs"?'),
        ('name = "xfs"\ndirectory = "/tmp/x"', "has both `name` and `directory`"),
        ('name = "xfs"\nfilesystem = "xfs"', "has `filesystem` beside `name`"),
        ('nmae = "xfs"', 'did you mean "name"?'),
    ],
)
@pytest.mark.anybody
def test_a_wrong_target_is_one_sentence(
    target: str, said: str, campaign: Callable[..., Path], leadline: Leadline
) -> None:
    done = leadline("run", campaign(target))
    assert done.returncode == 2 and said in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.anybody
def test_what_is_mounted_is_checked_before_every_step(tmp_path: Path) -> None:
    there = "nfs4"
    target = Mounted(FakeTarget(tmp_path), "nfs4", lambda path: there)
    assert target.prepare() == tmp_path and target.check() is None
    there = "ext4"
    assert "lies on ext4" in str(target.check())


@pytest.mark.anybody
def test_the_wrong_filesystem_is_left_as_it_was(tmp_path: Path) -> None:
    inner = FakeTarget(tmp_path)
    with pytest.raises(UserError, match="cannot be told"):
        Mounted(inner, "lustre", lambda path: None).prepare()
    assert inner.cleaned_up == 1


@pytest.mark.anybody
def test_every_target_is_listed_in_a_line(leadline: Leadline) -> None:
    listed = leadline("lab", "list").stdout.splitlines()
    assert [line.split()[0] for line in listed] == list(TARGETS)
    assert all(len(line.split(maxsplit=1)) == 2 for line in listed)


def test_up_status_and_down_from_the_command_line(leadline: Leadline, traces: Look) -> None:
    before = traces()
    up = leadline("lab", "up", "xfs", "--size", "64MiB")
    assert up.returncode == 0 and "xfs is up after" in up.stdout
    assert leadline("lab", "status").stdout.startswith("xfs: up, xfs at ")
    assert 'did you mean "xfs"?' in leadline("lab", "down", "xf").stderr
    down = leadline("lab", "down", "xfs")
    assert down.returncode == 0 and "xfs is down after" in down.stdout
    assert leadline("lab", "status").stdout == "No lab is up.\n"
    assert traces() == before


def test_without_root_it_says_so(argv: Callable[..., list[str]], tmp_path: Path) -> None:
    setpriv = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    for words in (("lab", "up", "xfs"), ("lab", "down")):
        done = subprocess.run(
            [*setpriv, *argv(*words)], capture_output=True, text=True, check=False, cwd="/", env=os.environ
        )
        if "Permission denied" in done.stderr or "No module" in done.stderr:
            pytest.skip("the interpreter of these tests cannot be read by another user")
        assert done.returncode == 2 and "needs root" in done.stderr


def test_too_big_for_the_disk_is_one_sentence(leadline: Leadline, traces: Look) -> None:
    before = traces()
    done = leadline("lab", "up", "ext4", "--size", "900TiB")
    assert done.returncode == 2 and "make room" in done.stderr
    assert traces() == before


def test_options_of_a_target_reach_its_mount(
    campaign: Callable[..., Path], leadline: Leadline, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    done = leadline("run", campaign('name = "ext4"\noptions = { mount = "noatime" }'), "--output", run)
    assert done.returncode == 0, done.stderr
    assert "noatime" in json.loads((run / "environment.json").read_text())["filesystem"]["mount_options"]


def test_options_given_as_lists_are_axes_with_a_remount_between_their_values(
    campaign: Callable[..., Path], leadline: Leadline, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    source = campaign('name = "ext4"\noptions = { mount = ["noatime", "relatime"] }')
    done = leadline("run", source, "--output", run)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ext4 is up after") >= 2
    assert {status for _, status, _ in steps(run)} == {"finished"}
    with sqlite3.connect(run / "results.sqlite") as connection:
        cells = [
            json.loads(row[0]) for row in connection.execute("SELECT cell FROM step WHERE kind = 'cell'")
        ]
    assert {cell["target.mount"] for cell in cells} == {"noatime", "relatime"}


def test_lab_up_takes_options_and_refuses_what_the_target_does_not_have(leadline: Leadline) -> None:
    assert leadline("lab", "up", "ext4", "--size", "16MiB", "--option", "mount=noatime").returncode == 0
    assert leadline("lab", "down", "ext4").returncode == 0
    for wrong in (("--clients", "2"), ("--option", "mont=noatime")):
        refused = leadline("lab", "up", "ext4", *wrong)
        assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1
    assert 'did you mean "mount"' in refused.stderr
