"""The neutral figures: what is drawn, whoever draws it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sample_results import empty, sample, single

from leadline.analyse.results import Reference, Results
from leadline.errors import UserError
from leadline.report import write_figures
from leadline.report.figures.curves import throughput_charts
from leadline.report.figures.depth import bandwidth_depth, depth_charts, rate_depth
from leadline.report.figures.figure import Chart, slug
from leadline.report.figures.percentiles import percentile_charts
from leadline.report.figures.surfaces import surfaces

GOLDEN = Path(__file__).parent / "golden_figures.jsonl"
"""One figure a line, so that a review sees which one changed."""


@pytest.fixture(scope="module")
def small() -> Results:
    return sample(tests=("randread", "randwrite"), depths=(1, 8, 128), jobs=(1, 16), engines=("io_uring",))


def sketch(chart: Chart) -> dict[str, Any]:
    """A chart without its cells' figures, readable in a review."""
    return {
        "keys": dict(chart.keys),
        "x": [chart.x.channel, chart.x.logarithmic],
        "y": [chart.y.channel, chart.y.logarithmic],
        "lines": {
            line.label: [list(line.loads), line.knee and [line.knee.point, line.knee.sentence]]
            for line in chart.lines
        },
        "limits": [limit.label for limit in chart.limits],
    }


def sketches(results: Results) -> list[str]:
    charts = [*throughput_charts([results]), *percentile_charts([results])]
    found: list[Any] = [sketch(chart) for chart in charts]
    found += [
        {"surface": dict(one.keys), "x": one.x_values, "y": one.y_values} for one in surfaces([results])
    ]
    layers = [layer for one in depth_charts([results]) for layer in one.layers]
    found += [
        {"layer": one.label, "absent": one.absent, "above": one.above, "detail": one.detail} for one in layers
    ]
    return [json.dumps(one) for one in found]


def test_the_figures_of_a_small_run_are_as_reviewed(small: Results) -> None:
    assert sketches(small) == GOLDEN.read_text(encoding="utf-8").splitlines()


def test_lines_of_one_chart_differ_in_one_dimension_only() -> None:
    for chart in throughput_charts([sample()]):
        settings = [dict(line.cells[0].cell) for line in chart.lines]
        differing = {name for name in settings[0] if len({one[name] for one in settings}) > 1}
        assert len(differing) <= 1, chart.keys


def test_every_curve_is_in_some_chart() -> None:
    results = sample()
    drawn = {id(line.cells) for chart in throughput_charts([results]) for line in chart.lines}

    assert {id(curve.cells) for curve in results.curves} == drawn


def test_several_runs_meet_in_one_chart_in_the_order_given() -> None:
    chart = throughput_charts([sample("second day", tests=("read",)), sample("first day", tests=("read",))])[
        0
    ]

    assert chart.keys["lines"] == "by run"
    assert [line.label for line in chart.lines] == ["second day", "first day"]


def test_the_knee_is_drawn_at_a_measured_point_that_reaches_it(small: Results) -> None:
    for chart in throughput_charts([small]):
        for line in chart.lines:
            if line.knee:
                peak = max(cell.metrics["bandwidth"].value for cell in line.cells)
                assert line.cells[line.knee.point].metrics["bandwidth"].value >= 0.9 * peak


def test_a_cell_that_was_not_measured_is_a_hole_in_the_surface(small: Results) -> None:
    grid = small.grids[0]
    surface = surfaces([replace(small, grids=(replace(grid, cells=grid.cells[1:]),))])[0]

    assert [cell is None for row in surface.rows for cell in row].count(True) == 1


def test_grids_of_one_label_are_told_apart_by_their_experiment(small: Results) -> None:
    grid = small.grids[0]
    twins = replace(small, grids=(grid, replace(grid, experiment="again")))

    assert {one.keys["grid"] for one in surfaces([twins])} == {
        f"local disk: {grid.label}",
        f"again: {grid.label}",
    }


def test_a_layer_that_was_not_measured_is_named_and_has_no_value(small: Results) -> None:
    layers = {layer.label: layer for layer in bandwidth_depth(replace(small, reference=Reference())).layers}

    assert layers["memory copy"].value is None and layers["memory copy"].absent == "not measured"
    assert layers["randread, nominal limit"].absent == "not stated"
    assert layers["randread, best measured"].share is None


def test_a_share_is_of_the_layer_above(small: Results) -> None:
    best = {layer.label: layer for layer in bandwidth_depth(small).layers}["randread, best measured"]

    assert best.above == "nominal limit"
    assert best.value is not None and best.share == pytest.approx(best.value / 3.77e9)


def test_the_best_measured_cell_is_a_valid_one_where_there_is_any() -> None:
    results = sample(tests=("read",), blocks=(4096,))
    best = {layer.label: layer for layer in rate_depth(results).layers}["read, best measured"]
    trusted = max(cell.metrics["iops"].value for cell in results.cells if cell.valid("iops"))

    assert best.value == trusted and not best.doubtful


def test_a_test_without_a_valid_cell_shows_its_best_as_doubtful() -> None:
    results = sample(tests=("read",), blocks=(4096,), jobs=(16,))
    best = {layer.label: layer for layer in rate_depth(results).layers}["read, best measured"]

    assert best.doubtful and best.value is not None


def test_figures_are_written_as_files_with_their_own_names(small: Results, tmp_path: Path) -> None:
    few = replace(small, grids=small.grids[:1])
    written = write_figures([few], tmp_path / "figures", "svg", metrics=("p99",))

    assert len({path.name for path in written}) == len(written) >= 10
    assert all(path.read_text(encoding="utf-8").startswith("<?xml") for path in written)
    assert any(path.name.startswith("map-") and "p99" in path.name for path in written)


def test_equal_results_give_equal_files(tmp_path: Path) -> None:
    one = sample(tests=("read",), depths=(1, 8), jobs=(1, 2), blocks=(4096,), engines=("libaio",))
    first = write_figures([one], tmp_path / "a", "svg")
    second = write_figures([one], tmp_path / "b", "svg")

    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_png_files_are_pictures(tmp_path: Path) -> None:
    one = sample(tests=("read",), depths=(1, 8), jobs=(1,), blocks=(4096,), engines=("libaio",))
    written = write_figures([one], tmp_path, "png")

    assert written and all(path.read_bytes().startswith(b"\x89PNG") for path in written)


@pytest.mark.parametrize("results", [empty(), single()], ids=["empty", "single cell"])
def test_a_run_with_little_in_it_still_gives_its_figures(results: Results, tmp_path: Path) -> None:
    assert len(write_figures([results], tmp_path, "svg")) == (2 if results.cells else 0)


def test_an_unknown_format_is_a_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match='choose "svg" or "png"'):
        write_figures([empty()], tmp_path, "jpeg")


def test_file_names_hold_nothing_that_a_shell_or_folder_would_mind() -> None:
    assert slug("../../etc/<x> $(rm) 4 KiB, p99.9") == "etc-x-rm-4-kib-p99.9"
    assert slug("...") == "figure"


def test_a_knee_that_rests_on_doubtful_points_says_so(small: Results) -> None:
    bent = next(curve for curve in small.curves if curve.saturation)
    assert bent.saturation
    curve = replace(bent, saturation=replace(bent.saturation, doubtful=True))
    line = throughput_charts([replace(small, curves=(curve,))])[0].lines[0]

    assert line.knee and line.knee.doubtful and "not valid" in line.knee.sentence
