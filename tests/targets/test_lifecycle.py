"""Up and down: nothing is left behind, from whatever state, and nothing foreign is touched."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from lab_parts import EVERYTHING, WISHES, eventually, kinds

from leadline.errors import UserError
from leadline.run.lab import lifecycle, tools
from leadline.run.lab.journal import Journal
from leadline.run.lab.laboratory import Laboratory, Wishes
from leadline.run.lab.registry import lab_target
from leadline.run.lab.signals import ending_orderly
from leadline.run.lab.state import Ready, known_labs, lab_state

NAME = "everything"
EVENTS = 37
TOOLS = 24
"""How many lines the journal of EVERYTHING has, and how many tools make it, so that each can be the last (pinned below)."""
Fork = Callable[[Callable[[], None]], int]
Killed = Callable[[int, Callable[[], object]], int]
Look = Callable[[], Any]


def up(target: Any = EVERYTHING, name: str = NAME) -> Ready:
    return lifecycle.bring_up(name, target, WISHES, lambda line: None)[0]


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(UserError) as refused:
        act()
    return str(refused.value)


@contextmanager
def command(*argv: str) -> Iterator[None]:
    """A thing of somebody else's, made by the first half of the words and removed by the rest after `--`."""
    middle = argv.index("--")
    subprocess.run(argv[:middle], check=True)
    try:
        yield
    finally:
        subprocess.run(argv[middle + 1 :], check=True)


def test_one_of_each_comes_up_and_goes_without_a_trace(traces: Look) -> None:
    before = traces()
    up()
    assert eventually(lambda: len(traces().processes) == 3)
    there = traces()
    assert len(there.mounts) == 2 and len(there.loops) == 1 and len(there.namespaces) == 3
    assert len(there.control_groups) >= 4
    assert len(lab_state(NAME).journal.read_text().splitlines()) == EVENTS
    lifecycle.tear_down(NAME)
    assert traces() == before


@pytest.mark.parametrize("last", range(1, EVENTS + 1))
def test_killed_after_any_line_of_the_journal_it_is_cleaned_by_another_process(
    last: int, killed_after_line: Killed, traces: Look
) -> None:
    before = traces()
    status = killed_after_line(last, up)
    assert os.WTERMSIG(status) == signal.SIGKILL
    lifecycle.tear_down(NAME)
    assert traces() == before


