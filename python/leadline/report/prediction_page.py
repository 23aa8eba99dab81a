"""A prediction as one HTML file: the pictures, how far each model was off, every cell. No script, no arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from leadline import __version__
from leadline.analyse.prediction.predictions import MODELS, Prediction
from leadline.report import write_whole
from leadline.report.figures.prediction_figure import prediction_figures
from leadline.report.page import template_text, templates

MODEL_WORDS: Mapping[str, str] = {
    "napkin": "napkin: the least of the caps",
    "bounds": "bounds: the narrowest part, or requests that never meet",
    "queueing": "queueing network, no constant fitted",
    "calibrated": "the same, calibrated on two probes",
}


def write_prediction_page(
    path: Path, prediction: Prediction, rows: Sequence[Mapping[str, str]], scores: Sequence[Sequence[str]]
) -> Path:
    """Writes the page whole; `rows` and `scores` are the tables that the terminal shows, every cell of them."""
    return write_whole(path, prediction_page(prediction, rows, scores))


def prediction_page(
    prediction: Prediction, rows: Sequence[Mapping[str, str]], scores: Sequence[Sequence[str]]
) -> str:
    """The page as text."""
    shown = [name for name in MODELS if any(name in cell.forecasts for cell in prediction.cells)]
    return (
        templates()
        .get_template("prediction_page.html.j2")
        .render(
            version=__version__,
            prediction=prediction,
            figures=prediction_figures(prediction.cells),
            models=[(name, MODEL_WORDS[name]) for name in shown],
            measured=any(cell.actual is not None for cell in prediction.cells),
            heads=list(rows[0]) if rows else [],
            rows=rows,
            scores=scores,
            style=Markup("".join(map(template_text, ("page.css", "consistency.css", "prediction.css")))),
        )
    )
