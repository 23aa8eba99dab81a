"""Temporary folders of a leadline that was killed are removed by the next one, and no others."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import leadline.run.temporary
from leadline.run.temporary import remove_abandoned, temporary_folder

HELD = """
import os, time
from leadline.run.temporary import temporary_folder
with temporary_folder("test") as path:
    (path / "file").touch()
    os.utime(path, (0, 0))
    print(path, flush=True)
    time.sleep(60)
"""


def test_a_folder_is_gone_after_its_block() -> None:
    with temporary_folder("test") as path:
        assert path.stat().st_mode & 0o777 == 0o700
    assert not path.exists()


def test_a_folder_stays_as_long_as_its_process_lives_and_is_removed_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", HELD], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        path = Path(holder.stdout.readline().strip())
        remove_abandoned(tmp_path, "leadline-test-")
        assert (path / "file").exists()
        holder.kill()
    assert path.exists()
    remove_abandoned(tmp_path, "leadline-test-")
    assert not path.exists()


def test_a_young_folder_a_link_and_other_names_are_left_alone(tmp_path: Path) -> None:
    young, other = tmp_path / "leadline-test-young", tmp_path / "other"
    for path in (young, other):
        path.mkdir()
    os.utime(other, (0, 0))
    (tmp_path / "leadline-test-link").symlink_to(other)
    remove_abandoned(tmp_path, "leadline-test-")
    assert young.exists()
    assert other.exists()


def test_every_temporary_folder_of_a_run_is_one_that_the_next_run_removes() -> None:
    """Folders inside a run or a work directory go with it; those among the system's temporary files have nobody else."""
    run = Path(leadline.run.temporary.__file__).parent
    bare = re.compile(r"(TemporaryDirectory|mkdtemp)\((?![^)]*dir=)")
    found = [path.name for path in run.rglob("*.py") if bare.search(path.read_text(encoding="utf-8"))]
    assert found == ["temporary.py"]
