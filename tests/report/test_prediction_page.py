"""`leadline predict --html`: pictures and tables of a prediction, escaped, without a script."""

from __future__ import annotations

import re

from leadline.analyse.prediction.predictions import Forecast, PredictedCell, Prediction
from leadline.analyse.prediction.workload import Load
from leadline.cli.prediction_tables import cell_rows
from leadline.report.figures.prediction_figure import prediction_figures
from leadline.report.prediction_page import prediction_page

MIB = 1 << 20


def cell(depth: int, predicted: float, actual: float | None, test: str = "read") -> PredictedCell:
    return PredictedCell(
        load=Load(test, MIB, depth),
        in_flight=depth,
        forecasts={"queueing": Forecast.of(predicted, depth), "bounds": Forecast.of(2 * predicted, depth)},
        binding="disks",
        shares={"disks": 0.9},
        network_share=0.4,
        disk_share=0.9,
        actual=None if actual is None else Forecast.of(actual, depth),
        is_probe=depth == 2,
    )


CELLS = (
    cell(1, 100, 80),
    cell(2, 190, 150),
    cell(8, 400, 300),
    cell(1, 50, None, "write"),
    cell(4, 90, None, "write"),
)
PREDICTION = Prediction("<b>cluster</b>", CELLS, {}, {}, (), ("a note",))


def page() -> str:
    return prediction_page(PREDICTION, cell_rows(CELLS), [])


def test_every_test_has_a_picture_with_a_line_a_model_and_a_mark_a_measured_cell() -> None:
    read, write = prediction_figures(CELLS)
    assert [line.model for line in read.lines] == ["bounds", "queueing"]
    assert len(read.marks) == 3 and not write.marks
    assert [mark.is_probe for mark in read.marks] == [False, True, False]


def test_more_is_higher_and_further_right_and_nothing_leaves_the_picture() -> None:
    for figure in prediction_figures(CELLS):
        for line in figure.lines:
            points = [tuple(map(float, pair.split())) for pair in line.path.removeprefix("M ").split(" L ")]
            assert points == sorted(points) and [y for _, y in points] == sorted(
                (y for _, y in points), reverse=True
            )
            assert all(
                figure.left <= x <= figure.right and figure.top <= y <= figure.bottom for x, y in points
            )


def test_one_lone_cell_is_a_picture_too() -> None:
    (figure,) = prediction_figures([cell(1, 100, 100)])
    assert len(figure.marks) == 1 and figure.x_ticks


def test_the_page_escapes_names_and_needs_no_script_and_no_network() -> None:
    text = page()
    assert "&lt;b&gt;cluster" in text and "<b>cluster" not in text
    assert "<script" not in text and not re.search(r"(src|href)=\"http", text)


def test_the_page_holds_every_cell_and_the_notes() -> None:
    text = page()
    assert text.count('<td class="number">100 MiB/s</td>') == 1 and "a note" in text
    assert text.count("<tr><td>read") + text.count("<tr><td>write") == len(CELLS)
