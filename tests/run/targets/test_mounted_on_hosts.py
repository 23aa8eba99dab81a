"""A directory that is not the same everywhere is found out before it is measured, and when it changes in mid-run."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from leadline.errors import UserError
from leadline.run.hosts.local import LocalHost
from leadline.run.targets import mounted_on_hosts
from leadline.run.targets.mounted_on_hosts import MountedOnHosts, Onlooker
from leadline.run.targets.work_directory import WorkDirectory


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mounted_on_hosts, "SEEN_WITHIN_SECONDS", 0.5)


def onlooker(name: str, directory: Path) -> Onlooker:
    return Onlooker(name, LocalHost().ask, directory)


def test_all_who_see_the_same_directory_are_content(work_directory: Path) -> None:
    target = MountedOnHosts(
        WorkDirectory(work_directory), [onlooker("a", work_directory), onlooker("b", work_directory)]
    )
    assert target.prepare() == work_directory.resolve()
    assert target.check() is None
    target.clean_up()
    assert not list(work_directory.iterdir())


def test_a_host_that_sees_another_directory_is_named_and_nothing_is_left(
    work_directory: Path, disk: Path
) -> None:
    other = disk / "other"
    other.mkdir(exist_ok=True)
    target = MountedOnHosts(
        WorkDirectory(work_directory), [onlooker("a", work_directory), onlooker("b", other)]
    )
    with pytest.raises(UserError, match="on b does not show the marker"):
        target.prepare()
    assert not list(work_directory.iterdir())


def test_a_host_without_the_directory_is_named(work_directory: Path) -> None:
    target = MountedOnHosts(WorkDirectory(work_directory), [onlooker("b", work_directory / "missing")])
    with pytest.raises(UserError, match="missing on b is not there"):
        target.prepare()


def test_a_filesystem_that_the_campaign_does_not_state_is_refused(work_directory: Path) -> None:
    target = MountedOnHosts(WorkDirectory(work_directory), [onlooker("b", work_directory)], "lustre")
    with pytest.raises(UserError, match=r'on b lies on .* where the campaign states filesystem = "lustre"'):
        target.prepare()


@pytest.mark.root
def test_a_mount_that_goes_on_one_host_in_mid_run_is_a_sentence_that_names_it(
    mounted: Callable[..., Path], tmp_path: Path
) -> None:
    """The other host's mount is a bind mount of the same directory, which is left while the run goes on."""
    here, there = mounted("tmpfs"), tmp_path / "there"
    (there / "inside").mkdir(parents=True)
    subprocess.run(["mount", "--bind", here.parent, there], check=True)
    try:
        target = MountedOnHosts(
            WorkDirectory(here), [onlooker("a", here), onlooker("b", there / "inside")], "tmpfs"
        )
        target.prepare()
        assert target.check() is None
    finally:
        subprocess.run(["umount", there], check=True)
    assert f"{there}/inside on b lies on" in str(target.check())
    target.clean_up()


@pytest.mark.root
def test_another_filesystem_with_a_copy_of_the_marker_is_found_out_by_its_device(
    mounted: Callable[..., Path],
) -> None:
    here, copy = mounted("tmpfs"), mounted("tmpfs")
    seen = [here]

    def ask(argv: Sequence[str], timeout_seconds: float) -> str:
        return LocalHost().ask([*argv[:4], str(seen[0]), *argv[5:]], timeout_seconds)

    target = MountedOnHosts(WorkDirectory(here), [Onlooker("b", ask, here)])
    target.prepare()
    shutil.copy(here / ".leadline", copy)
    seen[0] = copy
    assert "now lies on another filesystem" in str(target.check())
    target.clean_up()


def test_a_host_that_does_not_answer_is_a_sentence_and_all_are_asked_at_once(work_directory: Path) -> None:
    asked = threading.Barrier(2, timeout=60)
    silent = [False]

    def ask(argv: Sequence[str], timeout_seconds: float) -> str:
        asked.wait()
        if silent[0]:
            raise UserError("b did not answer within 10 s")
        return LocalHost().ask(argv, timeout_seconds)

    target = MountedOnHosts(
        WorkDirectory(work_directory),
        [Onlooker("a", ask, work_directory), Onlooker("b", ask, work_directory)],
    )
    target.prepare()
    silent[0] = True
    assert target.check() == "b did not answer within 10 s"
    target.clean_up()


def test_a_question_that_is_never_answered_ends_with_a_sentence() -> None:
    begun = time.monotonic()
    with pytest.raises(UserError, match=r"local did not answer within 0\.3 s"):
        LocalHost().ask(("sleep", "30"), 0.3)
    assert time.monotonic() - begun < 29, "not the 30 s that it sleeps"
