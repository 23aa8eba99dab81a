"""Small real campaigns, runs of them that a test may kill, and a look at what is left alive."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

CAMPAIGN = """
name = "tiny"
baselines = false
noise_repeats = 0

[defaults]
rw = ["randread", "randwrite"]
iodepth = [1, 2]
ioengine = "libaio"
direct = true
size = "1m"

[[experiment]]
name = "grid"
runtime = "200ms"
"""


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """Four cells of 0.2 s and the layout under them."""
    path = tmp_path / "tiny.toml"
    path.write_text(CAMPAIGN)
    return path


@pytest.fixture
def started(tmp_path: Path, argv: Callable[..., list[str]]) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts the command and leaves it to the test; what is still alive at the end is killed."""
    running: list[subprocess.Popen[str]] = []

    def start(*arguments: object) -> subprocess.Popen[str]:
        running.append(
            subprocess.Popen(
                argv(*arguments), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
        )
        return running[-1]

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@pytest.fixture
def working_in() -> Callable[[Path], list[str]]:
    """The command lines of all processes that were started to work in a directory, leadline's own left out."""

    def find(directory: Path) -> list[str]:
        found = []
        for entry in Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
                alive = "Z (zombie)" not in (entry / "status").read_text() if words else False
            except OSError:  # it ended while we looked
                continue
            line = b" ".join(words).decode(errors="replace")
            if (
                alive
                and str(directory) in line
                and int(entry.name) != os.getpid()
                and "leadline.cli" not in line
            ):
                found.append(line)
        return found

    return find


@pytest.fixture
def stored() -> Callable[[Path], dict[int, list[object]]]:
    """The figures of each stored step, read without leadline."""

    def read(run: Path) -> dict[int, list[object]]:
        if not (run / "results.sqlite").exists():
            return {}
        with sqlite3.connect(run / "results.sqlite") as connection:
            try:
                steps = connection.execute(
                    "SELECT ordinal, status, started_unix_ns, wall_ns FROM step"
                ).fetchall()
                moved = connection.execute(
                    "SELECT ordinal, job, operations, size_bytes, runtime_ns FROM measurement"
                ).fetchall()
            except sqlite3.OperationalError:  # killed before its tables were made
                return {}
        connection.close()
        return {
            step[0]: [step[1:], sorted(each[1:] for each in moved if each[0] == step[0])] for step in steps
        }

    return read
