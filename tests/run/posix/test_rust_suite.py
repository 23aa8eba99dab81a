"""The Rust suite: its configuration and its order, and what becomes of a runner that hangs or breaks off (a stand-in program)."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attempts import attempts
from leadline.expectations.known import suite_cases
from leadline.run.lab.signals import ending_orderly
from leadline.run.posix.claims import Claims, probe
from leadline.run.posix.rust_suite import RustSuite
from leadline.run.posix.surroundings import restore_writing, scratch_folder, short_alias, why_not_remounted
from leadline.run.posix.users import Account
from leadline.run.targets.work_directory import MARKER
from leadline.store.conformance import Outcome

CLAIMS = Claims(posix_fallocate=True, fallocate_emulated=False, rename_ctime=False, time_step_seconds=0.004)
CASE = "chmod::enoent_comp"

Made = Callable[..., RustSuite]


@pytest.fixture
def suite(tmp_path: Path) -> Made:
    """With a program that does what the test says."""

    def make(
        script: str = "exit 0", claims: Claims = CLAIMS, keeps_mount: str = "", seconds: float = 20
    ) -> RustSuite:
        program = tmp_path / "pjdfstest"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        accounts = (Account("nobody", "nogroup"), Account("daemon", "daemon"))
        return RustSuite(program, tmp_path, claims, accounts, Path("/dev/shm"), keeps_mount, None, seconds)

    return make


def said(word: str, below: str = "") -> str:
    """A program that prints one case."""
    return f"printf '%s\\n' '{CASE}   {word}' '{below}' 'Summary: 0 failed, 1 total'"


def test_the_configuration_claims_what_the_filesystem_offers_and_what_the_standard_requires(
    suite: Made,
) -> None:
    written = tomllib.loads(suite().configuration(0.02))
    assert set(written["features"]) == {"posix_fallocate", "utimensat", "utime_now", "secondary_fs"}
    assert written["dummy_auth"]["entries"] == [["nobody", "nogroup"], ["daemon", "daemon"]]
    assert written["settings"]["allow_remount"] is True


def test_it_sleeps_longer_than_the_filesystems_clock_takes(suite: Made) -> None:
    assert CLAIMS.nap_seconds == pytest.approx(0.02)
    assert Claims(True, False, True, time_step_seconds=1.0).nap_seconds == pytest.approx(1.2)
    assert tomllib.loads(suite().configuration(0.5))["settings"]["naptime"] == 0.5


def test_a_change_that_shows_late_is_told_from_one_that_never_shows(suite: Made, tmp_path: Path) -> None:
    late = said("FAILED", "Timestamps did not change as expected")
    patient = suite(f'if grep -q "naptime = 1.2" "$2"; then {said("ok")}; else {late}; fi').run(
        CASE, tmp_path
    )
    assert (patient.outcome, patient.reason) == (
        Outcome.PASSED,
        "only with 1.2 s between changes, not with 0.02 s",
    )
    never = suite(late).run(CASE, tmp_path)
    assert never.outcome is Outcome.FAILED


def test_cases_that_mount_read_only_are_a_pass_of_their_own_at_the_end(suite: Made) -> None:
    names = list(suite().names)
    assert sorted(names) == sorted(suite_cases())
    read_only = [name for name in names if "::erofs_" in name]
    assert len(read_only) == 13
    assert names[-13:] == read_only


def test_without_leave_to_remount_those_cases_are_skipped_with_the_reason(
    suite: Made, tmp_path: Path
) -> None:
    case = suite(keeps_mount="not asked for").run("chmod::erofs_named", tmp_path)
    assert (case.outcome, case.reason) == (Outcome.SKIPPED, "not asked for")


def test_a_mount_that_cannot_be_changed_is_a_skipped_case(suite: Made, tmp_path: Path) -> None:
    case = suite(said("FAILED", "an `Err` value: Failed to remount: mount point is busy.")).run(
        CASE, tmp_path
    )
    assert case.outcome is Outcome.SKIPPED
    assert case.reason == "its mount could not be turned read-only: mount point is busy."


@pytest.mark.parametrize(
    ("script", "outcome", "reason"),
    [
        (said("ok"), Outcome.PASSED, ""),
        (said("FAILED", "left: Err(EPERM)"), Outcome.FAILED, "left: Err(EPERM)"),
        ("echo no such user >&2; exit 1", Outcome.FAILED, "the suite broke off: no such user"),
        ("kill -9 $$", Outcome.FAILED, "the suite broke off"),
        ("echo; echo 'Summary: 0 failed, 0 total'", Outcome.SKIPPED, "does not have the case"),
    ],
)
def test_what_the_program_says_becomes_an_outcome(
    suite: Made, tmp_path: Path, script: str, outcome: Outcome, reason: str
) -> None:
    case = suite(script).run(CASE, tmp_path)
    assert case.outcome is outcome
    assert reason in case.reason


def test_a_case_that_hangs_is_ended_with_all_that_it_started(suite: Made, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    for seconds in (0.3, 10, 60):  # until it has come to hang before its time was up
        case = suite(f"sleep 600 & echo $! > {pid}; wait", seconds=seconds).run(CASE, tmp_path)
        assert (case.outcome, case.reason) == (Outcome.FAILED, f"did not end within {seconds:g} s")
        if pid.exists() and pid.read_text().strip():
            break
    until = time.monotonic() + 60
    while state_of(pid.read_text().strip()) not in ("gone", "Z"):
        assert time.monotonic() < until, "it lives on"
        time.sleep(0.01)


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_a_case_that_was_only_just_being_started_is_ended_by_ctrl_c_too(
    by: signal.Signals, suite: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, started = subprocess.Popen, []

    def interrupted_start(*arguments: Any, **settings: Any) -> Any:
        process = start(*arguments, **settings)
        started.append(process.pid)
        signal.raise_signal(by)
        return process

    monkeypatch.setattr("leadline.run.posix.suite.subprocess.Popen", interrupted_start)
    with pytest.raises(KeyboardInterrupt), ending_orderly():
        suite("exec sleep 600").run(CASE, tmp_path)
    assert len(started) == 1 and state_of(str(started[0])) == "gone"


def state_of(pid: str) -> str:
    """Of a process, in the kernel's letter."""
    try:
        return (Path("/proc") / pid / "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"


def test_claims_are_found_out_on_the_filesystem_and_leave_nothing(work_directory: Path) -> None:
    for attempt in attempts():
        claims = probe(work_directory)
        assert claims.posix_fallocate and claims.time_step_seconds > 0
        assert list(work_directory.iterdir()) == []
        with attempt:
            assert claims.time_step_seconds < 0.1


def test_only_a_long_path_gets_a_short_name(tmp_path: Path) -> None:
    long = tmp_path / ("x" * 60)
    long.mkdir()
    with scratch_folder() as scratch:
        assert short_alias(Path("/mnt/x"), scratch) is None
        alias = short_alias(long, scratch)
        assert alias is not None
        assert alias.resolve() == long
        assert len(str(alias)) + 60 <= 107


def test_scratch_folders_of_killed_runs_are_removed_and_those_in_use_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left, foreign = tmp_path / "leadline-posix-left", tmp_path / "leadline-posix-results"
    for folder in (left, foreign):
        folder.mkdir()
    (left / MARKER).write_text('{"made_by": "leadline"}')
    with scratch_folder() as used:
        for folder in (left, used, foreign):
            os.utime(folder, (1, 1))
        with scratch_folder() as second:
            assert not left.exists()
            assert used.is_dir()
            assert second.is_dir()
    assert list(tmp_path.iterdir()) == [foreign]


@pytest.mark.root
def test_the_root_filesystem_is_never_mounted_read_only(disk: Path) -> None:
    assert why_not_remounted(Path("/"), asked_for=True).startswith(
        "the directory lies on the root filesystem"
    )


@pytest.mark.root
def test_a_filesystem_is_mounted_read_only_only_when_asked_for_and_seen_nowhere_else(
    mounted: Callable[..., Path], tmp_path: Path
) -> None:
    inside = mounted("tmpfs")
    assert "not asked for" in why_not_remounted(inside, asked_for=False)
    assert why_not_remounted(inside, asked_for=True) == ""
    other = tmp_path / "other"
    other.mkdir()
    subprocess.run(["mount", "--bind", inside, other], check=True)
    try:
        assert f"also mounted at {other}" in why_not_remounted(inside, asked_for=True)
    finally:
        subprocess.run(["umount", other], check=True)


@pytest.mark.root
def test_a_mount_that_a_killed_case_left_read_only_is_writable_again(mounted: Callable[..., Path]) -> None:
    inside = mounted("tmpfs")
    assert not restore_writing(inside)
    subprocess.run(["mount", "-o", "remount,ro", inside.parent], check=True)
    assert restore_writing(inside)
    (inside / "x").write_text("")
