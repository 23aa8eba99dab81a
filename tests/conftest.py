"""What all tests stand on: real directories on a real disk, the installed command, and reasons to skip."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

from held_fio import HeldFio
from leadline.errors import UserError
from leadline.run.executable import engine_executable

NOT_A_DISK = {"tmpfs", "ramfs", "overlay", "overlayfs"}
COMMAND = "from leadline.cli.main import main; main()"
WARM_START = Path(__file__).with_name("warm_start.py")
ENVIRONMENT = dict(os.environ)
"""Before any test has changed it."""

# How long an example takes is the machine's affair, and the same examples every time keep what passed here passing elsewhere; other
# ones are tried by `pytest --hypothesis-profile=default`.
hypothesis.settings.register_profile(
    "the same everywhere",
    deadline=None,
    derandomize=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("the same everywhere")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes more than ten seconds of real load")
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # by the `&` of a script; children would inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)
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


@pytest.fixture(scope="session", autouse=True)
def temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where leadline and its tools keep temporary files during tests: also what killed ones leave is gone afterwards."""
    tmp_path_factory.getbasetemp()  # pytest's own stays where it is
    folder = Path(tempfile.mkdtemp(prefix="lt-"))  # short: sockets with long paths are refused by the kernel
    folder.chmod(0o1777)  # some tests become another user
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        patch.setattr(tempfile, "tempdir", str(folder))
        yield folder
    shutil.rmtree(folder, ignore_errors=True)


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


@pytest.fixture
def held_fio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], HeldFio]:
    """Puts a fio in front of the PATH whose load of that number does not come back before the test lets it."""

    def install(number: int) -> HeldFio:
        folder = tmp_path / "held-fio"
        held = HeldFio(folder, number)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        return held

    return install


def leadline_argv(*arguments: object) -> list[str]:
    """The command as a user's shell would start it, by this Python."""
    return [sys.executable, "-c", COMMAND, *map(str, arguments)]


class WarmStart:
    """Command lines that wait for no imports (warm_start.py); the first of each command is that of a fresh interpreter."""

    def __init__(self, folder: Path) -> None:
        self.address = folder / "warm"
        self.server: subprocess.Popen[bytes] | None = None
        self.started_fresh: set[str] = set()

    def argv(self, *arguments: object) -> list[str]:
        command = str(arguments[0]) if arguments else ""
        if command not in self.started_fresh:
            self.started_fresh.add(command)
            return leadline_argv(*arguments)
        if self.server is None:
            self.server = self._serve()
        return [sys.executable, "-IS", str(WARM_START), str(self.address), *map(str, arguments)]

    def _serve(self) -> subprocess.Popen[bytes]:
        words = [sys.executable, str(WARM_START), "serve", str(self.address)]
        server = subprocess.Popen(
            words, cwd="/", env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert server.stdout is not None and server.stdout.readline() == b"ready\n"
        return server

    def close(self) -> None:
        if self.server is not None:
            self.server.communicate()


@pytest.fixture(scope="session")
def warm_start(temporary_files: Path) -> Iterator[WarmStart]:
    warm = WarmStart(temporary_files)
    yield warm
    warm.close()


@pytest.fixture
def leadline(tmp_path: Path, warm_start: WarmStart) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command to its end in a folder of its own (`cwd`); what it prints is captured."""

    def run(*arguments: object, timeout: float = 300, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            warm_start.argv(*arguments),
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
