"""The whole analysis on small runs: what goes in comes out once, and nothing is lost in silence."""

from __future__ import annotations

from dataclasses import replace

from leadline.analyse.analysis import analyse
from leadline.store.records import StepRecord

from .samples import CLEAN, ENVIRONMENT, failed, manifest, measurement, record


def test_an_empty_run_is_analysed() -> None:
    found = analyse([], manifest(), {})
    assert (found.label, found.cells, found.curves, found.grids, found.planned_cells) == (
        "sample",
        (),
        (),
        (),
        0,
    )


def test_a_run_of_failures_only_is_analysed() -> None:
    found = analyse([failed("no space left")], manifest(), ENVIRONMENT)
    assert [item.reason for item in found.failed] == ["no space left"]
    assert found.cells == ()


def test_a_finished_step_without_measurements_is_a_failure() -> None:
    found = analyse([record()], manifest(), ENVIRONMENT)
    assert [item.reason for item in found.failed] == ["it finished without a single measurement"]


def test_repeats_of_a_cell_become_one_cell() -> None:
    found = analyse([record(measurement(), ordinal=n, repeat=n) for n in range(3)], manifest(), ENVIRONMENT)
    assert [(cell.repeats, cell.ordinals, len(cell.throughput)) for cell in found.cells] == [
        (3, (0, 1, 2), 3)
    ]


def test_the_same_cell_in_two_experiments_stays_two_cells() -> None:
    found = analyse([record(measurement(), experiment=name) for name in ("a", "b")], manifest(), ENVIRONMENT)
    assert [cell.experiment for cell in found.cells] == ["a", "b"]


def test_the_label_names_the_run_everywhere() -> None:
    found = analyse([record(measurement()), failed(ordinal=1, repeat=1)], manifest(), ENVIRONMENT, "monday")
    assert {found.label, found.cells[0].run, found.failed[0].run, found.grids[0].run} == {"monday"}


def test_planned_cells_without_any_record_are_missing() -> None:
    cells = [{**CLEAN, "iodepth": depth} for depth in (1, 2, 4)]
    plan = [
        {"kind": "cell", "experiment": "grid", "cell": cell, "repeat": n} for cell in cells for n in (0, 1)
    ]
    plan.append({"kind": "ceiling", "experiment": "ceiling", "cell": {}, "repeat": 0})
    done = [record(measurement(), cell=cells[0]), failed(cell=cells[1])]
    found = analyse(done, manifest(plan=tuple(plan)), ENVIRONMENT)
    assert (found.planned_cells, found.missing_cells) == (3, 1)


def test_warnings_are_counted_and_not_repeated() -> None:
    steps = [record(measurement(), ordinal=n, repeat=n, warnings=("fio: odd",)) for n in range(2)]
    steps.append(record(measurement(), ordinal=3, experiment="b", warnings=("fio: once",)))
    assert analyse(steps, manifest(), ENVIRONMENT).warnings == ("fio: odd (2 times)", "fio: once")


def test_the_order_of_the_records_does_not_change_the_results() -> None:
    steps: list[StepRecord] = [
        record(measurement(iops=1000 * depth, concurrency=depth), ordinal=n, cell={**CLEAN, "iodepth": depth})
        for n, depth in enumerate((1, 2, 4, 8))
    ]
    forth, back = analyse(steps, manifest(), ENVIRONMENT), analyse(steps[::-1], manifest(), ENVIRONMENT)
    assert [cell.metrics for cell in forth.cells] == [cell.metrics for cell in back.cells]
    assert [a.sentence for a in forth.answers] == [a.sentence for a in back.answers]


def test_cells_come_in_reading_order_whatever_order_the_run_drew() -> None:
    drawn = [("randread", 4, 4096), ("read", 8, 4096), ("read", 2, 65_536), ("read", 2, 4096)]
    steps = [
        record(measurement(), ordinal=n, cell={**CLEAN, "rw": rw, "iodepth": depth, "block_size": size})
        for n, (rw, depth, size) in enumerate(drawn)
    ]
    found = analyse(steps, manifest(), ENVIRONMENT).cells
    assert [(cell.test, cell.cell["block_size"], cell.cell["iodepth"]) for cell in found] == [
        ("read", 4096, 2),
        ("read", 4096, 8),
        ("read", 65_536, 2),
        ("randread", 4096, 4),
    ]


def test_a_cell_that_moved_nothing_does_not_break_the_rest() -> None:
    still = replace(measurement(), operations=0, size_bytes=0, runtime_ns=0)
    found = analyse(
        [record(still), record(measurement(), ordinal=1, experiment="b")], manifest(), ENVIRONMENT
    )
    assert "bandwidth" not in found.cells[0].metrics
    assert "bandwidth" in found.cells[1].metrics


def test_the_command_that_repeats_a_cell_can_be_pasted() -> None:
    step = replace(record(measurement()), command=("fio", "--name=a b"))
    assert analyse([step], manifest(), ENVIRONMENT).cells[0].command == "fio '--name=a b'"
