"""What happens between two looks: processes that end, devices that go, signals that come, at the very moment when it hurts most."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cluster_parts import skip_unless_installed
from held_parts import Held
from lab_parts import WISHES, eventually

from leadline.errors import UserError
from leadline.run.lab import gate, glusterfs, juicefs_cache, lifecycle, mounts, nfs, patience
from leadline.run.lab.breaking import RESTARTED_FOR_SECONDS, _check_restarted, fault
from leadline.run.lab.conditions import limit
from leadline.run.lab.control_groups import adopt
from leadline.run.lab.disks import Disk
from leadline.run.lab.files import remove_tree
from leadline.run.lab.journal import Journal
from leadline.run.lab.laboratory import Laboratory, Wishes
from leadline.run.lab.loops import Loop
from leadline.run.lab.mounts import Mount
from leadline.run.lab.network import LabHost
from leadline.run.lab.processes import Process, alive, identity_of, state
from leadline.run.lab.registry import lab_target
from leadline.run.lab.signals import undisturbed
from leadline.run.lab.state import LabState, Ready, known_labs, lab_state
from leadline.run.lab.tools import Toolbox

NAME = "held"
Look = Callable[[], Any]


def interrupted(*words: object) -> Any:
    raise KeyboardInterrupt


def test_the_last_words_of_a_server_that_ends_while_it_is_looked_at_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def speaks_and_ends(process: Process, identity: str | None) -> bool:
        Path(process.log).write_text("port in use")
        return False

    class Dying:
        summary = ""
        needs: dict[str, str] = {}  # noqa: RUF012

        def up(self, lab: Laboratory, wishes: Wishes) -> Ready:
            number = lab.start("server", ("sleep", "1000"))
            with monkeypatch.context() as patched:
                patched.setattr(Process, "found", speaks_and_ends)
                lab.wait(number, lambda: False, 5)
            raise AssertionError

    with pytest.raises(UserError, match="ended before it served; it said: port in use"):
        lifecycle.bring_up(NAME, Dying(), WISHES, lambda line: None)


def test_what_a_server_does_just_before_it_ends_is_not_missed_between_two_looks(tmp_path: Path) -> None:
    """A build that was looked for a moment too early is done; a complaint that was is told in its own sentence."""
    gate, made = tmp_path / "gate", tmp_path / "made"
    os.mkfifo(gate)

    class Builder:
        summary = ""
        needs: dict[str, str] = {}  # noqa: RUF012

        def up(self, lab: Laboratory, wishes: Wishes) -> Ready:
            number = lab.start("builder", ("sh", "-c", f"read word < {gate}; touch {made}"))

            def is_made_when_looked_at() -> bool:
                seen = made.exists()
                if not seen:
                    gate.write_text("go\n")
                    assert eventually(lambda: not alive(str(lab.journal.identity(number))))
                return seen

            lab.wait(number, is_made_when_looked_at, 60)
            return Ready(str(made), "none")

    lifecycle.bring_up(NAME, Builder(), WISHES, lambda line: None)
    lifecycle.tear_down(NAME)


@pytest.mark.anybody
def test_a_process_whose_first_thread_has_ended_lives_until_the_last_one_has() -> None:
    """The others still hold its ports and files; a server started in its place would meet them."""
    leave = "import ctypes, threading, time; threading.Thread(target=time.sleep, args=(60,)).start(); ctypes.CDLL(None).syscall(60, 0)"
    process = subprocess.Popen([sys.executable, "-c", leave])
    identity = identity_of(process.pid)
    assert eventually(lambda: state(identity) == "Z") and alive(identity)
    process.kill()
    assert eventually(lambda: not alive(identity))
    process.wait()


@pytest.mark.anybody
def test_a_signal_that_comes_while_nothing_may_disturb_is_heard_afterwards() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        with undisturbed():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            assert heard == []
        assert heard == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_while_it_is_told_that_a_lab_is_up_takes_it_down(traces: Look) -> None:
    before = traces()

    def tell(line: str) -> None:
        if "is up after" in line:
            interrupted()

    with (
        pytest.raises(KeyboardInterrupt),
        lifecycle.standing("tmpfs", lab_target("tmpfs"), WISHES, tell, "/runs/one"),
    ):
        raise AssertionError
    assert traces() == before and known_labs() == []


def test_ctrl_c_as_soon_as_the_folder_of_a_lab_is_there_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(LabState, "owner", property(interrupted))
    with pytest.raises(KeyboardInterrupt):
        lifecycle.bring_up("tmpfs", lab_target("tmpfs"), WISHES, lambda line: None)
    assert known_labs() == []


def test_what_was_seen_is_told_before_the_target_goes_down_which_ctrl_c_may_meet(
    argv: Callable[..., list[str]],
) -> None:
    skip_unless_installed("juicefs")
    words = argv("consistency", "--target", "juicefs", "--mutation", "mkdir", "--patience", "2s")
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    assert 0 < done.stdout.find("Of 1 cells") < done.stdout.find("juicefs is down after"), done.stdout


def test_a_lab_that_another_brought_up_while_its_lock_was_waited_for_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lifecycle.bring_up("tmpfs", lab_target("tmpfs"), WISHES, lambda line: None, "/runs/one")
    locked = lifecycle.locked

    @contextmanager
    def locked_at_last(lab: LabState) -> Iterator[int]:
        lab.owner.write_text("hand")
        with locked(lab) as descriptor:
            yield descriptor

    monkeypatch.setattr(lifecycle, "locked", locked_at_last)
    lifecycle.clear_leavings("tmpfs", "/runs/one", lambda line: None)
    assert [lab.name for lab in known_labs()] == ["tmpfs"]


def test_a_loop_device_that_goes_by_itself_is_gone(journal: Journal, storage: Path) -> None:
    """As one does that was in use when it was detached first: the kernel detaches it when its user ends."""
    loop, tools = Loop(str(storage / "disk.img")), Toolbox()
    Path(loop.backing).write_bytes(bytes(1 << 20))
    number = journal.make(loop)

    def a_moment_later(*argv: object) -> str:
        tools.run(*argv)
        return tools.run(*argv)

    loop.remove(SimpleNamespace(tools=SimpleNamespace(run=a_moment_later)), journal.identity(number))  # type: ignore[arg-type]
    assert not loop.found(None)


@pytest.mark.anybody
def test_a_tree_of_which_a_file_goes_by_itself_is_removed_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As files do that a network filesystem had hidden because they were open."""
    (tmp_path / "tree/folder").mkdir(parents=True)
    for name in ("a", "b", "folder/c"):
        (tmp_path / "tree" / name).touch()
    unlink = os.unlink

    def a_moment_later(name: str, dir_fd: int) -> None:
        unlink(name, dir_fd=dir_fd)
        unlink(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", a_moment_later)
    remove_tree(tmp_path / "tree")
    assert not (tmp_path / "tree").exists()
    remove_tree(tmp_path / "tree")


def test_a_mount_that_goes_by_itself_is_gone(journal: Journal, tmp_path: Path) -> None:
    Mount("leadline", str(tmp_path), "tmpfs").remove(journal, "0:1 tmpfs")


def test_a_mount_is_not_busy_after_a_single_look_because_the_machine_stood_still(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time is over after each look; who uses it comes to its end at the third."""
    point = tmp_path / "mount"
    point.mkdir()
    number = journal.make(Mount("leadline", str(point), "tmpfs"))
    user = (point / "used").open("w")
    clock, looks = count(step=1000.0), count(1)
    still = SimpleNamespace(
        monotonic=lambda: next(clock), sleep=lambda seconds: user.close() if next(looks) == 3 else None
    )
    for module in (mounts, patience):
        monkeypatch.setattr(module, "time", still)
    journal.remove(number)
    assert not point.is_mount() and next(looks) > 3


def test_a_process_that_is_just_ending_need_not_be_moved_into_a_group(journal: Journal) -> None:
    """The kernel moves none that is exiting, and does not say so."""
    group = limit(journal, f"{lab_state('moments').prefix}-limits", cores=1)
    ending = subprocess.Popen(["true"])
    assert eventually(lambda: state(identity_of(ending.pid)) == "Z")
    gone_at = time.monotonic() + 0.1
    adopt(lambda: [ending.pid] if time.monotonic() < gone_at else [], group.paths)
    ending.wait()


def test_a_server_that_is_killed_when_the_lab_goes_down_has_not_ended_by_itself() -> None:
    lifecycle.bring_up(NAME, Held(), WISHES, lambda line: None)
    with fault(NAME, "kill", "server", 20):
        gate.close(lab_state(NAME).folder)


def test_a_server_that_is_killed_once_more_has_not_ended_by_itself() -> None:
    lifecycle.bring_up(NAME, Held(), WISHES, lambda line: None)
    journal = Journal(lab_state(NAME).journal)
    (server,) = (each for each in journal.entries() if isinstance(each.resource, Process))
    with fault(NAME, "kill", "server", 20):
        _check_restarted(journal, "server", server.number)


STOPS_ITS_WATCHER = """
mkdir {0}/here 2>/dev/null && exec sleep 1000
sleep 0.1; kill -STOP $(cat {0}/watcher); sleep {1}; kill -CONT $(cat {0}/watcher)
sleep 0.1; exit 3
"""


def test_a_server_that_ends_after_the_machine_stood_still_while_it_was_watched_is_told(
    tmp_path: Path, forked: Callable[[Callable[[], None]], int]
) -> None:
    """Longer than it is watched: what did not run meanwhile could not end either."""
    script = STOPS_ITS_WATCHER.format(tmp_path, RESTARTED_FOR_SECONDS + 0.2)
    lifecycle.bring_up(NAME, Held(server=("sh", "-c", script)), WISHES, lambda line: None)
    assert eventually((tmp_path / "here").exists)

    def watch() -> None:
        (tmp_path / "watcher").write_text(str(os.getpid()))
        with (
            pytest.raises(UserError, match="server was started again and has ended by itself"),
            fault(NAME, "kill", "server", 60),
        ):
            pass

    assert os.waitpid(forked(watch), 0)[1] == 0


@pytest.mark.anybody
def test_what_ganesha_complains_of_just_before_it_answers_is_told(tmp_path: Path) -> None:
    log, configuration = tmp_path / "ganesha1.log", tmp_path / "ganesha1.conf"
    log.write_text("starting\n")
    configuration.write_text("NFS_CORE_PARAM {\n    MaxRead = 7;\n}\n")

    def answers(*argv: object, timeout_seconds: float) -> str:
        log.write_text(f":CONFIG :CRIT :Config File ({configuration}:2): out of range")
        return ""

    lab = SimpleNamespace(state=SimpleNamespace(folder=tmp_path), run=answers)
    host = LabHost(1, "nowhere-h1", "10.77.1.1", "nowhere-switch", "p1")
    with pytest.raises(UserError, match='does not take the option "MaxRead = 7": out of range'):
        nfs._serves(lab, nfs.Server(host, Disk(tmp_path, tmp_path), "1"))  # type: ignore[arg-type]


@pytest.mark.anybody
def test_a_directory_that_a_client_could_make_and_not_remove_is_no_reason_to_give_up(tmp_path: Path) -> None:
    (tmp_path / "probe/half-made").mkdir(parents=True)
    assert not glusterfs._reaches(tmp_path, [tmp_path])
    (tmp_path / "probe/half-made").rmdir()
    assert not glusterfs._reaches(tmp_path, [tmp_path])  # which removes it
    assert glusterfs._reaches(tmp_path, [tmp_path])


@pytest.mark.anybody
def test_directories_of_a_cache_may_go_while_its_files_are_counted(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / "volume/raw" / name).mkdir(parents=True)
        (tmp_path / "volume/raw" / name / "block").write_bytes(b"x")
    found = juicefs_cache._files(tmp_path, juicefs_cache.CACHED)
    first = next(found).parent
    for folder in set((tmp_path / "volume/raw").iterdir()) - {first}:
        (folder / "block").unlink()
        folder.rmdir()
    assert list(found) == []


OTHER_RPCBIND = """
mount -t tmpfs leadline /run
"$1" -c 'import socket; socket.socket(socket.AF_UNIX).bind("/run/rpcbind.sock")'
"$2" lab up nfs --size 64MiB && "$2" lab down nfs
"""
SLOW_UNSHARE = """#!/bin/sh
sleep 0.5
exec /usr/bin/unshare "$@"
"""


def test_nfs_comes_up_beside_an_rpcbind_of_this_machine(tmp_path: Path) -> None:
    """Which has a socket by the same name, seen until the server has a /run of its own."""
    from nfs_parts import build_or_skip

    build_or_skip()
    slow = tmp_path / "bin/unshare"
    slow.parent.mkdir()
    slow.write_text(SLOW_UNSHARE)
    slow.chmod(0o755)
    leadline = Path(sys.executable).with_name("leadline")
    words = ("/usr/bin/unshare", "--mount", "sh", "-ec", OTHER_RPCBIND, "sh", sys.executable, str(leadline))
    path = f"{slow.parent}:{os.environ['PATH']}"
    environment = {**os.environ, "LEADLINE_LAB_STATE": f"/run/labs-{tmp_path.name}", "PATH": path}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
