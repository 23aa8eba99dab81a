"""Surfaces for papers in 3D and as maps, drawn with matplotlib; the page draws the same with templates/surface.js.

Viridis is perceptually even and safe for colour-blind readers; cells that are not valid are hollow or hatched.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from leadline.analyse.results import CellResult
from leadline.analyse.wording import digits
from leadline.report import wording
from leadline.report.figures.figure import Axis, Surface, metric_axis

SIZE_INCHES = (6.4, 4.6)


def draw_map(surface: Surface, metric: str) -> Figure:
    """A surface in 2D: a field a cell with its figure, hatched where it is not valid."""
    figure = Figure(
        figsize=(1.6 + 0.72 * len(surface.x_values), 1.3 + 0.5 * len(surface.y_values)), layout="constrained"
    )
    axes = figure.add_subplot()
    unit, heights = surface_heights(surface, metric)
    tint = tinted(heights, metric)
    image = axes.imshow(tint, cmap="viridis", origin="lower", aspect="auto")
    for row, cells in enumerate(surface.rows):
        for place, cell in enumerate(cells):
            draw_field(axes, place, row, cell, metric, unit, image)
    axes.set_xticks(range(len(surface.x_values)), words_of(surface.x, surface.x_values))
    axes.set_yticks(range(len(surface.y_values)), words_of(surface.y, surface.y_values))
    axes.set(xlabel=surface.x.label, ylabel=surface.y.label)
    axes.set_title(surface_title(surface, metric, unit), fontsize=9, loc="left")
    return figure


def draw_field(
    axes: Axes, x: int, y: int, cell: CellResult | None, metric: str, unit: wording.Unit, image: Any
) -> None:
    """One figure of a map in the colour that reads best on its ground."""
    if cell is None or metric not in cell.metrics:
        axes.text(x, y, "–", ha="center", va="center", color="#666666")
        return
    value, valid = cell.metrics[metric].value / unit.size, cell.valid(metric)
    shade = image.norm(float(tinted([[value]], metric)[0][0]))
    ink = "black" if shade > 0.45 else "white"
    if not valid:
        axes.fill_between(
            (x - 0.5, x + 0.5),
            y - 0.5,
            y + 0.5,
            facecolor="none",
            edgecolor=ink,
            hatch="///",
            linewidth=0,
            alpha=0.45,
        )
    ground = {"boxstyle": "round,pad=0.15", "facecolor": image.cmap(shade), "edgecolor": "none"}
    axes.text(
        x,
        y,
        digits(value) if valid else f"○ {digits(value)}",
        ha="center",
        va="center",
        fontsize=8,
        color=ink,
        bbox=ground,
    )


def draw_surface(surface: Surface, metric: str) -> Figure:
    """A surface in 3D with the measured cells as points on it; axes that double are drawn by their logarithm."""
    figure = Figure(figsize=SIZE_INCHES, layout="constrained")
    axes: Any = figure.add_subplot(projection="3d")
    unit, heights = surface_heights(surface, metric)
    heights = tinted(heights, metric)
    xs, ys = positions(surface.x, surface.x_values), positions(surface.y, surface.y_values)
    draw_sheet(axes, xs, ys, heights)
    for row, cells in enumerate(surface.rows):
        for place, cell in enumerate(cells):
            if cell and metric in cell.metrics:
                face = "black" if cell.valid(metric) else "white"
                axes.plot(
                    [xs[place]],
                    [ys[row]],
                    [heights[row][place]],
                    "o",
                    color="black",
                    markerfacecolor=face,
                    markersize=4,
                    zorder=5,
                )
    axes.set_xticks(xs, words_of(surface.x, surface.x_values), fontsize=7)
    axes.set_yticks(ys, words_of(surface.y, surface.y_values), fontsize=7)
    axes.set(xlabel=surface.x.label, ylabel=surface.y.label)
    if metric_is_logarithmic(metric):
        axes.zaxis.set_major_formatter(FuncFormatter(lambda value, _: digits(10**value)))
    else:
        axes.set_zlim(0, None)
    axes.set_zlabel(unit.symbol)
    axes.view_init(elev=24, azim=-132)
    axes.set_title(surface_title(surface, metric, unit), fontsize=9, loc="left")
    return figure


def draw_sheet(axes: Any, xs: list[float], ys: list[float], heights: list[list[float]]) -> None:
    """The interpolated sheet; a grid of one row or column has none."""
    if len(xs) < 2 or len(ys) < 2:
        return
    across, along = np.meshgrid(xs, ys)
    axes.plot_surface(
        across, along, np.array(heights), cmap="viridis", alpha=0.8, linewidth=0, antialiased=True
    )


def surface_heights(surface: Surface, metric: str) -> tuple[wording.Unit, list[list[float]]]:
    """The unit, and a value a field; not a number where nothing was measured."""
    values = [cell.metrics[metric].value for cell in surface.cells if metric in cell.metrics]
    unit = wording.unit_for(wording.scale_of(metric), values)
    return unit, [[height(cell, metric) / unit.size for cell in row] for row in surface.rows]


def height(cell: CellResult | None, metric: str) -> float:
    """A cell's value, not a number where it has none."""
    return cell.metrics[metric].value if cell and metric in cell.metrics else math.nan


def metric_is_logarithmic(metric: str) -> bool:
    """Latencies span decades over a grid."""
    return wording.scale_of(metric) == "latency"


def tinted(heights: list[list[float]], metric: str) -> list[list[float]]:
    """What colour and height follow: the logarithm of a latency, else the value."""
    if not metric_is_logarithmic(metric):
        return heights
    return [[math.log10(value) if value > 0 else math.nan for value in row] for row in heights]


def positions(axis: Axis, values: Sequence[float | str]) -> list[float]:
    """Where an axis' values lie; words lie one step apart."""
    if not all(isinstance(value, (int, float)) and value > 0 for value in values):
        return [float(place) for place in range(len(values))]
    return [math.log2(float(value)) if axis.logarithmic else float(value) for value in values]


def words_of(axis: Axis, values: Sequence[float | str]) -> list[str]:
    """Tick labels."""
    return [wording.setting_value(axis.channel, value) for value in values]


def surface_title(surface: Surface, metric: str, unit: wording.Unit) -> str:
    """What is shown, in which unit."""
    return f"{surface.title}\n{metric_axis(metric, False).label}, {unit.symbol}; hollow or hatched: not valid"
