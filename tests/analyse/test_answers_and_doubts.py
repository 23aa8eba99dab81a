"""The sentences a reader meets first. The golden run pins them word by word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from leadline.analyse.analysis import analyse
from leadline.analyse.results import Answer, Results
from leadline.store.records import Direction, StepKind, StepRecord
from leadline.store.series import Series

from .samples import CLEAN, ENVIRONMENT, GIB, failed, histogram, manifest, measurement, record

DEPTHS = {1: 4_000, 4: 12_000, 16: 20_000, 64: 21_000, 256: 12_000}
"""IOPS of 64 KiB random reads by iodepth: saturates, then collapses."""


def counters(disk_busy: float) -> list[Series]:
    return [
        Series("disk.vda.utilisation_share", "share", [0, 1], [disk_busy, disk_busy]),
        Series("cpu.all.busy_share", "share", [0, 1], [0.3, 0.3]),
        Series("cpu.all.iowait_share", "share", [0, 1], [0.1, 0.1]),
    ]


def small_run(**known: Any) -> Results:
    """Five depths of random reads and one buffered write that was not flushed, with a ceiling and a stated limit."""
    reads = [
        record(
            measurement(iops=iops, concurrency=depth, shape=histogram(depth / iops * 1e9)),
            ordinal=10 + n,
            cell={**CLEAN, "iodepth": depth},
            counters=counters(0.97 if depth >= 16 else 0.6),
            series=[Series("read", "bytes/s", list(range(20)), [iops * 65_536.0] * 20)],
        )
        for n, (depth, iops) in enumerate(DEPTHS.items())
    ]
    write = record(
        measurement(iops=9_000, concurrency=1, direction=Direction.WRITE),
        ordinal=20,
        cell={**CLEAN, "rw": "write", "iodepth": 1, "direct": False},
        facts={"buffered_without_flush": True},
        series=[Series("write", "bytes/s", list(range(20)), [9_000 * 65_536.0] * 20)],
    )
    ceiling = record(measurement(iops=1_000_000), kind=StepKind.CEILING, ordinal=0)
    environment: Mapping[str, Any] = known.pop("environment", ENVIRONMENT)
    return analyse([ceiling, *reads, write], manifest(limits={"randread": 2 * GIB}, **known), environment)


def sentences(answers: tuple[Answer, ...]) -> list[str]:
    return [f"{answer.question} {answer.sentence}" for answer in answers]


def test_the_answers_of_a_small_run_are_these() -> None:
    assert sentences(small_run().answers) == [
        "How fast should it be? The stated limit for randread is 2.00 GiB/s, of which randread "
        "reached 64 %; one job of the generator alone makes 1.00M IOPS.",
        "How fast is it? At their best settings: write 562 MiB/s (9.00k IOPS; doubtful: incomplete) "
        "and randread 1.28 GiB/s (21.0k IOPS).",
        "How fast is it? randread, 64 KiB: queueing begins near iodepth 5, 90 % of the peak of 1.28 "
        "GiB/s is reached at iodepth 13.",
        "How fast is it? Throughput collapses on 1 of 1 curves; worst randread, 64 KiB, iodepth 256, "
        "1 job, io_uring, direct: 750 MiB/s at iodepth 256 is 43 % below the peak of 1.28 GiB/s at "
        "iodepth 64 (at most 15 %).",
        "Where does the difference go? write at its best (64 KiB, iodepth 1, 1 job, io_uring, "
        "buffered; doubtful: incomplete): nothing that was counted was used up, most the load generator "
        "(20 % used): the time goes into waiting, or into a limit that is not counted here. The engine "
        "used 0.200 of 4 cores.",
        "Where does the difference go? randread at its best (64 KiB, iodepth 64, 1 job, io_uring, "
        "direct): most likely bound by the disk (97 % used). The busiest disk had work 97 % of the time, "
        "the CPUs were busy 30 % of the time and waited for I/O 10 % and the engine used 0.200 of 4 cores. "
        "97 % of the time of the busiest disk: disk-bound; twice of it would give at most 2.06 x.",
        "Is it right? Not measured: this run did not verify its data (POSIX conformance: leadline posix; "
        "consistency between clients: leadline consistency).",
        "Best settings Most throughput, write: no point is valid; the best doubtful one is 562 MiB/s "
        "[562 MiB/s, 562 MiB/s] with 64 KiB, iodepth 1, 1 job, io_uring, buffered, doubtful: "
        "incomplete.",
        "Best settings Under a latency bound, write: no point is valid in both throughput and latency.",
        "Best settings Most throughput, randread: 1.28 GiB/s [1.28 GiB/s, 1.28 GiB/s] with 64 KiB, "
        "iodepth 64, 1 job, io_uring, direct, p99 3.74 ms.",
        "Best settings With p99 <= 1.00 ms, randread: 1.22 GiB/s [1.22 GiB/s, 1.22 GiB/s] with 64 "
        "KiB, iodepth 16, 1 job, io_uring, direct, p99 982 us.",
        "Best settings With p99 <= 10.0 ms, randread: 1.28 GiB/s [1.28 GiB/s, 1.28 GiB/s] with 64 "
        "KiB, iodepth 64, 1 job, io_uring, direct, p99 3.74 ms.",
    ]


def test_the_doubts_of_a_small_run_are_these() -> None:
    assert [f"{doubt.name} ({doubt.cells}): {doubt.sentence}" for doubt in small_run().doubts] == [
        "too few samples (1): Worst: write, 64 KiB, iodepth 1, 1 job, io_uring, "
        "buffered: 90,000 samples; p99.9 needs 100,000.",
        "collapsed (1): Worst: randread, 64 KiB, iodepth 256, 1 job, io_uring, direct: "
        "750 MiB/s at iodepth 256 is 43 % below the peak of 1.28 GiB/s at iodepth 64 (at most 15 %).",
        "incomplete (1): Worst: write, 64 KiB, iodepth 1, 1 job, io_uring, buffered: "
        "buffered writes were not flushed at the end (no end_fsync, no fsync_on_close): data may "
        "still lie in memory.",
        "unknown noise floor (6): How much this machine differs from itself was not measured: small "
        "differences may be noise.",
        "no repeats (6): They ran once: their intervals know nothing of what changes between runs.",
    ]


def test_only_valid_points_are_recommended() -> None:
    best = {
        answer.sentence: answer.cell for answer in small_run().answers if answer.question == "Best settings"
    }
    doubtful = [(sentence, cell) for sentence, cell in best.items() if cell and not cell.valid("bandwidth")]
    assert len(doubtful) == 1
    assert "no point is valid; the best doubtful one" in doubtful[0][0]


def test_every_question_is_answered_even_by_an_empty_run() -> None:
    found = analyse([], manifest(), {})
    assert {answer.question for answer in found.answers} == {
        "How fast should it be?",
        "How fast is it?",
        "Where does the difference go?",
        "Is it right?",
    }
    assert not any(answer.measured for answer in found.answers)
    assert found.doubts == ()


def test_the_latency_bound_falls_back_to_the_mean_and_says_so() -> None:
    few = record(measurement(iops=20_000, concurrency=8, shape=histogram(4e5, samples=500)))
    found = analyse([few], manifest(), ENVIRONMENT).answers
    assert any("mean <= 1.00 ms (no p99 of this test is valid)" in answer.sentence for answer in found)


def test_a_bound_that_no_point_meets_names_the_lowest() -> None:
    slow = record(measurement(iops=100, concurrency=8, shape=histogram(8e7)))
    found = analyse([slow], manifest(), ENVIRONMENT).answers
    assert any("p99 <= 10.0 ms" in answer.sentence and "the lowest is" in answer.sentence for answer in found)


@pytest.mark.parametrize(
    ("busy", "cpu", "words"),
    [
        (0.95, 0.2, "most likely bound by the disk (95 % used)"),
        (0.5, 0.9, "most likely bound by the load generator (90 % used)"),
        (0.7, 0.2, "nearest to its end is the disk (70 % used)"),
        (0.5, 0.2, "nothing that was counted was used up"),
    ],
)
def test_the_difference_is_put_down_to_what_was_used_up(busy: float, cpu: float, words: str) -> None:
    found = analyse(
        [record(measurement(), counters=counters(busy), cpu=cpu)], manifest(), ENVIRONMENT
    ).answers
    (answer,) = [answer for answer in found if answer.question == "Where does the difference go?"]
    assert words in answer.sentence


def test_reaching_the_stated_network_is_said_first() -> None:
    found = analyse(
        [record(measurement(), counters=counters(0.99))], manifest(limits={"network": 1.3 * GIB}), ENVIRONMENT
    )
    (answer,) = [answer for answer in found.answers if answer.question == "Where does the difference go?"]
    assert "most likely bound by the stated network (94 % used)" in answer.sentence


def doubts(
    *records: StepRecord, environment: Mapping[str, Any] = ENVIRONMENT, **known: Any
) -> dict[str, str]:
    return {doubt.name: doubt.sentence for doubt in analyse(records, manifest(**known), environment).doubts}


def test_failed_and_missing_cells_are_doubts() -> None:
    plan = tuple(
        {"kind": "cell", "experiment": "grid", "cell": {**CLEAN, "iodepth": depth}} for depth in (8, 16, 32)
    )
    found = doubts(record(measurement()), failed("fio hung", cell={**CLEAN, "iodepth": 16}), plan=plan)
    assert (
        found["failed"]
        == "1 step gave no figure. First: grid, 64 KiB, iodepth 16, 1 job, io_uring, direct: fio hung."
    )
    assert found["missing"] == "1 of 3 cells planned were not measured: the run was stopped."


@pytest.mark.parametrize(("last", "coarse"), [(115, True), (108, False)])
def test_a_noise_floor_above_10_percent_is_a_doubt(last: float, coarse: bool) -> None:
    noise = [
        record(measurement(iops=iops), kind=StepKind.NOISE, repeat=n)
        for n, iops in enumerate((100, 100, last))
    ]
    assert ("coarse noise floor" in doubts(*noise, record(measurement(), ordinal=9))) is coarse


def test_caches_that_could_not_be_dropped_are_a_doubt_with_the_reason() -> None:
    facts = {"caches": "drop not permitted", "caches_reason": "not root"}
    assert doubts(record(measurement(), facts=facts))["caches kept"] == (
        "Caches could not be dropped before 1 step: not root."
    )


def test_scaled_sizes_are_a_doubt_with_their_effects() -> None:
    found = doubts(record(measurement()), scale="1/16", scale_effects=("size 4 GiB became 256 MiB",))
    assert found["scaled"] == "Sizes were scaled by 1/16: size 4 GiB became 256 MiB."


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({"filesystem": {"type": "tmpfs", "is_memory": True}}, "in memory"),
        ({"filesystem": {"type": "fuse.juicefs", "is_fuse": True}}, "O_DIRECT on FUSE"),
        ({"filesystem": {"type": "overlay"}}, "overlay"),
        ({"processor": {"is_virtual": True}}, "virtual machine"),
    ],
)
def test_what_the_machine_cannot_show_is_a_doubt(environment: Mapping[str, Any], name: str) -> None:
    assert name in doubts(record(measurement()), environment=environment)


def test_a_repeated_cell_on_a_known_machine_leaves_no_doubt() -> None:
    noise = [
        record(measurement(iops=iops), kind=StepKind.NOISE, repeat=n) for n, iops in enumerate((100, 101))
    ]
    cells = [record(measurement(iops=20_000 + n), ordinal=5 + n, repeat=n) for n in range(2)]
    assert doubts(*noise, *cells) == {}
