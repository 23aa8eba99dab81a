"""Labs under a root of their own, so that tests never meet the labs of whoever works on this machine; and a look at what is left."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

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
            files=tuple(sorted(_below(labs, storage))),
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
        with suppress(ChildProcessError):  # the test has waited for it: its number may be another's by now
            if os.waitpid(pid, os.WNOHANG) == (0, 0):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


@pytest.fixture
def killed_after_line(
    forked: Callable[[Callable[[], None]], int],
) -> Callable[[int, Callable[[], object]], int]:
    """Runs a function in a process that is killed after so many lines of a lab's journal; its status, as waitpid(2) gives it."""

    def run(last: int, act: Callable[[], object]) -> int:
        def act_and_die() -> None:
            write, lines = Journal._write, count(1)

            def write_and_die(self: Journal, number: str, event: str, **fields: Any) -> None:
                write(self, number, event, **fields)
                if next(lines) == last:
                    os.kill(os.getpid(), signal.SIGKILL)

            Journal._write = write_and_die  # type: ignore[method-assign]  # of this process, which ends here
            act()

        return os.waitpid(forked(act_and_die), 0)[1]

    return run


def _lines(*argv: str) -> list[str]:
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.splitlines()


def _groups(prefix: str) -> Iterator[str]:
    for top, folders, _ in os.walk("/sys/fs/cgroup"):
        yield from (f"{top}/{name}" for name in folders if prefix in name)


def _below(*tops: Path) -> Iterator[str]:
    """os.walk does not mind what goes while it looks."""
    for top in tops:
        for folder, folders, names in os.walk(top):
            yield from (f"{folder}/{name}" for name in (*folders, *names))


def _processes(word: str) -> Iterator[str]:
    """Those that were started in this test's environment, zombies left out."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            ours = word.encode() in (entry / "environ").read_bytes().split(b"\0")
            if ours and int(entry.name) != os.getpid():
                yield (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
