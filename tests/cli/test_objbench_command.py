"""`leadline objbench` on directories: its tables, its own folder and nothing beside it, its end by any hand, and bad input."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from attempts import attempts
from leadline.errors import UserError
from leadline.run.executable import engine_executable
from leadline.run.object_folder import fate_of, marker

Leadline = Callable[..., subprocess.CompletedProcess[str]]
SMALL = (
    "--big-object-size",
    "256KiB",
    "--block-size",
    "64KiB",
    "--small-object-size",
    "4KiB",
    "--small-objects",
    "8",
    "--threads",
    "1,2",
)
NO_KEYS = {
    "AWS_ACCESS_KEY_ID": "",
    "AWS_SECRET_ACCESS_KEY": "",
    "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent/keys",
}


@pytest.fixture(autouse=True)
def engine() -> None:
    try:
        engine_executable()
    except UserError as error:
        pytest.skip(str(error))


def refused(leadline: Leadline, *arguments: object, **environment: str) -> str:
    """The one sentence."""
    done = leadline("objbench", *arguments, **environment)
    assert done.returncode == 2, done.stdout + done.stderr
    (sentence,) = done.stderr.strip().splitlines()
    return sentence


def test_a_directory_is_tried_out_and_measured_and_left_as_it_was(
    leadline: Leadline, work_directory: Path, tmp_path: Path
) -> None:
    (work_directory / "thesis.tex").write_text("years")
    kept = tmp_path / "objbench.json"
    done = leadline("objbench", work_directory, *SMALL, "--repeats", "2", "--json", kept)
    assert done.returncode == int(os.geteuid() != 0), done.stderr  # only root changes owners
    assert "What it can do" in done.stdout and "multipart upload" in done.stdout
    assert [path.name for path in work_directory.iterdir()] == ["thesis.tex"]
    document = json.loads(kept.read_text())
    assert len(document["checks"]) == 16
    cells = {
        (cell["request"], cell["object_size_bytes"], cell["concurrency"]): cell for cell in document["cells"]
    }
    assert len(cells) == 5 * 2 * 2
    put = cells["put", 4096, 2]
    assert (put["requests"], put["repeats"], put["failed"]) == (16, 2, {})
    assert put["metrics"]["p99"]["n"] == 16 and not put["metrics"]["p99"]["valid"]
    assert "too few samples" in {verdict["name"] for verdict in put["verdicts"]}


def test_gets_of_files_out_of_this_machines_memory_are_called_cached(
    leadline: Leadline, work_directory: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "objbench.json"
    leadline("objbench", work_directory, *SMALL, "--repeats", "1", "--skip-checks", "--json", kept)
    cells = json.loads(kept.read_text())["cells"]
    cached = {
        cell["request"] for cell in cells if "cached" in {verdict["name"] for verdict in cell["verdicts"]}
    }
    assert cached == {"get"}


def test_a_window_of_fixed_time_is_kept(leadline: Leadline, work_directory: Path, tmp_path: Path) -> None:
    kept = tmp_path / "objbench.json"
    options = ("--time", "0.2s", "--repeats", "1", "--skip-checks", "--json", kept)
    for attempt in attempts():
        assert leadline("objbench", work_directory, *SMALL, *options).returncode == 0
        heads = [cell for cell in json.loads(kept.read_text())["cells"] if cell["request"] == "head"]
        with attempt:
            assert heads and all(cell["requests"] > 8 for cell in heads)


def test_keep_leaves_the_folder_and_later_runs_leave_it_too(leadline: Leadline, work_directory: Path) -> None:
    fast = (*SMALL[:-1], "1", "--repeats", "1", "--skip-checks")
    assert "stays in" in leadline("objbench", work_directory, *fast, "--keep").stderr
    (folder,) = work_directory.iterdir()
    assert leadline("objbench", work_directory, *fast).returncode == 0
    assert list(work_directory.iterdir()) == [folder]


def started(argv: Callable[..., list[str]], directory: Path) -> tuple[subprocess.Popen[str], Path]:
    """A long run, in the midst of its load."""
    long = (
        "--time",
        "60s",
        "--threads",
        "2",
        "--small-objects",
        "50",
        "--skip-checks",
        "--big-object-size",
        "8MiB",
    )
    process = subprocess.Popen(
        argv("objbench", directory, *long), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    until = time.monotonic() + 60
    while not (found := list(directory.glob("leadline-objbench-*/load/*"))):
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.02)
    return process, found[0].parents[1]


def test_what_a_killed_run_left_is_removed_by_the_next_and_nothing_else(
    leadline: Leadline, argv: Callable[..., list[str]], work_directory: Path
) -> None:
    process, folder = started(argv, work_directory)
    engines = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate()
    assert engines and psutil.wait_procs(engines, 60)[1] == []
    (folder / "thesis.tex").write_text("years")
    foreign = work_directory / "leadline-objbench-mine"
    foreign.mkdir()
    (foreign / "data").write_text("x")
    done = leadline("objbench", work_directory, *SMALL[:-1], "1", "--repeats", "1", "--skip-checks")
    assert done.returncode == 0 and "left by a run that was killed" in done.stderr
    assert "1 objects that leadline did not make" in done.stderr
    left = {str(path.relative_to(work_directory)) for path in work_directory.rglob("*") if path.is_file()}
    assert left == {f"{folder.name}/thesis.tex", "leadline-objbench-mine/data"}


def test_ctrl_c_ends_it_and_leaves_nothing(argv: Callable[..., list[str]], work_directory: Path) -> None:
    process, _ = started(argv, work_directory)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert list(work_directory.iterdir()) == []


def test_a_run_that_is_under_way_is_left_alone_by_another(
    leadline: Leadline, argv: Callable[..., list[str]], work_directory: Path
) -> None:
    process, folder = started(argv, work_directory)
    done = leadline("objbench", work_directory, *SMALL[:-1], "1", "--repeats", "1", "--skip-checks")
    assert done.returncode == 0 and list(work_directory.iterdir()) == [folder]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)


def test_whose_a_folder_is_says_its_marker() -> None:
    own = json.loads(marker(keep=False))
    assert fate_of(json.dumps(own)) == "alive"
    assert fate_of(json.dumps({**own, "process": "1:1:00000000"})) == "dead"
    assert fate_of(json.dumps({**own, "process": "1:1:00000000", "keep": True})) == "kept"
    assert fate_of(json.dumps({**own, "host": "elsewhere"})) == "unknown"
    for odd in (None, "", "[]", "null", "7", '{"format": 1}'):
        assert fate_of(odd) == "unknown"


def test_what_cannot_be_meant_is_refused_in_one_sentence(leadline: Leadline, tmp_path: Path) -> None:
    assert "is not a directory; make it first" in refused(leadline, tmp_path / "missing")
    assert not (tmp_path / "missing").exists()
    assert 'did you mean "azblob"' in refused(leadline, "azblb://box")
    assert "there are no keys for S3" in refused(leadline, "s3://box", **NO_KEYS)
    assert 'there is no option "rooot"; did you mean "root"' in refused(
        leadline, tmp_path, "--option", "rooot=/"
    )
    assert "numbers from 1 to 4096" in refused(leadline, tmp_path, "--threads", "1,many")
    assert "is above --big-object-size" in refused(leadline, tmp_path, "--block-size", "2GiB")


def test_an_endpoint_that_refuses_is_told_without_the_keys(leadline: Leadline) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]  # bound and not listening: connections are refused
        keys = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "hushhush"}
        sentence = refused(leadline, f"http://127.0.0.1:{port}/box", **keys)
    assert "nothing listens at that endpoint" in sentence and f"127.0.0.1:{port}" in sentence
    assert "hushhush" not in sentence and "AKIDEXAMPLE" not in sentence


@pytest.mark.root
def test_a_disk_without_room_is_told_before_anything_is_written(
    leadline: Leadline, mounted: Callable[..., Path]
) -> None:
    small = mounted("tmpfs", "size=8m")
    assert "make room or lower --big-object-size" in refused(leadline, small, *SMALL)
    assert list(small.iterdir()) == []
