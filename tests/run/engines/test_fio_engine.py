"""The fio engine: which command line a step becomes, and when its output must not count."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leadline.errors import UserError
from leadline.plan.drafts import layout_step
from leadline.plan.steps import Layout, Step
from leadline.run.engines.fio import RESERVED_OPTIONS, FioEngine
from leadline.run.engines.job_file import JobFileEngine
from leadline.run.hosts.local import LocalHost
from leadline.run.seams import Completed, Invocation, Outcome, Place

ENGINE = FioEngine()
DATA, SCRATCH = Path("/data/leadline-files"), Path("/runs/scratch")


@pytest.fixture(autouse=True)
def any_fio(fake_fio: Callable[[str], Path]) -> None:
    """Command lines and cross-checks do not need a real one; tests that start it install their own lines before."""
    fake_fio("exit 0")


def options_of(step: Step) -> list[str]:
    """Without the path of fio and what every command line has."""
    argv = ENGINE.prepare(step, Place(DATA), SCRATCH).argv
    assert argv[0].endswith("/fio")
    return list(argv[1:])


def test_a_cells_command_line_says_everything_(
    step: Callable[..., Step],
) -> None:
    cell = {"ioengine": "libaio", "direct": True, "iodepth": 16, "numjobs": 4, "ramp": 0.5, "runtime": 1.5}
    assert options_of(step(cell=cell, seed=7)) == [
        "--name=leadline", f"--directory={DATA}", "--filename_format=$jobnum.$filenum", "--rw=randread", "--bs=4096", "--iodepth=16",
        "--numjobs=4", "--ioengine=libaio", "--direct=1", "--size=65536", "--nrfiles=1", "--ramp_time=500000us", "--runtime=1500000us",
        "--time_based=1", "--randseed=7", "--lat_percentiles=1", "--clat_percentiles=0", "--output-format=json+",
        f"--write_bw_log={SCRATCH}/throughput", "--log_avg_msec=38", "--eta=always", "--eta-interval=500ms", f"--output={SCRATCH}/fio.json",
    ]  # fmt: skip


def test_the_command_for_a_person_is_the_same_load_without_folders_that_are_gone_after_the_step(
    step: Callable[..., Step],
) -> None:
    invocation = ENGINE.prepare(step(), Place(DATA), SCRATCH)
    assert not any(str(SCRATCH) in part or str(DATA) in part for part in invocation.by_hand)
    assert f"--directory={DATA.parent}" in invocation.by_hand
    assert set(invocation.by_hand[3:]) < set(invocation.argv)


def test_a_layouts_command_line_writes_real_flushed_bytes() -> None:
    options = options_of(layout_step(Layout("files-2x1m", 3, 2, 1 << 20), "e"))
    for option in ("--rw=write", "--bs=1048576", "--numjobs=3", "--filesize=1048576", "--nrfiles=2", "--end_fsync=1", "--fallocate=none",
                   "--openfiles=1", "--direct=0", "--size=2097152"):  # fmt: skip
        assert option in options
    assert not any(option.startswith(("--runtime", "--time_based")) for option in options)


def test_one_file_shared_by_all_jobs_is_named_and_not_numbered(step: Callable[..., Step]) -> None:
    options = options_of(step(cell={"fio.filename": "randread.bin"}))
    assert "--filename=randread.bin" in options
    assert not any(option.startswith("--filename_format") for option in options)


def test_further_options_are_passed_on_as_they_are(step: Callable[..., Step]) -> None:
    options = options_of(
        step(cell={"fio.rwmixread": 70, "fio.norandommap": True, "fio.buffer_pattern": "0xdead"})
    )
    assert {"--rwmixread=70", "--norandommap=1", "--buffer_pattern=0xdead"} <= set(options)


def test_a_hot_cell_reads_its_files_into_memory_first(step: Callable[..., Step]) -> None:
    hot, cold = options_of(step(cache="hot")), options_of(step(cache="cold"))
    assert {"--pre_read=1", "--invalidate=0"} <= set(hot)
    assert not {"--pre_read=1", "--invalidate=0"} & set(cold)


def test_a_section_of_a_job_file_runs_by_its_own_words(step: Callable[..., Step]) -> None:
    argv = JobFileEngine().prepare(step(section="fast", engine="job file"), Place(DATA), SCRATCH).argv
    assert argv[-2:] == ("--section=fast", f"{SCRATCH}/job.fio")
    assert not any(option.startswith(("--rw", "--bs", "--directory", "--name")) for option in argv)


def test_the_user_is_told_when_an_option_is_leadlines_own(step: Callable[..., Step]) -> None:
    for option in RESERVED_OPTIONS:
        with pytest.raises(UserError, match=option):
            ENGINE.check([step(cell={f"fio.{option}": 1})])


def result(*jobs: dict[str, Any]) -> str:
    return json.dumps({"fio version": "fio-3.33", "jobs": list(jobs)})


def job(
    number_of_bytes: int = 65536, operations: int = 16, error: int = 0, completed: int | None = None
) -> dict[str, Any]:
    back = operations if completed is None else completed
    latency = {
        "min": 900,
        "max": 1100,
        "mean": 1000.0,
        "stddev": 10.0,
        "N": back,
        "bins": {"1000": back},
    }
    read = {
        "io_bytes": number_of_bytes, "total_ios": operations, "runtime": 10,
        "slat_ns": {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0},
        "clat_ns": latency, "lat_ns": latency,
    }  # fmt: skip
    return {
        "jobname": "leadline",
        "groupid": 0,
        "error": error,
        "read": read,
        "usr_cpu": 1.0,
        "sys_cpu": 2.0,
        "ctx": 3,
        "job_runtime": 10,
    }


@pytest.fixture
def collected(tmp_path: Path, step: Callable[..., Step]) -> Callable[..., Outcome]:
    """What the engine makes of a result file."""

    def collect(text: str | None, stderr: str = "", exit_code: int | None = 0, **settings: Any) -> Outcome:
        asked = step(**settings)
        if text is not None:
            (tmp_path / "fio.json").write_text(text)
        invocation = Invocation(("fio",), tmp_path, tmp_path, 10.0)
        return ENGINE.collect(asked, invocation, Completed(exit_code, "", stderr, 10_000_000))

    return collect


def test_a_whole_result_counts(collected: Callable[..., Outcome]) -> None:
    outcome = collected(result(job()), expected_bytes=65536)
    assert outcome.reason is None
    (measured,) = outcome.measurements
    assert (measured.size_bytes, measured.operations, measured.runtime_ns) == (65536, 16, 10_000_000)
    assert measured.latency.histogram is not None
    assert measured.latency.histogram.total == 16


@pytest.mark.parametrize(
    ("text", "stderr", "exit_code", "settings", "words"),
    [
        (result(), "fio: no such section", 0, {}, "ran no job: fio: no such section"),
        (result(job(0, 0)), "", 0, {}, "total_ios = 0"),
        (result(job(61440, 15)), "", 0, {"expected_bytes": 65536}, "moved 61440 of 65536 bytes"),
        (result(job(error=28)), "fio: No space left on device", 1, {}, "job 0 ended with error 28: fio: No space left on device"),
        (result(job(error=-5)), "", 0, {}, "error 5"),
        (result(job()), "fio: something", 1, {}, "exit code 1: fio: something"),
        (result(job()), "", None, {}, "exit code None"),
        (result(job()), "", 0, {"cell": {"numjobs": 2}}, "reported 1 of 2 jobs"),
        (result(job()), "", 0, {"cell": {"numjobs": 2}, "expected_bytes": 131072}, "1 of 2 jobs"),
        (None, "fio: engine nfs not loadable", 1, {}, "no result: fio: engine nfs not loadable"),
        ("", "", 0, {}, "no result"),
        (result(job())[:200], "", 0, {}, "no result"),
        ("Killed", "", 137, {}, "no result: Killed"),
        (result(job(), job(0, 0)), "Failed to open b", 0, {"cell": {"numjobs": 2}}, "job 1 did no I/O while others did: Failed to open b"),
        (result(job(completed=10)), "", 0, {}, "6 of fio's I/Os never completed: I/O was lost"),
        (result(job()), "Failed NFS operation(code:-14): (null)\nclean", 0, {}, "counted on: Failed NFS operation(code:-14)"),
        (result(job()), "Got NFS EOF, this is probably not expected", 0, {}, "counted on: Got NFS EOF"),
        ("[1, 2]", "", 0, {}, "no result"),
    ],
)  # fmt: skip
def test_an_output_that_does_not_add_up_fails_whatever_the_exit_code(
    text: str | None, stderr: str, exit_code: int | None, settings: dict[str, Any], words: str, collected: Callable[..., Outcome]
) -> None:  # fmt: skip
    outcome = collected(text, stderr, exit_code, **settings)
    assert outcome.reason is not None
    assert words in outcome.reason
    assert "\n" not in outcome.reason


def test_a_last_block_that_does_not_fit_is_not_lost_io(collected: Callable[..., Outcome]) -> None:
    assert collected(result(job(61440, 15)), expected_bytes=65535).reason is None
    assert collected(result(job(61440, 15)), expected_bytes=65536).reason is not None


def test_more_completions_than_were_issued_since_the_ramp_are_no_lost_io(
    collected: Callable[..., Outcome],
) -> None:
    assert collected(result(job(completed=31))).reason is None


def test_a_users_own_job_file_may_have_a_job_without_io(tmp_path: Path, step: Callable[..., Step]) -> None:
    (tmp_path / "fio.json").write_text(result(job(), job(0, 0)))
    invocation = Invocation(("fio",), tmp_path, tmp_path, 10.0)
    outcome = JobFileEngine().collect(step(section="s"), invocation, Completed(0, "", "", 10_000_000))
    assert outcome.reason is None


def test_what_pollutes_the_json_is_kept_as_warnings(collected: Callable[..., Outcome]) -> None:
    outcome = collected(
        "fio: file /dev/full write error\n" + result(job()), stderr="fio: clock may be unstable\n"
    )
    assert outcome.reason is None
    assert "fio: file /dev/full write error" in outcome.warnings
    assert "fio: clock may be unstable" in outcome.warnings


def test_the_output_is_kept_as_it_was_even_when_it_is_no_result(collected: Callable[..., Outcome]) -> None:
    outcome = collected("garbage \x00", stderr="said")
    assert outcome.raw == {"fio.json": b"garbage \x00", "fio.stderr": b"said"}


@pytest.mark.parametrize(
    ("cell", "buffered"),
    [
        ({"rw": "write"}, True), ({"rw": "randwrite"}, True), ({"rw": "randrw"}, True), ({"rw": "randread"}, False),
        ({"rw": "write", "direct": True}, False), ({"rw": "write", "end_fsync": True}, False), ({"rw": "write", "fio.fdatasync": 1}, False),
        ({"rw": "write", "fsync_on_close": True}, False), ({"rw": "write", "ioengine": "nfs", "direct": True}, True),
        ({"rw": "write", "ioengine": "nfs", "end_fsync": True}, False),
    ],
)  # fmt: skip
def test_a_buffered_write_that_nobody_flushes_is_recorded_as_such(
    cell: dict[str, Any], buffered: bool, collected: Callable[..., Outcome]
) -> None:
    assert collected(result(job()), cell=cell).facts["buffered_without_flush"] is buffered


def test_a_fio_whose_child_called_setsid_is_killed_with_it_when_it_hangs(
    tmp_path: Path, step: Callable[..., Step], fake_fio: Callable[[str], Path]
) -> None:
    (tmp_path / "bin" / "fio").unlink()
    (tmp_path / "bin").rmdir()
    fake_fio(f"setsid sh -c 'echo $$ > {tmp_path}/child; exec sleep 300' &\nsleep 300")
    for seconds in (1.0, 10.0, 60.0):  # until it has come to hang before its time was up
        invocation = ENGINE.prepare(step(timeout_seconds=seconds), Place(tmp_path), tmp_path)
        completed = LocalHost().run(invocation, lambda pid: None, lambda line: None)
        assert completed.timed_out
        assert 0.9e9 < completed.wall_ns < 200e9, "not the 300 s that it sleeps"
        if (tmp_path / "child").exists() and (tmp_path / "child").stat().st_size:
            break
    child = int((tmp_path / "child").read_text())
    assert not Path(f"/proc/{child}").exists(), "the child in a session of its own is gone too"
