"""How far predictions were from what was measured: medians over cells, in both directions, for reads and writes apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from leadline.analyse.prediction.predictions import MODELS, Forecast, PredictedCell, Score

METRICS = ("throughput", "latency")


def score(cells: Sequence[PredictedCell]) -> tuple[Score, ...]:
    """Each model on the cells that were measured; the calibrated one only on those that it has not seen."""
    measured = [cell for cell in cells if cell.actual is not None]
    return tuple(
        found
        for direction in ("read", "write")
        for block in _blocks(measured, direction)
        for metric in METRICS
        for model in MODELS
        for found in _score(_chosen(measured, direction, block), model, metric, direction, block)
    )


def ratio(forecast: Forecast, actual: Forecast, metric: str) -> float:
    """Predicted over actual."""
    if metric == "latency":
        return forecast.mean_ns / actual.mean_ns
    return forecast.iops / actual.iops


def _blocks(cells: Sequence[PredictedCell], direction: str) -> list[int | None]:
    """All together first, then each block size where there are several."""
    sizes = sorted({cell.load.block_size for cell in _chosen(cells, direction, None)})
    return [None, *sizes] if len(sizes) > 1 else list(sizes)


def _chosen(cells: Sequence[PredictedCell], direction: str, block: int | None) -> list[PredictedCell]:
    return [
        cell
        for cell in cells
        if cell.load.is_write == (direction == "write") and block in (None, cell.load.block_size)
    ]


def _score(
    cells: Sequence[PredictedCell], model: str, metric: str, direction: str, block: int | None
) -> Iterable[Score]:
    ratios = [
        ratio(cell.forecasts[model], cell.actual, metric)
        for cell in cells
        if cell.actual is not None
        and model in cell.forecasts
        and not (model == "calibrated" and cell.is_probe)
    ]
    if not ratios:
        return
    errors = sorted(abs(each - 1) for each in ratios)
    yield Score(
        model=model,
        metric=metric,
        direction=direction,
        block_size=block,
        cells=len(ratios),
        over_actual=median(errors),
        over_predicted=median(abs(1 / each - 1) for each in ratios),
        worst_tenth=errors[min(len(errors) - 1, round(0.9 * len(errors)))],
    )
