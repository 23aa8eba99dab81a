"""Draws neutral figures as files for papers, with matplotlib; the page draws the same figures with templates/plots.js.

Viridis for surfaces, Okabe-Ito colours with a marker shape each for lines, hollow markers where a figure is not valid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from leadline.analyse.results import CellResult
from leadline.analyse.wording import digits, percent
from leadline.report import wording
from leadline.report.figures.depth import Depth, Layer
from leadline.report.figures.figure import Axis, Chart, Limit, Line, Surface, metric_axis

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
SHAPES = ("o", "s", "D", "^", "v", "p", "*", "h")
SIZE_INCHES = (6.4, 4.2)
FARTHEST_LIMIT = 2.5
"""A limit this many times above the highest point is named in the title instead of squeezing the lines."""


def draw_chart(chart: Chart) -> Figure:
    """Lines over two axes, with knees as stars and limits dashed."""
    figure = Figure(figsize=SIZE_INCHES, layout="constrained")
    axes = figure.add_subplot()
    x_unit, y_unit = unit_of(chart.x, chart.lines), unit_of(chart.y, chart.lines)
    for line in chart.lines:
        draw_line(axes, line, chart, x_unit, y_unit)
    set_axis(axes, "x", chart.x, x_unit, chart.lines)
    set_axis(axes, "y", chart.y, y_unit, chart.lines)
    far = draw_limits(axes, chart.limits, y_unit)
    axes.set_title("\n".join([f"{chart.kind}: {chart.title}", *far]), fontsize=9, loc="left")
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8, frameon=False)
    return figure


def channel(axis: Axis, line: Line) -> str:
    """The metric that a line shows on this axis; "load" where the axis is the load."""
    return axis.channel if axis.channel != "latency" else str(line.metric)


def unit_of(axis: Axis, lines: Iterable[Line]) -> wording.Unit:
    """One unit for an axis."""
    if axis.scale is None:
        return wording.Unit("", 1)
    names = [(line, channel(axis, line)) for line in lines]
    values = [cell.metrics[name].value for line, name in names for cell in line.cells if name in cell.metrics]
    return wording.unit_for(axis.scale, values)


Point = tuple[float, float, float]
"""Value, how far the interval reaches below it, how far above."""


def point(axis: Axis, line: Line, place: int, unit: wording.Unit) -> Point | None:
    """A coordinate of a cell with its interval; None where the cell lacks the metric."""
    name = channel(axis, line)
    if name == "load":
        return (line.loads[place], 0.0, 0.0)
    found = line.cells[place].metrics.get(name)
    if found is None:
        return None
    low, high = (found.value if end is None else end for end in (found.low, found.high))
    return (found.value / unit.size, max(found.value - low, 0) / unit.size, max(high - found.value, 0) / unit.size)


def draw_line(axes: Axes, line: Line, chart: Chart, x_unit: wording.Unit, y_unit: wording.Unit) -> None:
    """One line: whiskers, full and hollow markers, loads as numbers, the knee."""
    colour, shape = COLOURS[line.style % len(COLOURS)], SHAPES[line.style % len(SHAPES)]
    both = [(point(chart.x, line, at, x_unit), point(chart.y, line, at, y_unit)) for at in range(len(line.cells))]
    kept = [(at, x, y) for at, (x, y) in enumerate(both) if x and y]
    axes.plot([x[0] for _, x, _ in kept], [y[0] for _, _, y in kept], color=colour, linewidth=1.4, label=line.label, marker=shape, markersize=0)
    for at, x, y in kept:
        names = [name for name in (channel(chart.x, line), channel(chart.y, line)) if name != "load"]
        valid = all(line.cells[at].valid(name) for name in names)
        draw_point(axes, x, y, colour, shape, valid)
        if chart.x.channel != "load":
            axes.annotate(f"{line.loads[at]:g}", (x[0], y[0]), textcoords="offset points", xytext=(-4, 5), fontsize=6.5, ha="right")
        if line.knee and line.knee.point == at:
            axes.plot(x[0], y[0], marker="*", markersize=15, color=colour, markeredgecolor="black", zorder=4)


def draw_point(axes: Axes, x: Point, y: Point, colour: str, shape: str, valid: bool) -> None:
    """One measured cell with its interval in both directions."""
    axes.errorbar(
        x[0],
        y[0],
        xerr=[[x[1]], [x[2]]],
        yerr=[[y[1]], [y[2]]],
        fmt=shape,
        color=colour,
        markerfacecolor=colour if valid else "white",
        markersize=5.5,
        elinewidth=0.8,
    )


def set_axis(axes: Axes, which: str, axis: Axis, unit: wording.Unit, lines: Sequence[Line]) -> None:
    """Label with unit, scale, and ticks in plain numbers."""
    label = f"{axis.label}, {unit.symbol}" if unit.symbol else axis.label
    axes.set(**{f"{which}label": label})
    if axis.logarithmic:
        axes.set(**{f"{which}scale": "log"})
    side = axes.xaxis if which == "x" else axes.yaxis
    if axis.channel == "load":
        side.set_ticks(sorted({load for line in lines for load in line.loads}))
        side.set_minor_formatter(NullFormatter())
    side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    if not axis.logarithmic:
        axes.set(**{f"{which}lim": (0, None)})


def draw_limits(axes: Axes, limits: Sequence[Limit], unit: wording.Unit) -> list[str]:
    """Dashed lines; returns in words those that lie too far above the points."""
    highest = axes.get_ylim()[1]
    near = [limit for limit in limits if limit.value / unit.size <= FARTHEST_LIMIT * highest]
    for limit in near:
        height = limit.value / unit.size
        axes.axhline(height, linestyle="--", linewidth=1, color="#666666")
        axes.annotate(f"{limit.label} {digits(height)} {unit.symbol}", (1, height), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=7)
    if near:
        axes.set_ylim(0, max(highest, *(limit.value / unit.size * 1.06 for limit in near)))
    return [f"above the picture: {limit.label} {wording.measure('bandwidth', limit.value)}" for limit in limits if limit not in near]


def draw_map(surface: Surface, metric: str) -> Figure:
    """A surface in 2D: a field a cell with its figure, hatched where it is not valid."""
    figure = Figure(figsize=(1.6 + 0.72 * len(surface.x_values), 1.3 + 0.5 * len(surface.y_values)), layout="constrained")
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


def draw_field(axes: Axes, x: int, y: int, cell: CellResult | None, metric: str, unit: wording.Unit, image: Any) -> None:
    """One figure of a map in the colour that reads best on its ground."""
    if cell is None or metric not in cell.metrics:
        axes.text(x, y, "–", ha="center", va="center", color="#666666")
        return
    value, valid = cell.metrics[metric].value / unit.size, cell.valid(metric)
    shade = image.norm(float(tinted([[value]], metric)[0][0]))
    ink = "black" if shade > 0.45 else "white"
    axes.text(x, y, digits(value) if valid else f"○ {digits(value)}", ha="center", va="center", fontsize=8, color=ink)
    if not valid:
        axes.fill_between((x - 0.5, x + 0.5), y - 0.5, y + 0.5, facecolor="none", edgecolor=ink, hatch="///", linewidth=0)


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
                axes.plot([xs[place]], [ys[row]], [heights[row][place]], "o", color="black", markerfacecolor=face, markersize=4, zorder=5)
    axes.set_xticks(xs, words_of(surface.x, surface.x_values), fontsize=7)
    axes.set_yticks(ys, words_of(surface.y, surface.y_values), fontsize=7)
    axes.set(xlabel=surface.x.label, ylabel=surface.y.label)
    if metric_is_logarithmic(metric):
        axes.zaxis.set_major_formatter(FuncFormatter(lambda value, _: digits(10**value)))
    axes.view_init(elev=24, azim=-132)
    axes.set_title(surface_title(surface, metric, unit), fontsize=9, loc="left")
    return figure


def draw_sheet(axes: Any, xs: list[float], ys: list[float], heights: list[list[float]]) -> None:
    """The interpolated sheet; a grid of one row or column has none."""
    if len(xs) < 2 or len(ys) < 2:
        return
    import numpy as np

    across, along = np.meshgrid(xs, ys)
    axes.plot_surface(across, along, np.array(heights), cmap="viridis", alpha=0.8, linewidth=0, antialiased=True)


def surface_heights(surface: Surface, metric: str) -> tuple[wording.Unit, list[list[float]]]:
    """The unit, and a value a field; not a number where nothing was measured."""
    values = [cell.metrics[metric].value for cell in surface.cells if metric in cell.metrics]
    unit = wording.unit_for(wording.scale_of(metric), values)
    lookup: Callable[[CellResult | None], float] = lambda cell: (  # noqa: E731
        cell.metrics[metric].value / unit.size if cell and metric in cell.metrics else math.nan
    )
    return unit, [[lookup(cell) for cell in row] for row in surface.rows]


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


def draw_depth(depth: Depth) -> Figure:
    """Bars on one axis from zero; a layer that was not measured is named instead of drawn."""
    layers = list(reversed(depth.layers))
    values = [layer.value for layer in layers if layer.value]
    unit = wording.unit_for(depth.scale, values)
    figure = Figure(figsize=(7.2, 0.7 + 0.34 * len(layers)), layout="constrained")
    axes = figure.add_subplot()
    for place, layer in enumerate(layers):
        draw_layer(axes, place, layer, depth.scale, unit)
    axes.set_yticks(range(len(layers)), [layer.label for layer in layers], fontsize=8)
    axes.set(xlabel=f"{depth.title.lower()}, {unit.symbol}", xlim=(0, max(values, default=1.0) / unit.size * 1.45))
    axes.set_title(depth.run, fontsize=9, loc="left")
    return figure


def draw_layer(axes: Axes, place: int, layer: Layer, scale: str, unit: wording.Unit) -> None:
    """One bar with its figure and its share of the layer above."""
    if layer.value is None:
        axes.text(0, place, f" {layer.absent}", va="center", fontsize=8, style="italic", color="#666666")
        return
    colour = COLOURS[0] if "best" in layer.label else "#9db4c9"
    hatch = {"facecolor": "white", "hatch": "///", "edgecolor": colour} if layer.doubtful else {"color": colour}
    axes.barh(place, layer.value / unit.size, height=0.6, **hatch)
    share = f" ({percent(layer.share)} of {layer.above})" if layer.share is not None else ""
    words = f" {wording.measure(scale, layer.value)}{share}{', not valid' if layer.doubtful else ''}"
    axes.text(layer.value / unit.size, place, words, va="center", fontsize=8)
