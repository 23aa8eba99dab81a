"""`leadline mdtest`: mdtest's options on a real directory, mdtest's table, and mistakes in one sentence."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from leadline.cli.mdtest_command import command
from leadline.cli.mdtest_table import aligned, enough
from leadline.errors import UserError
from leadline.formats.mdtest import read_summary

Call = Callable[..., Result]


@pytest.fixture
def call(tmp_path: Path) -> Call:
    """Calls the command on an own directory."""
    data = tmp_path / "data"
    data.mkdir()

    def run(*words: str) -> Result:
        return CliRunner().invoke(command, ["-d", str(data), *words])

    return run


def sentence(result: Result) -> str:
    assert isinstance(result.exception, UserError), result.output
    return str(result.exception)


def test_the_familiar_table_comes_first_and_what_it_lacks_second(call: Call, tmp_path: Path) -> None:
    result = call("-z", "1", "-b", "2", "-I", "50", "-u", "-i", "2", "--np", "1,2")
    assert result.exception is None, result.output
    first, second = result.output.split("2 tasks, ")
    assert "1 tasks, 150 files/directories, full_path, calls" in first
    summary = read_summary(second)
    assert summary.iterations == 2 and len(summary.rows) == 10
    lines = second.splitlines()
    detail = next(line for line in lines if line.strip().startswith("file create "))
    assert detail.split()[2:4] == ["600", "0"]  # 2 ranks, 3 directories, 50 items, 2 iterations
    assert "too few" in detail and "+-" in detail
    assert list((tmp_path / "data").iterdir()) == []


def test_phases_are_chosen_as_with_mdtest(call: Call, tmp_path: Path) -> None:
    assert set(read_summary(call("-I", "5", "-F", "-C").output).rows) == {"tree create", "file create"}
    assert len(list((tmp_path / "data").rglob("file.mdtest.*"))) == 5
    assert set(read_summary(call("-I", "5", "-F", "-T", "-E").output).rows) == {"file stat", "file read"}
    assert set(read_summary(call("-I", "5", "-F", "-r").output).rows) == {"file remove", "tree remove"}
    assert list((tmp_path / "data").iterdir()) == []


def test_items_that_do_not_divide_are_said(call: Call) -> None:
    output = call("-z", "1", "-b", "2", "-n", "10", "-F").output
    assert "-n 10 is not a multiple of the directories: each task has 9 items" in output


def test_another_naming_or_driver_is_labelled(call: Call) -> None:
    output = call(
        "-I", "20", "-F", "--driver", "io_uring", "--iodepth", "4", "--naming", "directory_relative"
    ).output
    assert "20 files/directories, directory_relative, io_uring, depth 4" in output


def test_leftovers_are_refused_until_their_removal_is_asked_for(call: Call, tmp_path: Path) -> None:
    call("-I", "5", "-C")
    assert sentence(call("-I", "5")).endswith("remove it, or use --remove-leftovers")
    assert call("-I", "5", "--remove-leftovers").exception is None
    assert list((tmp_path / "data").iterdir()) == []


@pytest.mark.parametrize(
    ("words", "fragment"),
    [
        (["-I", "5", "--np", "two"], '--np is "two"'),
        (["-I", "5", "--np", "0"], '--np is "0"'),
        (["-I", "5", "-F", "-D"], "-F and -D exclude each other"),
        (["-I", "5", "-e", "4k"], "write as much as is read"),
        ([], "must say how many items"),
        (["-I", "5", "-d", "/no/such/place"], "/no/such/place is not a directory"),
        (["-I", "5", "--engine", "mdtest", "--driver", "io_uring"], "leadline's own"),
    ],
)
def test_mistakes_are_said_in_one_sentence(call: Call, words: list[str], fragment: str) -> None:
    said = sentence(call(*words))
    assert fragment in said and "\n" not in said


STAND_IN = """#!/bin/sh
echo "mdtest-4.1.0+dev was launched with ${TASKS:-1} total task(s) on 1 node(s)"
echo "Command line used: mdtest $*"
echo "SUMMARY rate (in ops/sec): (of 1 iterations)"
echo "   File creation  4.000  4.000  4.000  0.000"
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs that print what an mdtest and an mpiexec would; first on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in (("mdtest", STAND_IN), ("mpiexec", '#!/bin/sh\nshift 2\nexec "$@"\n')):
        (folder / name).write_text(text)
        (folder / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def test_an_installed_mdtest_gets_the_same_options(call: Call, stand_in: Path) -> None:
    output = call("-I", "5", "-u", "-F", "-C", "-b", "3", "--engine", "mdtest").output
    assert read_summary(output).rows["file create"].mean == 4.0
    line = next(line for line in output.splitlines() if line.startswith("Command line"))
    words = line.split()
    assert [words[words.index(option) + 1] for option in ("-I", "-b")] == ["5", "3"]
    assert {"-u", "-F", "-C"} <= set(words) and "-T" not in words


def test_a_launcher_that_starts_jobs_of_one_task_is_noticed(call: Call, stand_in: Path) -> None:
    assert "ran with 1 tasks instead of 2" in sentence(call("-I", "5", "--np", "2", "--engine", "mdtest"))


def test_a_missing_mdtest_is_named(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "mdtest is not on PATH" in sentence(call("-I", "5", "--engine", "mdtest"))


def test_a_percentile_needs_a_hundred_samples_beyond_it() -> None:
    assert [enough(samples, 99.0) for samples in (9_999, 10_000)] == [False, True]
    assert [enough(samples, 99.9) for samples in (99_999, 100_000)] == [False, True]


def test_columns_are_as_wide_as_what_stands_in_them() -> None:
    assert aligned([["a", "long head"], ["longer", "1"]]) == [
        "   a        long head",
        "   longer           1",
    ]
