"""Throughput over requests in flight as coordinates: a line for each model, a mark for each measured cell. One test, one block size.

Both axes are logarithmic: a model that is wrong by a factor is as far off at every load.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

from leadline.analyse import wording
from leadline.analyse.prediction.predictions import MODELS, PredictedCell
from leadline.report.figures.frame import Frame, Tick
from leadline.spec.units import format_size

WIDTH, HEIGHT = 470, 300
LEFT, RIGHT, TOP, BOTTOM = 84, 14, 12, 46
STEPS = (1, 2, 5)
X_TICKS_AT_MOST = 7
UNITS = tuple(1024.0**power for power in range(6))
"""Bytes per second that a unit of wording.bandwidth has."""


@dataclass(frozen=True)
class Mark:
    """A measured cell."""

    x: float
    y: float
    is_probe: bool
    words: str


@dataclass(frozen=True)
class Line:
    """What one model says, the median where several cells keep as many requests in flight."""

    model: str
    path: str


@dataclass(frozen=True)
class PredictionFigure(Frame):
    """Everything that is drawn, in pixels of a view of WIDTH x HEIGHT."""

    title: str
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...]


def prediction_figures(cells: Sequence[PredictedCell]) -> list[PredictionFigure]:
    """One a test and block size, in the order of the cells."""
    return [
        _figure(test, block, list(alike))
        for (test, block), alike in groupby(cells, lambda cell: (cell.load.test, cell.load.block_size))
    ]


def _figure(test: str, block: int, cells: Sequence[PredictedCell]) -> PredictionFigure:
    across, down = _scale_x(cells), _scale_y(cells)
    return PredictionFigure(
        WIDTH, HEIGHT, LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM,
        title=f"{test} {format_size(block)}",
        x_ticks=tuple(_x_ticks(cells, across)),
        y_ticks=tuple(Tick(down(value), wording.bandwidth(value)) for value in _round_values(*_span(cells))),
        lines=tuple(_line(model, cells, across, down) for model in MODELS if model in cells[0].forecasts),
        marks=tuple(_marks(cells, across, down)),
    )  # fmt: skip


def _throughputs(cell: PredictedCell) -> Iterator[float]:
    told = [*cell.forecasts.values(), *([cell.actual] if cell.actual is not None else [])]
    return (each.iops * cell.load.block_size for each in told)


def _span(cells: Sequence[PredictedCell]) -> tuple[float, float]:
    every = [value for cell in cells for value in _throughputs(cell)]
    return min(every) / 1.15, max(every) * 1.15


def _scale_x(cells: Sequence[PredictedCell]) -> Callable[[float], float]:
    first, last = min(cell.in_flight for cell in cells), max(cell.in_flight for cell in cells)
    reach = math.log(max(last, first + 1) / first)
    return lambda count: round(LEFT + 12 + math.log(count / first) / reach * (WIDTH - RIGHT - LEFT - 24), 1)


def _scale_y(cells: Sequence[PredictedCell]) -> Callable[[float], float]:
    least, most = _span(cells)
    reach = math.log(most / least)
    return lambda value: round(HEIGHT - BOTTOM - math.log(value / least) / reach * (HEIGHT - BOTTOM - TOP), 1)


def _x_ticks(cells: Sequence[PredictedCell], across: Callable[[float], float]) -> Iterator[Tick]:
    last = max(cell.in_flight for cell in cells)
    powers = [1 << power for power in range(last.bit_length())]
    step = math.ceil(len(powers) / X_TICKS_AT_MOST)
    first = min(cell.in_flight for cell in cells)
    return (Tick(across(count), f"{count:,}") for count in powers[::step] if count >= first)


def _round_values(least: float, most: float) -> list[float]:
    """1, 2, 5, 10 ... of the binary units that the labels are in."""
    hundreds = (1, 10, 100)
    every = [step * ten * unit for unit in UNITS for ten in hundreds for step in STEPS if step * ten < 1000]
    return [value for value in every if least <= value <= most]


def _line(
    model: str,
    cells: Sequence[PredictedCell],
    across: Callable[[float], float],
    down: Callable[[float], float],
) -> Line:
    by_count: dict[int, list[float]] = defaultdict(list)
    for cell in cells:
        by_count[cell.in_flight].append(cell.forecasts[model].iops * cell.load.block_size)
    points = (f"{across(count)} {down(median(values))}" for count, values in sorted(by_count.items()))
    return Line(model, f"M {' L '.join(points)}")


def _marks(
    cells: Sequence[PredictedCell], across: Callable[[float], float], down: Callable[[float], float]
) -> Iterator[Mark]:
    for cell in cells:
        if cell.actual is None:
            continue
        moved = cell.actual.iops * cell.load.block_size
        share = cell.forecasts["queueing"].iops / cell.actual.iops
        load = f"iodepth {cell.load.iodepth} x {cell.load.numjobs} jobs"
        words = (
            f"{load}: measured {wording.bandwidth(moved)}, predicted {share:.2f} times that; {cell.binding}"
        )
        yield Mark(across(cell.in_flight), down(moved), cell.is_probe, words)
