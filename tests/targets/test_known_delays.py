"""Delays that are known are found again: one directory mounted twice by a filesystem that caches for as long as it is told.

`crates/leadline-delays` tells the kernel for how long it may believe names, attributes and absences, and does nothing else. A
window must then be the cache time, less its age when the change came, and more the pause between probes (1 ms and 1 % of what
was waited); `SLACK_SECONDS` is for a busy machine, which lets both wait.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from lab_parts import eventually

from attempts import attempts
from leadline.analyse.visibility import CellWindow, windows
from leadline.store.visibility import Ending, read_visibility

ROOT = Path(__file__).parents[2]
SLACK_SECONDS = 0.15


@dataclass(frozen=True)
class Mounts:
    """The same folder as seen through two mounts, and what serves either."""

    folders: tuple[Path, ...]
    served_by: tuple[subprocess.Popen[bytes], ...]


Mount = Callable[..., Mounts]
Sound = Callable[..., dict[str, CellWindow]]

OF_NAMES = ("unlink / stat, made it", "unlink / stat, looked", "rename over / open, read")
OF_ABSENCE = ("create / stat, looked",)
OF_ATTRIBUTES = ("chmod / mode, looked", "append / size, looked, writer close")
BY_TURNS = ("append / append, made it, writer close", "append / append, read, writer close")
CELLS = tuple(f"--mutation={name}" for name in ("unlink", "create", "chmod", "append", "rename over"))


@pytest.fixture(scope="session")
def delaying() -> Path:
    """The filesystem, built."""
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed, and the filesystem with known delays is built by it")
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip("/dev/fuse is not there or may not be used")
    argv = ["cargo", "build", "--quiet", "--locked", "-p", "leadline-delays", "--message-format=json"]
    built = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    artifacts = [json.loads(line) for line in built.stdout.splitlines()]
    return Path(next(each["executable"] for each in artifacts if each.get("executable")))


@pytest.fixture
def mount(delaying: Path, tmp_path: Path, work_directory: Path) -> Iterator[Mount]:
    """Mounts one directory twice with these cache times and gives a folder in it, seen by both; unmounted after the test."""
    started: list[tuple[Path, subprocess.Popen[bytes]]] = []

    def start(**seconds: float) -> Mounts:
        options = [f"--{name}-seconds={value}" for name, value in seconds.items()]
        for name in ("a", "b"):
            point = tmp_path / f"delayed-{name}"
            point.mkdir()
            started.append((point, subprocess.Popen([delaying, work_directory, point, *options])))
            assert eventually(point.is_mount)
        folders = tuple(point / "inside" for point, _ in started)
        folders[0].mkdir()
        return Mounts(folders, tuple(process for _, process in started))

    yield start
    for point, process in started:
        subprocess.run(["umount", "-l", point], check=True)
        process.wait(60)
    assert str(tmp_path) not in Path("/proc/mounts").read_text()


@pytest.fixture
def sounded(leadline: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> Sound:
    """What the grid saw on these mounts, by cell."""

    def sound(mounts: Mounts, *words: str) -> dict[str, CellWindow]:
        path = tmp_path / "trials.json"
        words = (*(words or CELLS), "--trials=2", "--patience=2s", "--json", str(path))
        done = leadline("consistency", *mounts.folders, *words)
        assert path.exists(), done.stderr
        return {str(found.cell): found for found in windows(read_visibility(path))}

    return sound


def assert_windows_are(seconds: float, found: dict[str, CellWindow], names: tuple[str, ...]) -> None:
    for name in names:
        seen = found[name]
        assert seen.ending is (Ending.LATER if seconds else Ending.AT_ONCE), (name, seen)
        if seconds:
            assert seen.median_ns is not None
            late = seen.median_ns / 1e9 - seconds
            assert -SLACK_SECONDS <= late <= 0.001 + 0.01 * seconds + SLACK_SECONDS, (name, late)


@pytest.mark.parametrize("seconds", [0, 0.2, 1.0])
def test_every_class_of_delay_is_found_as_long_as_it_is(mount: Mount, sounded: Sound, seconds: float) -> None:
    mounts = mount(entry=seconds, attribute=seconds, negative=seconds)
    lost = Ending.LOST if seconds else Ending.AT_ONCE
    for attempt in attempts():
        found = sounded(mounts)
        with attempt:
            assert_windows_are(seconds, found, OF_NAMES + OF_ABSENCE + OF_ATTRIBUTES)
            assert_windows_are(0, found, ("create / stat, cold", "unlink / readdir, listed"))
            assert {found[name].ending for name in BY_TURNS} == {lost}


def test_a_delay_of_absences_alone_delays_no_names(mount: Mount, sounded: Sound) -> None:
    mounts = mount(negative=0.2)
    for attempt in attempts():
        found = sounded(mounts)
        assert_windows_are(0, found, OF_NAMES + OF_ATTRIBUTES + BY_TURNS)
        with attempt:
            assert_windows_are(0.2, found, OF_ABSENCE)


def test_attributes_are_as_old_as_names_let_them_be(mount: Mount, sounded: Sound) -> None:
    """To look a name up anew brings new attributes, so that the shorter of the two times counts."""
    mounts = mount(entry=0.2, attribute=1.0)
    for attempt in attempts():
        found = sounded(mounts, "--mutation=chmod", "--mutation=unlink")
        with attempt:
            assert_windows_are(0.2, found, ("chmod / mode, looked", "unlink / stat, looked"))


def test_a_filesystem_that_dies_under_the_grid_leaves_doubt_and_no_verdict(
    mount: Mount, argv: Callable[..., list[str]], tmp_path: Path, work_directory: Path
) -> None:
    mounts, path = mount(), tmp_path / "trials.json"
    words: tuple[Any, ...] = ("--mutation", "unlink", "--trials", 300, "--json", path, "--promise", "posix")
    with subprocess.Popen(argv("consistency", *mounts.folders, *words), stdout=subprocess.DEVNULL) as started:
        inside = work_directory / "inside"
        assert eventually(lambda: bool(list(inside.glob("leadline-visibility-*/4-*"))))
        mounts.served_by[1].kill()
        started.wait(60)
    assert started.returncode == 2
    endings = {trial["ending"] for trial in json.loads(path.read_text())["trials"]}
    assert "undecided" in endings and not endings & {"lost", "never", "later"}
