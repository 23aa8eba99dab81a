"""fio's NFS engine as it is built: from the distribution's own source, once, and one sentence for whatever is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cluster_parts import journal_has, killed_when
from lab_parts import eventually
from nfs_parts import Workshop, build, build_or_skip

from leadline.errors import UserError
from leadline.run.lab import fio_engine_build, lifecycle
from leadline.run.lab.go_programs import CACHE_VARIABLE
from leadline.run.lab.laboratory import Wishes
from leadline.run.lab.state import known_labs

Fork = Callable[[Callable[[], None]], int]
Look = Callable[[], Any]


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    build_or_skip()  # whether this machine can build it at all
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def command(name: str, lines: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a command of that name in front of the PATH."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{lines}\n")
    (folder / name).chmod(0o755)
    if str(folder) not in os.environ["PATH"]:
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_it_is_built_from_the_distributions_source_and_only_the_engine_stays(
    empty_cache: Path, traces: Look
) -> None:
    before, system = traces(), Path("/var/lib/apt/lists").stat().st_mtime_ns
    path = build()
    assert [each for each in empty_cache.glob("**/*") if each.is_file()] == [path]
    said = subprocess.run(
        ["fio", f"--enghelp={path}"], capture_output=True, text=True, timeout=20, check=False
    )
    assert "nfs_url" in said.stdout
    assert Path("/var/lib/apt/lists").stat().st_mtime_ns == system
    assert eventually(lambda: traces() == before)


def test_a_second_time_nothing_is_built(
    empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = build()
    made = path.stat().st_mtime_ns
    command("apt-get", "exit 1", tmp_path / "bin", monkeypatch)
    assert build() == path and path.stat().st_mtime_ns == made


def test_a_killed_build_leaves_nothing(empty_cache: Path, forked: Fork, traces: Look) -> None:
    before = traces()

    def forever() -> None:
        lifecycle.bring_up("workshop", Workshop(), Wishes(0), lambda line: None)

    killed_when(lambda: journal_has("workshop", '"name": "fetch-fio"'), forked, forever)
    lifecycle.tear_down("workshop")
    assert eventually(lambda: traces() == before)
    assert not any(each.is_file() for each in empty_cache.glob("**/*"))


def test_a_source_that_cannot_be_had_is_one_sentence(
    empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("apt-get", "echo E: no such source >&2; exit 100", tmp_path / "bin", monkeypatch)
    with pytest.raises(UserError, match=r"source of fio [\d.-]+ cannot be had .*: .*E: no such source"):
        build()
    assert known_labs() == []


def test_missing_headers_that_cannot_be_installed_are_named(
    empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("pkg-config", "exit 1", tmp_path / "bin", monkeypatch)
    command("apt-get", "exit 100", tmp_path / "bin", monkeypatch)
    with pytest.raises(UserError, match="apt-get update && apt-get install libnfs-dev"):
        build()


def test_a_system_without_apt_get_is_told_where_to_put_an_engine(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    which = shutil.which
    monkeypatch.setattr(
        fio_engine_build.shutil, "which", lambda name: None if name == "apt-get" else which(name)
    )
    with pytest.raises(
        UserError, match=f"no apt-get here; put an engine that fits fio .* at {empty_cache}/fio-nfs-"
    ):
        build()


def test_a_fio_that_is_not_the_packages_is_refused(
    empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("fio", "echo fio-9.99", tmp_path / "bin", monkeypatch)
    with pytest.raises(UserError, match=r"fio on PATH is 9.99 and the installed package is 3\.\d+"):
        build()


def test_a_source_that_the_patch_does_not_fit_is_not_built(empty_cache: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.patch"
    other.write_text("--- a/engines/nfs.c\n+++ b/engines/nfs.c\n@@ -1 +1 @@\n-nothing like this\n+is there\n")
    with pytest.raises(UserError, match=r"could not be built: .*FAILED"):
        build(other)
    assert not any(each.is_file() for each in empty_cache.glob("**/*"))
