"""Labs under a root of their own, so that tests never meet the labs of whoever works on this machine; and a look at what is left."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from ssh_parts import Remote, make_user_key, start_remote, user_config

from leadline.run.lab.journal import Journal
from leadline.run.lab.lifecycle import tear_down
from leadline.run.lab.network import make_network
from leadline.run.lab.state import known_labs, lab_state


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here makes mounts or namespaces, but for what says otherwise."""
    for item in items:
        if Path(__file__).parent in item.path.parents and not item.get_closest_marker("anybody"):
            item.add_marker(pytest.mark.root)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "anybody: runs without root, though it tests the lab")


@dataclass(frozen=True)
class Traces:
    """What a lab may leave behind, of the labs of this test only."""

    mounts: tuple[str, ...]
    loops: tuple[str, ...]
    namespaces: tuple[str, ...]
    control_groups: tuple[str, ...]
    processes: tuple[str, ...]
    files: tuple[str, ...]


@pytest.fixture
def storage(disk: Path, tmp_path: Path) -> Path:
    path = disk / f"storage-{tmp_path.name}"
    path.mkdir()
    return path


@pytest.fixture(autouse=True)
def labs(tmp_path: Path, storage: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The root of this test's labs; whatever a failed test left up is taken down."""
    root = tmp_path / "labs"
    monkeypatch.setenv("LEADLINE_LAB_STATE", str(root))
    monkeypatch.setenv("LEADLINE_LAB_STORAGE", str(storage))
    yield root
    for state in known_labs():
        tear_down(state.name)


@pytest.fixture
def traces(labs: Path, storage: Path) -> Callable[[], Traces]:
    """What there is now."""

    def look() -> Traces:
        prefix = lab_state("x").prefix[:-1]
        return Traces(
            mounts=tuple(line for line in Path("/proc/mounts").read_text().splitlines() if str(labs) in line),
            loops=tuple(line for line in _lines("losetup", "-a") if str(storage) in line),
            namespaces=tuple(sorted(line for line in _lines("ip", "netns", "list") if prefix in line)),
            control_groups=tuple(sorted(_groups(prefix))),
            processes=tuple(sorted(_processes(f"LEADLINE_LAB_STATE={labs}"))),
            files=tuple(sorted(str(path) for top in (labs, storage) for path in top.glob("**/*"))),
        )

    return look


@pytest.fixture
def journal(labs: Path) -> Iterator[Journal]:
    """A journal without a lab around it, undone after the test."""
    labs.mkdir()
    made = Journal(labs / "journal.jsonl")
    yield made
    made.undo()


@pytest.fixture
def remotes(journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Remote]]:
    """Two hosts with sshd that a user's configuration reaches."""
    if not shutil.which("sshd", path="/usr/sbin:/usr/bin"):
        pytest.skip("sshd is not installed")
    network = make_network(journal, lab_state("ssh").prefix, 3)
    folder = tmp_path / "ssh"
    folder.mkdir()
    make_user_key(folder)
    several = [start_remote(folder, host) for host in network.hosts[:2]]
    monkeypatch.setenv("LEADLINE_SSH_CONFIG", str(user_config(folder, several, network.hosts[2])))
    yield several
    for remote in several:
        remote.server.terminate()
        remote.server.wait()


@pytest.fixture
def forked() -> Iterator[Callable[[Callable[[], None]], int]]:
    """Runs a function in a process of its own, which a test may kill; one that raises prints it and exits with 1."""
    children: list[int] = []

    def fork(act: Callable[[], None]) -> int:
        pid = os.fork()
        if pid:
            children.append(pid)
            return pid
        try:
            act()
        except BaseException as error:
            print(f"child: {error!r}", file=sys.__stderr__)
            os._exit(1)
        os._exit(0)

    yield fork
    for pid in children:
        try:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            continue


def _lines(*argv: str) -> list[str]:
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.splitlines()


def _groups(prefix: str) -> Iterator[str]:
    for top, folders, _ in os.walk("/sys/fs/cgroup"):
        yield from (f"{top}/{name}" for name in folders if prefix in name)


def _processes(word: str) -> Iterator[str]:
    """Those that were started in this test's environment, zombies left out."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            ours = word.encode() in (entry / "environ").read_bytes().split(b"\0")
            if ours and int(entry.name) != os.getpid():
                yield (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
