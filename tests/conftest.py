"""What all tests stand on: real directories on a real disk, the installed command, and reasons to skip."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from leadline.errors import UserError
from leadline.run.executable import engine_executable

NOT_A_DISK = {"tmpfs", "ramfs", "overlay", "overlayfs"}
COMMAND = "from leadline.cli.main import main; main()"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes more than ten seconds of real load")
    config.addinivalue_line("markers", "root: mounts something or becomes another user")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests that need what is not here are skipped with the reason, never passed."""
    if item.get_closest_marker("fio"):
        if shutil.which("fio") is None:
            pytest.skip("fio is not installed: apt-get install fio")
        try:
            engine_executable()
        except UserError as error:
            pytest.skip(str(error))
    if item.get_closest_marker("root") and os.geteuid() != 0:
        pytest.skip("needs root to mount something or to become another user")


@pytest.fixture(scope="session")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder on a real disk: where O_DIRECT, block counts and full disks are what they are for users."""
    checkout = Path(__file__).parents[1]
    for place in (tmp_path_factory.getbasetemp(), Path("/var/tmp"), checkout):
        if _filesystem_of(place) not in NOT_A_DISK and os.access(place, os.W_OK):
            folder = Path(tempfile.mkdtemp(prefix="leadline-tests-", dir=place))
            folder.chmod(0o755)
            yield folder
            shutil.rmtree(folder, ignore_errors=True)
            return
    pytest.skip("no writable directory here lies on a real disk")


@pytest.fixture
def work_directory(disk: Path) -> Iterator[Path]:
    """An empty directory on a real disk, to be measured."""
    path = Path(tempfile.mkdtemp(prefix="work-", dir=disk))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Mounts a small filesystem and gives a directory inside it; unmounted after the test."""
    made: list[Path] = []

    def mount(kind: str, options: str = "size=8m") -> Path:
        point = tmp_path / f"mount-{len(made)}"
        point.mkdir()
        done = subprocess.run(
            ["mount", "-t", kind, "-o", options, "leadline-test", point],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            pytest.skip(f"{kind} cannot be mounted here: {done.stderr.strip()}")
        made.append(point)
        inside = point / "inside"
        inside.mkdir()
        return inside

    yield mount
    for point in made:
        subprocess.run(["umount", "-l", point], check=False)


def leadline_argv(*arguments: object) -> list[str]:
    """The command as a user's shell would start it, by this Python."""
    return [sys.executable, "-c", COMMAND, *map(str, arguments)]


@pytest.fixture
def leadline(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command to its end in a folder of its own (`cwd`); what it prints is captured."""

    def run(*arguments: object, timeout: float = 120, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            leadline_argv(*arguments),
            cwd=tmp_path,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return run


@pytest.fixture
def argv() -> Callable[..., list[str]]:
    """The command line of leadline, for tests that start it themselves."""
    return leadline_argv


def _filesystem_of(path: Path) -> str:
    asked = subprocess.run(["stat", "-f", "-c", "%T", path], capture_output=True, text=True, check=False)
    return asked.stdout.strip()
