"""Cells of metadata: phases run one after the other, throughput is operations, and ways are never mixed."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from leadline.analyse.analysis import analyse
from leadline.analyse.results import CellResult, Results, VerdictName
from leadline.store.records import Direction, StepKind, StepRecord
from leadline.store.series import Series

from .metadata_samples import Phase, metadata_record, on_fuse
from .samples import ENVIRONMENT, SECOND_NS, manifest, measurement, record

CREATE, STAT, READ, REMOVE = (
    Direction.FILE_CREATE,
    Direction.FILE_STAT,
    Direction.FILE_READ,
    Direction.FILE_REMOVE,
)


def results_of(*records: StepRecord) -> Results:
    return analyse(records, manifest(), ENVIRONMENT)


def cell_of(results: Results, direction: Direction) -> CellResult:
    return next(cell for cell in results.cells if cell.direction is direction)


def sentences(results: Results, question: str) -> list[str]:
    return [answer.sentence for answer in results.answers if answer.question == question]


def scaled(rates: Sequence[float], axis: str = "numjobs", **cell: Any) -> Results:
    """Creates and stats, one cell a doubling of the axis; stats are ten times as fast."""
    records = [
        metadata_record(
            Phase(CREATE, rate, [5] * (2**at if axis == "numjobs" else 1)),
            Phase(STAT, 10 * rate, [5] * (2**at if axis == "numjobs" else 1)),
            ordinal=at,
            cell={"numjobs": 1, **cell, axis: 2**at},
        )
        for at, rate in enumerate(rates)
    ]
    return results_of(*records)


def test_each_operation_is_a_cell_of_its_own_in_the_order_of_the_phases() -> None:
    record = metadata_record(Phase(CREATE, 2_000), Phase(STAT, 50_000), Phase(REMOVE, 3_000))
    cells = results_of(record).cells
    assert [cell.test for cell in cells] == [
        "file create, full path",
        "file stat, full path",
        "file remove, full path",
    ]
    assert [cell.metrics["iops"].value for cell in cells] == pytest.approx([2_000, 50_000, 3_000])
    assert all("bandwidth" not in cell.metrics and cell.throughput_metric == "iops" for cell in cells)


def test_the_rate_is_that_of_the_slowest_rank() -> None:
    cell = cell_of(results_of(metadata_record(Phase(STAT, 10_000, seconds=(5, 10)))), STAT)
    assert cell.metrics["iops"].value == pytest.approx(10_000)
    assert cell.phase is not None
    assert cell.phase.last_done_per_second == pytest.approx(10_000)
    # 50,000 by the first rank in 5 s, and half of the other's 50,000 meanwhile
    assert cell.phase.first_done_per_second == pytest.approx(15_000)


def test_operations_until_the_first_was_done_are_taken_as_they_were_counted() -> None:
    made = metadata_record(Phase(STAT, 10_000, seconds=(5, 10)))
    made.facts["phases"][0]["first_done_operations"] = 90_000
    phase = cell_of(results_of(made), STAT).phase
    assert phase is not None and phase.first_done_per_second == pytest.approx(18_000)


def test_concurrency_is_kept_in_each_phase_whatever_the_others_did() -> None:
    record = metadata_record(
        Phase(CREATE, seconds=(1, 1)), Phase(STAT, seconds=(9, 9)), cell={"iodepth": 8, "driver": "io_uring"}
    )
    for cell in results_of(record).cells:
        assert cell.concurrency == 16
        assert cell.effective_concurrency == pytest.approx(16, rel=0.01)


@pytest.mark.parametrize(
    ("naming", "driver", "way"),
    [
        ("full_path", "calls", "full path"),
        ("directory_relative", "calls", "directory-relative"),
        ("full_path", "io_uring", "full path, io_uring"),
    ],
)
def test_the_way_is_part_of_the_test_and_trees_have_their_own(naming: str, driver: str, way: str) -> None:
    record = metadata_record(
        Phase(Direction.TREE_CREATE), Phase(CREATE), cell={"naming": naming, "driver": driver}
    )
    file, tree = results_of(record).cells
    assert tree.test == "tree create, full path"
    assert file.test == f"file create, {way}"
    assert file.phase is not None and file.phase.way == way


def test_ways_share_no_line_no_best_point_and_no_sentence() -> None:
    cells = [
        metadata_record(Phase(CREATE, rate, [5] * jobs), ordinal=at, cell={"numjobs": jobs, "naming": naming})
        for at, (naming, jobs, rate) in enumerate(
            [
                ("full_path", 1, 1_000),
                ("full_path", 2, 1_900),
                ("directory_relative", 1, 3_000),
                ("directory_relative", 2, 5_000),
            ]
        )
    ]
    results = results_of(*cells)
    assert [{cell.cell["naming"] for cell in curve.cells} for curve in results.curves] == [
        {"full_path"},
        {"directory_relative"},
    ]
    said = sentences(results, "How fast is it?")
    assert "Metadata, full path, at the best load: file create 1.90k ops/s." in said
    assert "Metadata, directory-relative, at the best load: file create 5.00k ops/s." in said


def test_curves_over_processes_and_depth_have_knees_in_operations() -> None:
    by_depth = scaled([1_000, 1_900, 2_900, 3_000, 3_050], axis="iodepth", driver="io_uring")
    (curve,) = [curve for curve in by_depth.curves if curve.cells[0].direction is STAT]
    assert curve.axis == "iodepth" and curve.throughput_metric == "iops"
    assert curve.saturation is not None
    assert curve.saturation.peak == pytest.approx(30_000)
    assert 2 < (curve.saturation.knee_load or 0) < 4


def test_trees_take_no_part_in_a_depth() -> None:
    """They are made one call at a time, whatever was asked for."""
    records = [
        metadata_record(
            Phase(Direction.TREE_CREATE, mean_ns=2e5),
            ordinal=at,
            cell={"iodepth": 4**at, "driver": "io_uring"},
        )
        for at in range(3)
    ]
    results = results_of(*records)
    assert results.curves == ()
    assert [cell.concurrency for cell in results.cells] == [2, 2, 2]
    assert not any(cell.verdicts for cell in results.cells)


def test_a_collapse_is_told_in_operations() -> None:
    results = scaled([1_000, 1_900, 1_950, 1_000])
    last = [cell for cell in results.cells if cell.direction is STAT][-1]
    (evidence,) = [one.evidence for one in last.verdicts if one.name is VerdictName.COLLAPSED]
    assert "10.0k ops/s at 8 jobs is 49 % below the peak of 19.5k ops/s" in evidence


def test_scaling_is_one_sentence() -> None:
    said = sentences(scaled([1_000, 1_900, 3_000]), "How fast is it?")
    assert "Metadata, full path, from 1 rank to 4 ranks: file create × 3.00 and file stat × 3.00." in said


def test_targets_are_ranked_by_operations() -> None:
    records = [
        metadata_record(Phase(CREATE, rate), ordinal=at, cell={"target": name})
        for at, (name, rate) in enumerate({"nfs": 4_000, "ext4": 90_000}.items())
    ]
    (ranking,) = results_of(*records).rankings
    assert [standing.target for standing in ranking.standings] == ["ext4", "nfs"]
    ratio = ranking.standings[1].ratio
    assert ratio is not None and ratio.value == pytest.approx(4 / 90)


def test_data_keeps_bandwidth_as_its_throughput_beside_metadata() -> None:
    results = results_of(record(measurement(), experiment="data"), metadata_record(Phase(CREATE), ordinal=1))
    assert [cell.throughput_metric for cell in results.cells] == ["bandwidth", "iops"]
    said = sentences(results, "How fast is it?")
    assert said[0].startswith("At their best settings: randread 1.22 GiB/s")
    assert "file create" not in said[0]


def test_the_kernels_work_in_the_calls_binds_a_local_filesystem() -> None:
    results = results_of(metadata_record(Phase(CREATE), Phase(STAT), user=0.03, system=0.46))
    cell = cell_of(results, CREATE)
    assert cell.resources["engine_cpu_cores"] == pytest.approx(0.06)
    assert cell.resources["kernel_cpu_cores"] == pytest.approx(0.92)
    waiting = sentences(results, "Where does the difference go?")
    assert waiting == [
        "What binds metadata, full path: waiting for answers, with nothing that was counted used up "
        "(file create 200 us each and file stat 200 us each)."
    ]
    busy = results_of(metadata_record(Phase(CREATE), user=0.03, system=0.95))
    assert sentences(busy, "Where does the difference go?") == [
        "What binds metadata, full path: the kernel's own work in the calls (file create 95 %)."
    ]


def test_processor_time_of_the_phase_itself_goes_before_that_of_the_step() -> None:
    made = metadata_record(Phase(CREATE), Phase(STAT), system=0.2)
    made.facts["phases"][1] |= {"user_ns": SECOND_NS, "system_ns": 15 * SECOND_NS}
    results = results_of(made)
    assert cell_of(results, CREATE).resources["kernel_cpu_cores"] == pytest.approx(0.4)
    assert cell_of(results, STAT).resources["kernel_cpu_cores"] == pytest.approx(1.5)
    assert cell_of(results, STAT).resources["engine_cpu_cores"] == pytest.approx(0.1)


def test_counters_beside_a_phase_are_those_of_its_own_time() -> None:
    """10 s of creates with an idle disk, 10 s of stats with a busy one; a sample stands for the second before it."""
    busy = Series(
        "disk.vda.utilisation_share",
        "share",
        [SECOND_NS * (at + 1) for at in range(20)],
        [0.1] * 10 + [0.9] * 10,
    )
    results = results_of(metadata_record(Phase(CREATE), Phase(STAT), counters=[busy]))
    assert cell_of(results, CREATE).resources["disk_utilisation"] == pytest.approx(0.1)
    assert cell_of(results, STAT).resources["disk_utilisation"] == pytest.approx(0.9)


def test_a_phase_too_short_for_samples_has_those_of_the_step() -> None:
    busy = Series(
        "disk.vda.utilisation_share", "share", [SECOND_NS * (at + 1) for at in range(10)], [0.1] * 9 + [0.9]
    )
    results = results_of(
        metadata_record(Phase(CREATE, seconds=(9, 9)), Phase(STAT, seconds=(1, 1)), counters=[busy])
    )
    assert cell_of(results, STAT).resources["disk_utilisation"] == pytest.approx(0.18)


def test_nics_are_judged_over_all_phases_of_the_step() -> None:
    facts = on_fuse(clients=[{"name": "client1", "host": "here"}])
    totals = {"host.client1.nic.v0.receive_bytes": 2e9, "host.client1.nic.v0.transmit_bytes": 1e9}
    cell = results_of(metadata_record(Phase(CREATE), Phase(STAT), facts=facts, totals=totals)).cells[0]
    (use,) = cell.hosts
    assert use.receive_bytes_per_second == pytest.approx(1e8), "2 GB in two phases of 10 s"
    assert "nic_share" not in cell.resources


def test_requests_are_counted_for_each_operation() -> None:
    made = [
        metadata_record(Phase(STAT, requests={"LOOKUP": count}), ordinal=at, repeat=at)
        for at, count in enumerate((100_000, 300_000))
    ]
    phase = cell_of(results_of(*made), STAT).phase
    assert phase is not None and phase.requests == {"LOOKUP": 400_000}
    assert phase.requests_per_operation == {"": pytest.approx(2)}


def test_requests_of_one_repeat_do_not_speak_for_the_other() -> None:
    made = [
        metadata_record(Phase(STAT, requests=requests), ordinal=at, repeat=at)
        for at, requests in enumerate(({"LOOKUP": 5}, None))
    ]
    cell = cell_of(results_of(*made), STAT)
    assert cell.phase is not None and cell.phase.requests_per_operation == {}
    assert not cell.verdicts


def test_several_clients_have_figures_of_their_own() -> None:
    record = metadata_record(Phase(CREATE, seconds=(8, 10)), cell={"numjobs": 1, "clients": 2})
    named = tuple(part.by(f"client{part.job + 1}") for part in record.measurements)
    cell = cell_of(
        results_of(replace(record, measurements=named, jobs=tuple(job.by(f"client{job.job + 1}") for job in record.jobs))),
        CREATE,
    )  # fmt: skip
    assert [client.name for client in cell.clients] == ["client1", "client2"]
    assert [round(client.metrics["iops"].value) for client in cell.clients] == [6250, 5000]
    (verdict,) = [one for one in cell.verdicts if one.name is VerdictName.NOT_OVERLAPPING]
    assert "80 % of the window" in verdict.evidence and "was done 2.00 s before the last" in verdict.evidence


def test_each_operation_is_judged_by_its_own_noise() -> None:
    """Stats scatter on this machine, creates do not: creates that differ by 20 % are unlike, such stats are not."""
    rates = [(1_000, 10_000), (1_010, 14_000), (990, 8_000)]
    noise = [
        replace(
            metadata_record(Phase(CREATE, create), Phase(STAT, stat), ordinal=at, repeat=at),
            kind=StepKind.NOISE,
        )
        for at, (create, stat) in enumerate(rates)
    ]
    cells = [
        metadata_record(
            Phase(CREATE, 1_000 * by),
            Phase(STAT, 10_000 * by),
            ordinal=9 + at,
            repeat=at,
            cell={"numjobs": 4},
        )
        for at, by in enumerate((1.0, 1.2, 1.1))
    ]
    results = results_of(*noise, *cells)
    assert results.reference.noise_floor == pytest.approx(0.4)
    unlike = [
        cell.direction
        for cell in results.cells
        if any(one.name is VerdictName.UNLIKE_REPEATS for one in cell.verdicts)
    ]
    assert unlike == [CREATE]


def test_a_phase_of_a_dozen_operations_says_nothing_of_noise() -> None:
    noise = [
        replace(
            metadata_record(Phase(Direction.TREE_CREATE, rate, [0.01, 0.01]), ordinal=at, repeat=at),
            kind=StepKind.NOISE,
        )
        for at, rate in enumerate((1_200, 5_000))
    ]
    assert results_of(*noise).reference.noise_floor is None
