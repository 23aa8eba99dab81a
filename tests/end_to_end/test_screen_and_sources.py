"""What a user sees while it runs, and the other two ways to say what to run: a fio job file and `quick`."""

import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from attempts import attempts

pytestmark = pytest.mark.fio
Leadline = Callable[..., subprocess.CompletedProcess[str]]
Stored = Callable[[Path], dict[int, list[object]]]
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def screen_of(argv: list[str], folder: Path) -> tuple[str, int]:
    """Everything that the command draws in a pseudo terminal of 120 x 40, and its exit code."""
    controller, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"}
    process = subprocess.Popen(
        argv, cwd=folder, stdin=terminal, stdout=terminal, stderr=terminal, env=environment
    )
    os.close(terminal)
    drawn, deadline = b"", time.monotonic() + 300
    while time.monotonic() < deadline:
        if select.select([controller], [], [], 0.1)[0]:
            try:
                drawn += os.read(controller, 65536)
            except OSError:  # the other end is closed: it has ended
                break
        elif process.poll() is not None:
            break
    os.close(controller)
    return ESCAPES.sub("", drawn.decode(errors="replace")), process.wait(timeout=60)


def test_a_terminal_shows_the_step_its_throughput_now_and_the_time_left(
    campaign: Path, work_directory: Path, tmp_path: Path, argv: Callable[..., list[str]]
) -> None:
    # fio tells nothing in its first two seconds.
    text = campaign.read_text().replace("200ms", "4s").replace("iodepth = [1, 2]", "iodepth = 2")
    campaign.write_text(text.replace('rw = ["randread", "randwrite"]', 'rw = "randread"'))
    for number, attempt in enumerate(attempts()):
        words = argv("run", campaign, "--directory", work_directory, "--output", tmp_path / f"r{number}")
        drawn, exit_code = screen_of(words, tmp_path)
        assert exit_code == 0, drawn
        assert "Traceback" not in drawn
        with attempt:
            shows_the_step_its_throughput_and_the_time_left(drawn)


def shows_the_step_its_throughput_and_the_time_left(drawn: str) -> None:
    assert re.search(r"step 1 of 2, about \d+\.\d s left", drawn)
    assert re.search(r"step 2 of 2, about \d+\.\d s left", drawn)
    now = r"randread 4k, iodepth 2, 1 job, libaio +[\d.]+ [KMG]iB/s, [\d.]+k? IOPS, about [\d.]+ [um]s \(by Little's law\)"
    assert re.search(now, drawn), "what runs, how fast it is now, and what latency follows from it"
    assert "Ctrl-C stops and keeps every finished step" in drawn


def test_output_that_is_no_terminal_gets_plain_lines(
    campaign: Path, work_directory: Path, tmp_path: Path, leadline: Leadline
) -> None:
    done = leadline("run", campaign, "--directory", work_directory, "--output", tmp_path / "r")
    assert "\x1b" not in done.stdout
    assert sum(line.startswith("[") for line in done.stdout.splitlines()) == 5


JOB_FILE = """
[global]
ioengine=psync
size=1m

[first write]
rw=write
bs=64k
end_fsync=1

[mixed sizes]
rw=randread
bs=4k,8k
runtime=1
time_based

[own.name]
filename=data.bin
rw=write
bs=4k-64k
numjobs=2
"""


def test_a_users_own_job_file_runs_as_it_is_each_section_a_step(
    work_directory: Path, tmp_path: Path, leadline: Leadline, stored: Stored
) -> None:
    (tmp_path / "job.fio").write_text(JOB_FILE)
    done = leadline("run", tmp_path / "job.fio", "--directory", work_directory, "--output", tmp_path / "r")
    assert done.returncode == 0, done.stderr
    steps = stored(tmp_path / "r")
    assert [step[0][0] for _, step in sorted(steps.items())] == ["finished"] * 3, done.stdout  # type: ignore[index]
    written = steps[0][1][0]  # type: ignore[index]
    assert written[1:3] == (16, 1 << 20), "64k blocks of 1 MiB"
    assert len(steps[2][1]) == 2, "both jobs are there"  # type: ignore[arg-type]
    assert (tmp_path / "r" / "job.fio").read_text() == JOB_FILE
    assert list(work_directory.iterdir()) == []
    assert (tmp_path / "r" / "report.html").exists()


def test_a_job_file_that_names_its_own_directory_leaves_nothing_of_fio_in_it(
    work_directory: Path, tmp_path: Path, leadline: Leadline
) -> None:
    (tmp_path / "job.fio").write_text(
        f"[global]\ndirectory={work_directory}\nrw=write\nsize=1m\n[seq]\nnumjobs=2\n[named]\nfilename=data.bin\n"
    )
    done = leadline("run", tmp_path / "job.fio", "--output", tmp_path / "r")
    assert done.returncode == 0, done.stderr
    assert list(work_directory.iterdir()) == []


def test_a_job_file_is_planned_without_touching_anything(
    work_directory: Path, tmp_path: Path, leadline: Leadline
) -> None:
    (tmp_path / "job.fio").write_text(f"[seq]\ndirectory={work_directory}\nrw=write\nsize=1m\nruntime=30\n")
    done = leadline("plan", tmp_path / "job.fio")
    assert done.returncode == 0, done.stderr
    assert "1 steps (1 cell)" in done.stdout
    assert list(work_directory.iterdir()) == []


@pytest.mark.slow
def test_quick_sounds_a_directory_in_the_half_minute_it_is_given(
    work_directory: Path, tmp_path: Path, leadline: Leadline, stored: Stored
) -> None:
    for number, attempt in enumerate(attempts(3)):
        run, begun = tmp_path / f"r{number}", time.monotonic()
        done = leadline("quick", work_directory, "--minutes", "0.5", "--output", run)
        took_seconds = time.monotonic() - begun
        assert done.returncode == 0, done.stderr
        steps = stored(run).values()
        measured_ns = sum(max(each[3] for each in step[1]) for step in steps)  # type: ignore[attr-defined]
        assert measured_ns > 10e9
        with attempt:
            assert measured_ns < 30e9, "windows and what comes between them share the half minute"
            assert took_seconds < 90, "30 on an idle machine; this one may be busy with other things"
    assert {step[0][0] for step in steps} == {"finished"}, done.stdout  # type: ignore[index]
    assert list(work_directory.iterdir()) == []
    assert (run / "report.html").exists()
