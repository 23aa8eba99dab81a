"""Cells laid out as curves and grids, whatever the campaign varied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

import pytest

from leadline.analyse.analysis import analyse
from leadline.analyse.results import Results, VerdictName
from leadline.store.records import Scalar, StepRecord

from .samples import CLEAN, ENVIRONMENT, manifest, measurement, record


def grid(**axes: Iterable[Scalar]) -> list[StepRecord]:
    """Every combination, with a throughput that saturates in concurrency."""
    cells = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    return [step(ordinal, cell) for ordinal, cell in enumerate(cells)]


def step(ordinal: int, changes: Mapping[str, Scalar]) -> StepRecord:
    cell = {**CLEAN, **changes}
    load = int(cell["iodepth"]) * int(cell["numjobs"])
    iops, jobs = 40_000 * load / (load + 6), int(cell["numjobs"])
    parts = [measurement(iops / jobs, int(cell["block_size"]), load / jobs, job=job) for job in range(jobs)]
    return record(*parts, ordinal=ordinal, cell=cell)


def results(records: list[StepRecord]) -> Results:
    return analyse(records, manifest(), ENVIRONMENT)


def test_curves_run_along_each_load_axis_with_the_other_fixed() -> None:
    found = results(grid(iodepth=(1, 2, 4, 8), numjobs=(1, 2, 4))).curves
    assert sorted(curve.axis for curve in found) == ["iodepth"] * 3 + ["numjobs"] * 4
    deep = next(curve for curve in found if curve.axis == "iodepth" and curve.fixed["numjobs"] == 2)
    assert deep.loads == (1, 2, 4, 8)
    assert deep.label == "2 jobs"
    assert all(cell.cell["numjobs"] == 2 for cell in deep.cells)


def test_a_curve_is_ascending_in_load_whatever_the_order_of_the_run() -> None:
    (curve,) = results(grid(iodepth=(8, 1, 4, 2))).curves
    assert curve.loads == (1, 2, 4, 8)
    assert curve.saturation is not None
    assert curve.saturation.onset_load == pytest.approx(
        curve.saturation.peak / (65_536 * 40_000 / 7), rel=1e-4
    )


def test_curves_are_labelled_by_what_tells_them_apart() -> None:
    found = results(
        grid(block_size=(4096, 65_536), ioengine=("io_uring", "libaio"), iodepth=(1, 2, 4))
    ).curves
    assert {curve.label for curve in found} == {
        "4 KiB, io_uring",
        "4 KiB, libaio",
        "64 KiB, io_uring",
        "64 KiB, libaio",
    }


def test_a_knee_from_points_that_are_not_valid_is_marked_doubtful() -> None:
    clean = results(grid(iodepth=(1, 2, 4, 8)))
    busy = results([step_with_cpu(part) for part in grid(iodepth=(1, 2, 4, 8))])
    assert [curve.saturation.doubtful for curve in clean.curves if curve.saturation] == [False]
    assert [curve.saturation.doubtful for curve in busy.curves if curve.saturation] == [True]


def step_with_cpu(part: StepRecord) -> StepRecord:
    return record(*part.measurements, ordinal=part.ordinal, cell=part.cell, cpu=0.95)


def test_an_impossible_spike_does_not_become_the_peak() -> None:
    records = grid(iodepth=(1, 2, 4, 8))
    spike = record(
        measurement(400_000, concurrency=16),
        ordinal=9,
        cell={**CLEAN, "iodepth": 16},
        totals={"disk.a.read_bytes": 0.0},
    )
    (curve,) = results([*records, spike]).curves
    assert curve.saturation is not None
    assert curve.saturation.peak_load == 8
    assert VerdictName.IMPOSSIBLE in {verdict.name for verdict in curve.cells[-1].verdicts}


def test_cells_on_curves_and_grids_are_the_cells_of_the_results() -> None:
    found = results(grid(iodepth=(1, 4, 16, 64), numjobs=(1, 2)))
    known = {id(cell) for cell in found.cells}
    assert {id(cell) for curve in found.curves for cell in curve.cells} == known
    assert {id(cell) for surface in found.grids for cell in surface.cells} == known


def test_a_full_grid_is_iodepth_against_numjobs_with_one_surface_a_test() -> None:
    (found,) = results(grid(rw=("read", "randread"), iodepth=(1, 2), numjobs=(1, 2))).grids
    assert (found.x_axis, found.y_axis, found.tests) == ("iodepth", "numjobs", ("read", "randread"))
    assert len(found.cells) == 8


def test_what_varies_besides_the_axes_makes_further_grids() -> None:
    found = results(grid(block_size=(4096, 65_536), iodepth=(1, 2), numjobs=(1, 2))).grids
    assert [surface.label for surface in found] == ["4 KiB", "64 KiB"]
    assert [surface.fixed for surface in found] == [{"block_size": 4096}, {"block_size": 65_536}]


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        ({"iodepth": (1, 2, 4), "block_size": (4096, 65_536)}, ("iodepth", "block_size")),
        ({"numjobs": (1, 2, 4), "ioengine": ("io_uring", "libaio")}, ("numjobs", "ioengine")),
        ({"block_size": (4096, 65_536), "ioengine": ("io_uring", "libaio")}, ("block_size", "ioengine")),
        ({"iodepth": (1, 2, 4)}, ("iodepth", "numjobs")),
    ],
)
def test_axes_that_vary_are_preferred(axes: dict[str, tuple[Scalar, ...]], expected: tuple[str, str]) -> None:
    (found,) = results(grid(**axes)).grids
    assert (found.x_axis, found.y_axis) == expected


def test_a_single_cell_makes_a_grid_of_one_and_no_curve() -> None:
    found = results([record(measurement())])
    assert len(found.grids) == 1
    assert found.curves == ()


def test_cells_without_two_common_settings_make_no_grid() -> None:
    found = results([record(measurement(), cell={"rw": "read"})])
    assert found.grids == ()


def test_a_sweep_of_message_sizes_keeps_its_own_axes() -> None:
    cells = [{"test": "ib_write_bw", "message_size": size, "queue_pairs": 1} for size in (2, 4, 8)]
    found = results([record(measurement(), ordinal=n, cell=cell) for n, cell in enumerate(cells)])
    assert found.cells[0].test == "ib_write_bw"
    assert [(surface.x_axis, surface.y_axis) for surface in found.grids] == [("message_size", "queue_pairs")]
