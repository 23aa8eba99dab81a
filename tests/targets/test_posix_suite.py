"""The real pjdfstest on real filesystems: complete, repeatable, within its folder, and clear where it cannot run."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from leadline.errors import UserError
from leadline.expectations.known import suite_cases
from leadline.formats.pjdfstest import read_report
from leadline.run.posix.claims import probe
from leadline.run.posix.installation import program_path
from leadline.run.posix.own_directory import NAME
from leadline.run.posix.rust_suite import RustSuite
from leadline.run.posix.sounding import Wishes, sound
from leadline.run.posix.users import two_accounts
from leadline.store.conformance import Outcome, read_conformance, write_conformance

Call = Callable[..., subprocess.CompletedProcess[str]]
Argv = Callable[..., list[str]]
QUICK = ("--case", "rename::write_access_required_subdir", "--case", "mkdir::uid_gid_eq_euid_egid")


@pytest.fixture(autouse=True)
def built() -> None:
    if not program_path().exists():
        pytest.skip(
            "pjdfstest is not built here yet: leadline posix DIR builds it, with cargo, from crates.io"
        )


@pytest.fixture
def memory() -> Iterator[Path]:
    """A tmpfs of its own where ordinary users may go, unlike to pytest's folders."""
    point = Path(f"/run/leadline-posix-test-{os.getpid()}")
    point.mkdir(mode=0o755)
    try:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256m,mode=755", "leadline", point], check=True)
        yield point
        subprocess.run(["umount", "-l", point], check=True)
    finally:
        point.rmdir()


def test_the_list_of_cases_is_that_of_the_program(memory: Path, tmp_path: Path) -> None:
    suite = RustSuite(program_path(), tmp_path, probe(memory), two_accounts(), None, "no")
    (tmp_path / "all.toml").write_text(suite.configuration(0.02))
    words = (program_path(), "-c", tmp_path / "all.toml", "-p", memory)
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert sorted(case.name for case in read_report(done.stdout).cases) == sorted(suite_cases())


def test_tmpfs_passes_every_case_also_read_only_and_is_left_as_it_was(
    leadline: Call, memory: Path, tmp_path: Path
) -> None:
    (memory / "mine").write_text("mine")
    done = leadline("posix", memory, "--remount", "--json", "run.json", "--junit", "run.xml")
    result = read_conformance(tmp_path / "run.json")
    assert done.returncode == 0, done.stdout + done.stderr
    outcomes = {case.name: case.outcome for case in result.cases}
    assert set(outcomes) == set(suite_cases())
    assert [name for name, outcome in outcomes.items() if outcome is not Outcome.PASSED] == [
        "link::link_count_max"
    ]
    assert all(case.seconds > 0 for case in result.cases)
    assert [entry.name for entry in memory.iterdir()] == ["mine"]
    assert not os.statvfs(memory).f_flag & os.ST_RDONLY
    assert Xml.parse(tmp_path / "run.xml").getroot().attrib["tests"] == str(len(suite_cases()))


def test_a_known_failure_is_expected_by_list_and_by_an_earlier_run(
    leadline: Call, work_directory: Path, tmp_path: Path
) -> None:
    image, point = work_directory / "image", Path(f"/run/leadline-posix-btrfs-{os.getpid()}")
    image.touch()
    os.truncate(image, 256 * 2**20)
    subprocess.run(["mkfs.btrfs", "-q", image], check=True, capture_output=True)
    point.mkdir(mode=0o755)
    case = ("--case", "rename::updates_link_parent")
    try:
        subprocess.run(["mount", "-o", "loop", image, point], check=True)
        alone = leadline("posix", point, *case, "--json", "run.json")
        assert alone.returncode == 1
        assert "The link count of a directory does not follow" in alone.stdout
        assert "--expect btrfs" in alone.stdout
        assert leadline("posix", point, *case, "--expect", "btrfs").returncode == 0
        again = leadline("posix", point, *case, "--against", "run.json")
        assert again.returncode == 0
        assert "Nothing changed since the earlier run." in again.stdout
    finally:
        subprocess.run(["umount", point], check=False)
        point.rmdir()


def test_a_new_failure_since_an_earlier_run_is_a_no(leadline: Call, memory: Path, tmp_path: Path) -> None:
    leadline("posix", memory, *QUICK, "--json", "run.json")
    (tmp_path / "run.json").write_text((tmp_path / "run.json").read_text().replace('"passed"', '"failed"', 1))
    healed = leadline("posix", memory, *QUICK, "--against", "run.json")
    assert healed.returncode == 0
    assert "failed -> passed" in healed.stdout


