"""Places that cannot hold a metadata load, really mounted so: one sentence before anything is made."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from leadline.run.executable import engine_executable

Place = Callable[[str], Path]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A tmpfs with the options given."""
    points: list[Path] = []

    def mounted(options: str) -> Path:
        point = tmp_path / f"place{len(points)}"
        point.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "leadline", point], check=True)
        points.append(point)
        return point

    yield mounted
    for point in points:
        subprocess.run(["umount", point], check=True)


def told(directory: Path, **fields: Any) -> str:
    """The engine's sentence."""
    step = {
        "workload": "metadata",
        "directory": str(directory),
        "ranks": 2,
        "items_per_directory": 50,
        **fields,
    }
    done = subprocess.run(
        [engine_executable(), "run", "-"],
        input=json.dumps(step),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr


def test_a_read_only_place_is_refused_in_words(place: Place) -> None:
    directory = place("ro,size=1m")
    assert f"{directory} is mounted read-only: mount it for writing" in told(directory)


def test_looking_at_what_a_read_only_place_holds_is_not_refused_for_that(place: Place) -> None:
    directory = place("ro,size=1m")
    assert "run the action create first" in told(directory, actions=["stat", "read"])


def test_a_place_with_too_few_inodes_is_refused_with_both_numbers(place: Place) -> None:
    directory = place("nr_inodes=80,size=1m")
    sentence = told(directory)
    assert "inodes left, and the step needs 101: lower the items" in sentence
    assert list(directory.iterdir()) == []


def test_a_place_with_too_little_room_is_refused_with_both_numbers(place: Place) -> None:
    directory = place("size=256k")
    assert "bytes left, and the step writes 409600: lower the items" in told(directory, write_size_bytes=4000)
    assert list(directory.iterdir()) == []


def test_a_file_is_no_place(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert f"{file} is not a directory" in told(file)
