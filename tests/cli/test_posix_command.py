"""`leadline posix` as a user meets it: mistakes in one sentence before anything is touched, and matrices of earlier runs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from leadline.store.conformance import Case, Conformance, Outcome, write_conformance

Call = Callable[..., subprocess.CompletedProcess[str]]


def kept(path: Path, label: str = "ext4", suite: str = "rust") -> Path:
    cases = (Case("rename::updates_link_parent", Outcome.FAILED, "left: 1"),)
    write_conformance(Conformance(suite, "pjdfstest", label, {}, cases), path)
    return path


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "tests one directory; name it"),
        (["a", "b"], "tests one directory; name it"),
        (["nowhere"], "there is no directory nowhere"),
        (["there", "--target", "ext4"], "brings its own directory"),
        (["--target", "ext5"], 'did you mean "ext4"?'),
        (["there", "--expect", "btfrs"], 'did you mean "btrfs"?'),
        (["there", "--case", "rename::updates_link_parents"], 'did you mean "rename::updates_link_parent"?'),
        (["there", "--case", "x", "--suite", "c"], "--case names cases of the Rust suite"),
        (["there", "--against", "nothing.json"], "nothing.json cannot be read"),
        (["there", "--against", "c.json"], "only runs of one suite can be compared"),
        (["--matrix"], "name the files that --json wrote"),
        (["--matrix", "file"], "file is no result of `leadline posix --json`"),
        (["file"], "file is not a directory"),
        (["there", "--case-timeout", "soon"], "soon"),
    ],
)
def test_a_mistake_is_one_sentence(leadline: Call, tmp_path: Path, words: list[str], sentence: str) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "file").write_text("x")
    kept(tmp_path / "c.json", suite="c")
    done = leadline("posix", *words)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert list((tmp_path / "there").iterdir()) == []


def test_without_cargo_the_sentence_says_where_a_finished_program_goes(
    leadline: Call, tmp_path: Path
) -> None:
    (tmp_path / "there").mkdir()
    done = leadline(
        "posix", "there", LEADLINE_CACHE=str(tmp_path / "cache"), CARGO_HOME=str(tmp_path), PATH="/nowhere"
    )
    assert done.returncode == 2
    assert "cargo cannot be found" in done.stderr
    assert f"{tmp_path}/cache/pjdfstest-0.2.2/bin/pjdfstest" in done.stderr
    assert list((tmp_path / "there").iterdir()) == []


def test_earlier_runs_become_a_matrix_and_a_page(leadline: Call, tmp_path: Path) -> None:
    kept(tmp_path / "a.json", "ext4")
    kept(tmp_path / "b.json", "btrfs")
    done = leadline("posix", "--matrix", "a.json", "b.json", "--html", "matrix.html")
    assert done.returncode == 0
    assert "| call | ext4 | btrfs | 3FS, C suite |" in done.stdout
    assert "btrfs" in (tmp_path / "matrix.html").read_text()