def test_a_killed_run_is_cleaned_up_by_the_next(leadline: Call, argv: Argv, memory: Path) -> None:
    process = subprocess.Popen(argv("posix", memory), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while not list((memory / NAME).glob("w/.tmp*")) and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert (memory / NAME).is_dir()
    done = leadline("posix", memory, *QUICK)
    assert done.returncode == 0, done.stdout
    assert "interrupted run" in done.stderr
    assert list(memory.iterdir()) == []


def test_an_interrupted_run_leaves_nothing(argv: Argv, memory: Path) -> None:
    process = subprocess.Popen(argv("posix", memory), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while not list((memory / NAME).glob("w/.tmp*")) and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)  # taken like Ctrl-C, which is ignored in a shell's background
    assert process.wait(timeout=60) == 130
    assert list(memory.iterdir()) == []


@pytest.mark.parametrize(
    ("ending", "sentence"),
    [
        (("umount", "-l"), "lies on another filesystem|does not answer"),
        (("mount", "-o", "remount,ro"), "turned read-only"),
    ],
)
def test_a_filesystem_that_goes_away_ends_the_run_with_the_last_case(
    memory: Path, ending: tuple[str, ...], sentence: str
) -> None:
    below = memory / "below"
    below.mkdir(mode=0o755)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "leadline", below], check=True)
    cases = tuple(name for name in suite_cases() if name.startswith("mkdir::e"))

    def break_it(case: object, number: int, total: int) -> None:
        if number == 3:
            subprocess.run([*ending, below], check=True)

    try:
        with pytest.raises(UserError, match=sentence) as refused:
            sound(Wishes(below, cases=cases), print, break_it)
        assert f"after 3 of {len(cases)} cases (the last was {sorted(cases)[2]})" in str(refused.value)
    finally:
        subprocess.run(["umount", "-l", below], check=False, capture_output=True)


def test_a_directory_that_ordinary_users_cannot_reach_is_refused_with_the_place(
    leadline: Call, memory: Path
) -> None:
    closed = memory / "closed"
    closed.mkdir(mode=0o700)
    (closed / "work").mkdir()
    done = leadline("posix", closed / "work")
    assert done.returncode == 2
    assert f"the user nobody, as whom the suite tests access rights, cannot enter {closed}" in done.stderr
    assert list((closed / "work").iterdir()) == []


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("size=8m", "8 MiB free and the suite needs 64 MiB"),
        ("nr_inodes=50", "inodes free and the suite needs"),
    ],
)
def test_too_little_room_is_said_beforehand(
    leadline: Call, memory: Path, options: str, sentence: str
) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", memory], check=True)
    done = leadline("posix", memory)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert list(memory.iterdir()) == []


def test_a_read_only_filesystem_is_refused(leadline: Call, memory: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", memory], check=True)
    done = leadline("posix", memory)
    assert done.returncode == 2
    assert "is mounted read-only" in done.stderr


def test_a_target_of_the_lab_is_up_for_the_run_and_gone_after_what_was_found_is_told(
    argv: Argv, tmp_path: Path
) -> None:
    root = Path(
        f"/run/leadline-posix-labs-{os.getpid()}"
    )  # pytest's own folders are closed to ordinary users
    words = argv("posix", "--target", "tmpfs", *QUICK, "--json", tmp_path / "run.json")
    environment = {**os.environ, "LEADLINE_LAB_STATE": str(root)}
    try:
        done = subprocess.run(
            words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        assert done.returncode == 0, done.stdout
        # In this order, for a Ctrl-C while it goes down must take nothing away.
        assert 0 < done.stdout.find("No unexpected failure") < done.stdout.find("tmpfs is down after")
        result = read_conformance(tmp_path / "run.json")
        assert (result.label, result.facts["target"], result.facts["type"]) == ("tmpfs", "tmpfs", "tmpfs")
        assert not (root / "tmpfs").exists()
        assert str(root) not in Path("/proc/mounts").read_text()
    finally:
        shutil.rmtree(root, ignore_errors=True)


def test_without_root_what_needs_it_is_skipped_and_said(
    forked: Callable[[Callable[[], None]], int], memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a process that becomes the user nobody, once everything is imported: this Python may lie where nobody may read."""
    program = memory / "cache" / program_path().parent.relative_to(program_path().parents[2])
    program.mkdir(parents=True)
    shutil.copy(program_path(), program)
    monkeypatch.setenv("LEADLINE_CACHE", str(memory / "cache"))
    monkeypatch.setenv("TMPDIR", "/tmp")
    mine = memory / "mine"
    mine.mkdir()
    mine.chmod(0o777)

    def act() -> None:
        become_nobody()
        wishes = Wishes(mine, cases=("chown::lchown::enotdir_component::char", "mkdir::enoent_comp"))
        write_conformance(sound(wishes, print, lambda *case: None), mine / "run.json")

    assert os.waitstatus_to_exitcode(os.waitpid(forked(act), 0)[1]) == 0
    result = read_conformance(mine / "run.json")
    needs_root, open_to_all = result.cases
    assert (needs_root.outcome, needs_root.reason) == (Outcome.SKIPPED, "requires root privileges")
    assert open_to_all.outcome is Outcome.PASSED
    assert any("Not run as root" in note for note in result.notes)


def become_nobody() -> None:
    """For good."""
    who = pwd.getpwnam("nobody")
    os.chdir("/")
    tempfile.tempdir = "/tmp"
    os.setgroups([])
    os.setgid(who.pw_gid)
    os.setuid(who.pw_uid)