@pytest.mark.parametrize("last", range(1, TOOLS + 1))
def test_killed_while_a_tool_is_still_at_work_the_tool_is_waited_for(
    last: int, forked: Fork, traces: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = traces()
    run = subprocess.run
    started = 0

    def start_and_die(argv: list[str], **options: Any) -> Any:
        nonlocal started
        started += 1
        if started < last:
            return run(argv, **options)
        slowed = ["sh", "-c", 'sleep 0.2; exec "$@"', "sh", *argv]
        text = options.get("input") or ""
        child = subprocess.Popen(
            slowed,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=options["pass_fds"],
            start_new_session=True,
        )
        assert child.stdin is not None
        child.stdin.write(text.encode())
        child.stdin.close()
        return os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(tools.subprocess, "run", start_and_die)
    _, status = os.waitpid(forked(up), 0)
    monkeypatch.setattr(tools.subprocess, "run", run)
    assert os.WTERMSIG(status) == signal.SIGKILL
    lifecycle.tear_down(NAME)
    assert eventually(lambda: traces() == before)


def test_twenty_cycles_of_ext4_leave_nothing(traces: Look) -> None:
    before = traces()
    for _ in range(20):
        up(lab_target("ext4"), "ext4")
        lifecycle.tear_down("ext4")
    assert traces() == before


def test_what_fails_on_its_way_up_is_undone_at_once(traces: Look) -> None:
    class Failing:
        summary = ""
        needs: dict[str, str] = {}  # noqa: RUF012

        def up(self, lab: Laboratory, wishes: Wishes) -> Ready:
            EVERYTHING.up(lab, wishes)
            lab.run("mkfs.ext4", "/dev/null")
            raise AssertionError

    before = traces()
    assert "mkfs.ext4" in refusal(lambda: up(Failing()))
    assert traces() == before and known_labs() == []


def test_down_can_be_repeated_after_it_was_refused(traces: Look) -> None:
    before = traces()
    ready = up(lab_target("ext4"), "ext4")
    with (Path(ready.directory) / "held").open("w"):
        sentence = refusal(lambda: lifecycle.tear_down("ext4"))
    assert f"process {os.getpid()}" in sentence and "is in use by" in sentence
    lifecycle.tear_down("ext4")
    assert traces() == before


def test_a_loop_device_of_somebody_else_over_a_file_in_the_mount_is_named(storage: Path) -> None:
    ready = up(lab_target("ext4"), "ext4")
    image = Path(ready.directory) / "foreign.img"
    image.write_bytes(bytes(1 << 20))
    device = subprocess.run(
        ["losetup", "-f", "--show", image], capture_output=True, text=True, check=True
    ).stdout.strip()
    try:
        assert Path(device).name in refusal(lambda: lifecycle.tear_down("ext4"))
    finally:
        subprocess.run(["losetup", "-d", device], check=True)


def test_a_lab_that_is_up_is_not_brought_up_again() -> None:
    ready = up(lab_target("tmpfs"), "tmpfs")
    assert f"up already; measure it with --directory {ready.directory}" in refusal(
        lambda: up(lab_target("tmpfs"), "tmpfs")
    )


def test_a_half_made_lab_is_named_as_one() -> None:
    lab_state(NAME).folder.mkdir(parents=True)
    assert "half-made" in refusal(up)
    assert "half-made" in lifecycle.described(lab_state(NAME))


def test_a_lab_in_use_names_its_user(forked: Fork) -> None:
    read, write = os.pipe()

    def stand() -> None:
        with (
            ending_orderly(),
            lifecycle.standing("tmpfs", lab_target("tmpfs"), WISHES, lambda line: None, "run"),
        ):
            os.write(write, b"up")
            while True:  # signal.pause() would wait for ever where the signal comes just before it
                time.sleep(0.05)

    child = forked(stand)
    os.read(read, 2)
    for act in (lambda: up(lab_target("tmpfs"), "tmpfs"), lambda: lifecycle.tear_down("tmpfs")):
        assert f"(process {child})" in refusal(act)
    os.kill(child, signal.SIGTERM)
    os.waitpid(child, 0)
    assert known_labs() == []


def test_what_a_killed_run_left_is_taken_down_by_the_same_run_only(forked: Fork) -> None:
    def stand() -> None:
        with lifecycle.standing("tmpfs", lab_target("tmpfs"), WISHES, lambda line: None, "/runs/one"):
            os.kill(os.getpid(), signal.SIGKILL)

    os.waitpid(forked(stand), 0)
    with (
        pytest.raises(UserError, match="left behind by the run /runs/one"),
        lifecycle.standing("tmpfs", lab_target("tmpfs"), WISHES, lambda line: None, "/runs/two"),
    ):
        raise AssertionError
    with lifecycle.standing("tmpfs", lab_target("tmpfs"), WISHES, lambda line: None, "/runs/one") as ready:
        assert Path(ready.directory).is_dir()
    assert known_labs() == []


def test_a_namespace_that_exists_already_is_refused_and_survives() -> None:
    name = f"{lab_state(NAME).prefix}-h2"
    with command("ip", "netns", "add", name, "--", "ip", "netns", "delete", name):
        assert f"the network namespace {name} exists already" in refusal(up)
        assert known_labs() == []
        assert Path("/run/netns", name).exists()


def test_things_of_similar_names_survive(labs: Path, storage: Path, tmp_path: Path) -> None:
    prefix = lab_state(NAME).prefix
    image, point = storage / "disk.img", tmp_path / "mount"
    image.write_bytes(bytes(1 << 20))
    point.mkdir()
    device = subprocess.run(
        ["losetup", "-f", "--show", image], capture_output=True, text=True, check=True
    ).stdout.strip()
    with (
        command("ip", "netns", "add", f"{prefix}-h20", "--", "ip", "netns", "delete", f"{prefix}-h20"),
        command("mount", "-t", "tmpfs", "leadline", str(point), "--", "umount", str(point)),
        command("true", "--", "losetup", "-d", device),
    ):
        up()
        lifecycle.tear_down(NAME)
        assert Path("/run/netns", f"{prefix}-h20").exists()
        assert os.path.ismount(point)
        assert Path("/sys/block", Path(device).name, "loop/backing_file").read_text().strip() == str(image)


def test_what_was_replaced_by_somebody_else_is_not_undone(tmp_path: Path, traces: Look) -> None:
    up()
    server = next(
        each
        for each in Journal(lab_state(NAME).journal).entries()
        if type(each.resource).__name__ == "Process"
    )
    name = f"{lab_state(NAME).prefix}-h2"
    held = os.open(Path("/run/netns", name), os.O_RDONLY)  # its inode number is not given out again meanwhile
    subprocess.run(["ip", "netns", "delete", name], check=True)
    with command("ip", "netns", "add", name, "--", "ip", "netns", "delete", name):
        lifecycle.tear_down(NAME)
        assert Path("/run/netns", name).exists()
    os.close(held)
    assert not server.resource.found(server.identity)
    assert traces().processes == ()


def test_the_tree_under_a_foreign_mount_is_never_deleted(storage: Path) -> None:
    ready = up(lab_target("tmpfs"), "tmpfs")
    point = lab_state("tmpfs").folder / "foreign"
    point.mkdir()
    with command("mount", "--bind", str(storage), str(point), "--", "umount", str(point)):
        (storage / "precious").write_text("kept")
        assert "is still mounted" in refusal(lambda: lifecycle.tear_down("tmpfs"))
        assert (storage / "precious").read_text() == "kept"
    assert not Path(ready.directory).exists()


def test_a_server_that_ends_at_once_is_told_with_its_words() -> None:
    class Dying:
        summary = ""
        needs: dict[str, str] = {}  # noqa: RUF012

        def up(self, lab: Laboratory, wishes: Wishes) -> Ready:
            number = lab.start("server", ("sh", "-c", "echo port in use >&2; exit 3"))
            lab.wait(number, lambda: False, 60)
            raise AssertionError

    assert "server ended before it served; it said: port in use" in refusal(lambda: up(Dying()))


def test_a_missing_tool_that_no_package_brings_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    class Needy:
        summary = ""
        needs = {"mkfs.nowhere": "nowhere-tools"}  # noqa: RUF012

        def up(self, lab: Laboratory, wishes: Wishes) -> Ready:
            raise AssertionError

    monkeypatch.setattr("leadline.run.lab.packages.shutil.which", lambda name: None)
    assert refusal(lambda: up(Needy())).endswith("with this system's packages")


def test_the_journal_names_things_before_they_exist() -> None:
    up()
    assert kinds(lab_state(NAME))[:3] == ["files.Directory", "files.Image", "loops.Loop"]


def test_a_root_that_others_may_write_to_is_refused(labs: Path) -> None:
    labs.mkdir()
    labs.chmod(0o777)
    assert "may be written by others" in refusal(up)
    labs.chmod(0o755)
