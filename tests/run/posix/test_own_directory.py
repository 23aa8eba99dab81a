"""The folder in which a suite works: leadline's alone, gone afterwards, and never taken from somebody else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from leadline.errors import UserError
from leadline.run.posix.own_directory import NAME, own_directory
from leadline.run.targets.work_directory import MARKER

HOLD = """
import sys, time
from pathlib import Path
from leadline.run.posix.own_directory import own_directory
with own_directory(Path(sys.argv[1]), print) as work:
    (work / "deep").mkdir(); (work / "deep" / "closed").mkdir(mode=0)
    print("ready", flush=True); time.sleep(60)
"""


def quiet(sentence: str) -> None:
    raise AssertionError(sentence)


def holder(path: Path) -> subprocess.Popen[str]:
    """Another leadline at work there."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_it_may_lie_beside_foreign_files_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with own_directory(tmp_path, quiet) as work:
        assert work.is_dir()
        assert work.stat().st_mode & 0o005  # others may enter
        (work / "x").write_text("")
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.txt"]


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path) -> None:
    process = holder(tmp_path)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert (tmp_path / NAME / "w" / "deep").is_dir()
    said: list[str] = []
    with own_directory(tmp_path, said.append) as work:
        assert list(work.iterdir()) == []
    assert "interrupted run" in said[0]
    assert list(tmp_path.iterdir()) == []


def test_two_do_not_work_in_one_place(tmp_path: Path) -> None:
    process = holder(tmp_path)
    try:
        with pytest.raises(UserError, match="another leadline is at work"), own_directory(tmp_path, quiet):
            pass
        assert (tmp_path / NAME / "w" / "deep").is_dir()
    finally:
        end(process)


def test_a_folder_of_another_host_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / MARKER).write_text(json.dumps({"made_by": "leadline", "process": 1, "host": "node7"}))
    with pytest.raises(UserError, match="on the host node7"), own_directory(tmp_path, quiet):
        pass
    assert (tmp_path / NAME / MARKER).exists()


def test_a_foreign_folder_by_its_name_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / "thesis.txt").write_text("mine")
    with pytest.raises(UserError, match="not marked as leadline's"), own_directory(tmp_path, quiet):
        pass
    assert (tmp_path / NAME / "thesis.txt").read_text() == "mine"


def test_a_link_by_its_name_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / NAME).symlink_to(elsewhere)
    with pytest.raises(UserError, match="not marked as leadline's"), own_directory(tmp_path, quiet):
        pass
    assert elsewhere.is_dir()


def test_it_is_removed_when_the_run_breaks_off(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), own_directory(tmp_path, quiet):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("nowhere", "there is no directory"), ("file", "is not a directory"), ("file/below", "Not a directory")],
)
def test_what_is_no_directory_is_refused(tmp_path: Path, name: str, sentence: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=sentence), own_directory(tmp_path / name, quiet):
        pass
