"""Lines for papers, drawn with matplotlib; the page draws the same figures with templates/plots.js.

Okabe-Ito colours with a marker shape each, so that lines differ without colour; hollow markers where a figure is not valid.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from leadline.analyse.wording import digits
from leadline.report import wording
from leadline.report.figures.figure import Axis, Chart, Limit, Line

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
    draw_published(axes, chart, y_unit)
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
    return (
        found.value / unit.size,
        max(found.value - low, 0) / unit.size,
        max(high - found.value, 0) / unit.size,
    )


def draw_line(axes: Axes, line: Line, chart: Chart, x_unit: wording.Unit, y_unit: wording.Unit) -> None:
    """One line: whiskers, full and hollow markers, loads as numbers, the knee."""
    colour, shape = COLOURS[line.style % len(COLOURS)], SHAPES[line.style % len(SHAPES)]
    both = [
        (point(chart.x, line, at, x_unit), point(chart.y, line, at, y_unit)) for at in range(len(line.cells))
    ]
    kept = [(at, x, y) for at, (x, y) in enumerate(both) if x and y]
    axes.plot(
        [x[0] for _, x, _ in kept],
        [y[0] for _, _, y in kept],
        color=colour,
        linewidth=1.4,
        label=line.label,
        marker=shape,
        markersize=5.5,
    )
    for at, x, y in kept:
        names = [name for name in (channel(chart.x, line), channel(chart.y, line)) if name != "load"]
        valid = all(line.cells[at].valid(name) for name in names)
        draw_point(axes, x, y, colour, shape, valid)
        if chart.x.channel != "load":
            axes.annotate(
                f"{line.loads[at]:g}",
                (x[0], y[0]),
                textcoords="offset points",
                xytext=(-4, 5),
                fontsize=6.5,
                ha="right",
            )
        if line.knee and line.knee.point == at:
            axes.plot(
                x[0],
                y[0],
                marker="*",
                markersize=15,
                color="white" if line.knee.doubtful else colour,
                markeredgecolor="black",
                zorder=4,
            )


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


DECADES_WITH_STEPS = 4
"""Over more of them 1, 2, 5, 10 would run into each other, and 1, 10, 100 are enough."""


def set_axis(axes: Axes, which: str, axis: Axis, unit: wording.Unit, lines: Sequence[Line]) -> None:
    """Label with unit, scale, and ticks in plain numbers."""
    label = f"{axis.label}, {unit.symbol}" if unit.symbol else axis.label
    axes.set(**{f"{which}label": label})
    side = axes.xaxis if which == "x" else axes.yaxis
    if axis.logarithmic:
        axes.set(**{f"{which}scale": "log"})
        low, high = side.get_data_interval()
        decades = math.log10(high / low) if low > 0 and math.isfinite(high) else 0.0
        side.set_major_locator(LogLocator(subs=(1, 2, 5) if decades <= DECADES_WITH_STEPS else (1,)))
        side.set_minor_formatter(NullFormatter())
    if axis.channel == "load":
        side.set_ticks(sorted({load for line in lines for load in line.loads}))
    side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    if not axis.logarithmic:
        axes.set(**{f"{which}lim": (0, None)})


def draw_published(axes: Axes, chart: Chart, unit: wording.Unit) -> None:
    """In grey, one entry of the legend for all."""
    for place, line in enumerate(chart.published):
        axes.plot(
            line.loads,
            [value / unit.size for value in line.values],
            color="#aaaaaa",
            linestyle=":",
            linewidth=1.0,
            marker=SHAPES[line.style % len(SHAPES)],
            markersize=3.5,
            label=None if place else "published",
            zorder=1,
        )


def draw_limits(axes: Axes, limits: Sequence[Limit], unit: wording.Unit) -> list[str]:
    """Dashed lines; returns in words those that lie too far above the points."""
    highest = axes.get_ylim()[1]
    near = [limit for limit in limits if limit.value / unit.size <= FARTHEST_LIMIT * highest]
    for limit in near:
        level = limit.value / unit.size
        axes.axhline(level, linestyle="--", linewidth=1, color="#666666")
        axes.annotate(
            f"{limit.label} {digits(level)} {unit.symbol}",
            (1, level),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="bottom",
            fontsize=7,
        )
    if near:
        axes.set_ylim(top=max(highest, *(limit.value / unit.size * 1.06 for limit in near)))
    return [
        f"above the picture: {limit.label} {wording.measure('bandwidth', limit.value)}"
        for limit in limits
        if limit not in near
    ]
