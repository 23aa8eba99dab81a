"""Actual beside predicted, in the page, in the terminal, in the document and in the depth chart."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rich.console import Console
from sample_results import sample

from leadline.analyse.prediction.beside import Beside, Foretelling
from leadline.analyse.prediction.predictions import Score
from leadline.analyse.results import CellResult, Results
from leadline.report import as_json
from leadline.report.figures.depth import bandwidth_depth
from leadline.report.page import page
from leadline.report.prediction import parts, show_predictions
from leadline.store.prediction import Foretold, ProbedTest

SCHEMA = json.loads((Path(__file__).parent / "results.schema.json").read_text(encoding="utf-8"))


def foretold(cell: CellResult, times: float, settings: dict[str, Any] | None = None) -> Foretold:
    """Of a cell, so many times what came."""
    block = int(cell.cell["block_size"])
    usual: dict[str, Any] = {
        "experiment": cell.experiment,
        "cell": settings or dict(cell.cell),
        "block_size": block,
        "iops": {"queueing": cell.metrics["iops"].value * times},
        "mean_ns": {"queueing": cell.metrics["mean"].value / times},
        "binding": "client NIC",
        "shares": {"client NIC": 0.97, "disks": 0.4},
        "network_share": 0.97,
        "disk_share": 0.4,
    }
    return Foretold(**usual)


@pytest.fixture
def results() -> Results:
    one = sample()
    cells = [cell for cell in one.cells if cell.test == "randread" and cell.metrics.get("iops")][:3]
    shown = [Beside(foretold(cell, 1.25), cell) for cell in cells]
    never = Beside(foretold(cells[0], 1.0, settings={**cells[0].cell, "numjobs": 99}), None)
    made = Foretelling("five <nodes>", ("one disk",), 1, True, ("A note.",), (*shown, never))
    return replace(one, predictions=(made,))


@pytest.fixture
def probed(results: Results) -> Results:
    """The first cell was a probe; the second was foretold half as much again by the calibrated model."""
    (made,) = results.predictions
    probe, second, *others = made.cells
    rate, mean_ns = second.foretold.iops["queueing"], second.foretold.mean_ns["queueing"]
    again = replace(
        second.foretold,
        iops={"queueing": rate, "calibrated": rate / 1.25 * 1.5},
        mean_ns={"queueing": mean_ns, "calibrated": mean_ns * 1.25 / 1.5},
    )
    test = ProbedTest(second.foretold.experiment, probe.foretold.cell, second.foretold.cell, 20_000e-9, 0.9)
    scores = tuple(
        Score(model, metric, "read", None, cells, 0.25, 0.2, 0.3)
        for metric in ("throughput", "latency")
        for model, cells in (("napkin", 3), ("bounds", 3), ("queueing", 3), ("calibrated", 1))
    )
    cells = (replace(probe, is_probe=True), replace(second, foretold=again), *others)
    told = replace(made, cells=cells, tests=(test,), probe_notes=("Little's <law>.",), scores=scores)
    return replace(results, predictions=(told,))


def in_terminal(results: Results, width: int) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    show_predictions(results, console)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_each_cell_stands_with_both_figures_and_the_error_in_both_directions(results: Results) -> None:
    (part,) = parts([results])
    assert [(row.over_actual, row.over_predicted) for row in part.rows] == [("1.25", "0.80")] * 3 + [
        ("–", "–")
    ]
    assert {row.network for row in part.rows} == {"97 %"} and {row.binding for row in part.rows} == {
        "client NIC"
    }


def test_the_longest_bar_is_the_axis_and_the_bars_are_to_scale(results: Results) -> None:
    (part,) = parts([results])
    widths = [(float(row.predicted_width), float(row.actual_width)) for row in part.rows[:3]]
    assert max(wide for pair in widths for wide in pair) == 100
    assert all(predicted / actual == pytest.approx(1.25, rel=0.01) for predicted, actual in widths)


def test_the_page_has_the_section_and_foreign_words_are_escaped(results: Results) -> None:
    html = page([results])
    assert 'id="prediction"' in html and 'href="#prediction"' in html
    assert "five &lt;nodes&gt;" in html and "five <nodes>" not in html
    assert 'id="prediction"' not in page([replace(results, predictions=())])


@pytest.mark.parametrize("width", [72, 160])
def test_no_figure_of_what_was_foretold_is_cut(probed: Results, width: int) -> None:
    text = in_terminal(probed, width)
    assert "\u2026" not in text and text.count("(20 %)") == 8


@pytest.mark.parametrize("width", [80, 160])
def test_the_terminal_shows_every_foretold_cell_within_its_width(results: Results, width: int) -> None:
    text = in_terminal(results, width)
    assert text.count("client NIC") >= 4 or "client" in text
    assert "1.25" in text and all(len(line) <= width for line in text.splitlines())


def test_what_was_made_afterwards_is_said_to_be_none_and_gets_no_bars(results: Results) -> None:
    (made,) = results.predictions
    late = replace(results, predictions=(replace(made, is_before=False),))
    html = page([late])
    assert "so it is none" in html and "Upper bar" not in html
    assert "1.25" not in in_terminal(late, 160)
    assert not any("predicted" in layer.label for layer in bandwidth_depth(late).layers)


def test_the_depth_chart_has_the_prediction_above_what_was_measured(results: Results) -> None:
    labels = [layer.label for layer in bandwidth_depth(results).layers]
    assert labels.index("randread, predicted") + 1 == labels.index("randread, best measured")
    assert "write, predicted" not in labels


def test_the_document_holds_it_for_programs(results: Results) -> None:
    document = json.loads(json.dumps(as_json([results]), allow_nan=False))
    jsonschema.validate(document, SCHEMA)
    (made,) = document["runs"][0]["predictions"]
    assert made["is_before"] and made["cells"][-1]["actual"] is None
    first = made["cells"][0]
    assert first["predicted"]["queueing"]["iops"] / first["actual"]["iops"] == pytest.approx(1.25)


def test_what_two_probes_foretold_stands_beside_with_its_own_errors_and_probes_are_named(
    probed: Results,
) -> None:
    (part,) = parts([probed])
    assert [(row.probed_over_actual, row.probed_over_predicted) for row in part.rows[:2]] == [
        ("–", "–"),
        ("1.50", "0.67"),
    ]
    assert [row.probed for row in part.rows] == ["probe", part.rows[1].probed, "–", "–"]
    assert max(float(row.probed_width or 0) for row in part.rows) <= 100
    assert [row.of for row in part.medians] == ["read, throughput", "read, latency"]
    assert {row.cells for row in part.medians} == {"3 (1)"}
    assert part.medians[0].errors == ("25 % (20 %)",) * 4


def test_the_page_shows_a_bar_and_columns_for_two_probes_only_where_there_were_some(
    probed: Results, results: Results
) -> None:
    html, without = page([probed]), page([results])
    for mark in ("two probes / actual", "fill probed", "Thin bar"):
        assert mark in html and mark not in without
    assert "Little&#39;s &lt;law&gt;." in html
    assert "20.0 us further delay, parts at 0.900 of their baselines" in html


@pytest.mark.parametrize("width", [80, 130, 200])
def test_the_terminal_shows_both_errors_of_two_probes_and_the_medians_of_all_rivals(
    probed: Results, width: int
) -> None:
    text = in_terminal(probed, width)
    assert "1.50" in text and "probe" in text and ("0.67" in text) == (width >= 130)
    assert all(len(line) <= width for line in text.splitlines())
    medians = text[text.index("Median error") :]
    assert all(model in medians for model in ("napkin", "bounds", "queueing", "two probes"))
    assert "2p/act" not in in_terminal(replace(probed, predictions=()), width)


def test_the_document_tells_probes_medians_and_what_was_told(probed: Results) -> None:
    document = json.loads(json.dumps(as_json([probed]), allow_nan=False))
    jsonschema.validate(document, SCHEMA)
    (made,) = document["runs"][0]["predictions"]
    assert [cell["is_probe"] for cell in made["cells"]] == [True, False, False, False]
    assert "calibrated" in made["cells"][1]["predicted"] and "calibrated" not in made["cells"][0]["predicted"]
    assert {median["model"] for median in made["medians"]} == {"napkin", "bounds", "queueing", "calibrated"}
    assert any("further delay" in note for note in made["notes"])
