"""Simulated curves as coordinates: throughput, and latency, against one axis. The template draws them as they are.

The shape of a mark says which part is used up: a reader sees along a line where one bottleneck gives way to the next.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from leadline.analyse import wording
from leadline.analyse.prediction.stations import Resource
from leadline.analyse.simulation.curves import NAMES, Curve, Picture
from leadline.analyse.simulation.findings import Finding
from leadline.report.figures.frame import Frame, Tick

WIDTH, HEIGHT = 640, 360
LEFT, TOP, BOTTOM = 84, 30, 52
NAMES_AT_LEAST, NAMES_AT_MOST, LETTER = 186, 300, 7.6
"""Room for names right of the lines: as their longest needs."""
STEPS = (1, 2, 5)
WIDE = 8.0
"""Values that differ by this factor stand on a logarithmic axis."""
LEAST_GAP = 15.0
"""Between names at the ends of lines."""
MOST_TICKS = 8
SHAPES = {
    Resource.DISK: "M -5 0 A 5 5 0 1 0 5 0 A 5 5 0 1 0 -5 0 Z",
    Resource.CLIENT_NIC: "M -4.6 -4.6 H 4.6 V 4.6 H -4.6 Z",
    Resource.STORAGE_NIC: "M 0 -6 L 5.6 4.4 H -5.6 Z",
    Resource.SWITCH: "M 0 -6.4 L 6.4 0 L 0 6.4 L -6.4 0 Z",
    Resource.CLIENT_SOFTWARE: "M 0 6 L 5.6 -4.4 H -5.6 Z",
    Resource.SERVER_SOFTWARE: "M -2 -6 H 2 V -2 H 6 V 2 H 2 V 6 H -2 V 2 H -6 V -2 H -2 Z",
}
NOTHING = "M -2.4 0 A 2.4 2.4 0 1 0 2.4 0 A 2.4 2.4 0 1 0 -2.4 0 Z"
"""Where nothing is used up."""
Metric = Callable[[Finding], float | None]


@dataclass(frozen=True)
class Mark:
    """A simulated point."""

    x: float
    y: float
    high: float | None
    """The p99 of a latency."""
    shape: str
    hollow: bool
    words: str


@dataclass(frozen=True)
class Line:
    """One curve."""

    label: str
    style: int
    trouble: str
    path: str
    marks: tuple[Mark, ...]
    label_y: float
    end_x: float
    end_y: float


@dataclass(frozen=True)
class Key:
    """One entry of the legend."""

    shape: str
    hollow: bool
    words: str


@dataclass(frozen=True)
class SimulationFigure(Frame):
    """Everything that is drawn, in pixels of a view of WIDTH x HEIGHT."""

    title: str
    lines: tuple[Line, ...]
    x_label: str


def throughput_figure(picture: Picture) -> SimulationFigure:
    """Bytes a second."""
    return _figure(picture, "throughput", lambda one: one.bandwidth, None, wording.bandwidth, 1024.0)


def latency_figure(picture: Picture) -> SimulationFigure:
    """The mean, with the p99 above."""
    return _figure(
        picture, "latency: mean, whisker to p99", lambda one: one.mean_ns, lambda one: one.percentile_ns(0.99), wording.latency, 1000.0
    )  # fmt: skip


def keys(findings: Sequence[Finding]) -> list[Key]:
    """What the shapes of these points mean."""
    found = {(one.bound.kind, one.bound.how) for one in findings if one.bound.how != "none"}
    ordered = sorted(found, key=lambda each: (list(Resource).index(each[0]), each[1]))
    named = [
        Key(
            SHAPES[kind],
            how == "one",
            f"{kind} used up" if how == "all" else f"one of many holds the others up: {kind}",
        )
        for kind, how in ordered
    ]
    nothing = any(one.bound.how == "none" for one in findings)
    return [*named, *([Key(NOTHING, False, "nothing used up: latency")] if nothing else [])]


def _figure(
    picture: Picture,
    title: str,
    metric: Metric,
    high: Metric | None,
    words: Callable[[float], str],
    base: float,
) -> SimulationFigure:
    points = [point for curve in picture.curves for point in curve.points]
    values = [each for point in points for of in (metric, high) if of and (each := of(point)) is not None]
    right = _right(picture)
    across, x_ticks = _across(picture, right)
    down, y_ticks = _down(values or [1.0], words, base)
    lines = [_line(curve, picture.axis, metric, high, across, down) for curve in picture.curves]
    return SimulationFigure(
        WIDTH, HEIGHT, LEFT, right, TOP, HEIGHT - BOTTOM,
        title=title,
        x_ticks=tuple(x_ticks),
        y_ticks=tuple(y_ticks),
        lines=tuple(_spread([line for line in lines if line.marks])),
        x_label=NAMES[picture.axis],
    )  # fmt: skip


def _right(picture: Picture) -> int:
    """Where the lines end and their names begin."""
    longest = max((len(curve.label) for curve in picture.curves), default=0)
    return WIDTH - min(max(round(longest * LETTER) + 12, NAMES_AT_LEAST), NAMES_AT_MOST)


def _across(picture: Picture, right: int) -> tuple[Callable[[float], float], list[Tick]]:
    """Values that were simulated are the ticks."""
    places = picture.places()
    wide = places[0] > 0 and places[-1] / places[0] >= WIDE
    scale: Callable[[float], float] = math.log if wide else float
    first, last = scale(places[0]), scale(places[-1])

    def across(value: float) -> float:
        return LEFT + 14 + (scale(value) - first) / (last - first) * (right - LEFT - 28)

    every = math.ceil(len(places) / MOST_TICKS)
    shown = [place for number, place in enumerate(places) if (len(places) - 1 - number) % every == 0]
    label = wording.size if picture.axis == "block_size" else lambda value: f"{value:,g}"
    return across, [Tick(across(place), label(place)) for place in shown]


def _down(
    values: Sequence[float], words: Callable[[float], str], base: float
) -> tuple[Callable[[float], float], list[Tick]]:
    """Logarithmic where values differ much, else from 0."""
    least, most = min(values), max(values)
    wide = least > 0 and most / least >= WIDE
    ticks = _round_values(least, most, base) if wide else _even_values(most, base)
    scale: Callable[[float], float] = math.log if wide else float
    first, last = scale(ticks[0]), scale(ticks[-1])

    def down(value: float) -> float:
        share = (scale(max(value, ticks[0])) - first) / (last - first)
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)

    return down, [Tick(down(value), words(value) if value else "0") for value in ticks]


def _round_values(least: float, most: float, base: float) -> list[float]:
    """1, 2, 5, 10 ... of units that are powers of `base`, around all values; fewer where they are many."""
    every = [
        step * ten * base**power for power in range(6) for ten in (1, 10, 100) for step in STEPS
        if step * ten < base
    ]  # fmt: skip
    first = max((place for place, value in enumerate(every) if value <= least), default=0)
    last = min((place for place, value in enumerate(every) if value >= most), default=len(every) - 1)
    kept = every[first : last + 1]
    thinned = kept[:: math.ceil(len(kept) / MOST_TICKS)]
    return thinned if thinned[-1] >= most else [*thinned, every[last]]


def _even_values(most: float, base: float) -> list[float]:
    """0 and up in even steps of 1, 2 or 5."""
    unit = base ** max(0, math.floor(math.log(most, base)))
    rough = most / unit / 4
    ten = 10.0 ** math.floor(math.log10(rough))
    step = next(step * ten for step in (*STEPS, 10) if step * ten >= rough) * unit
    return [number * step for number in range(math.ceil(most / step - 1e-9) + 1)]


def _line(
    curve: Curve, axis: str, metric: Metric, high: Metric | None,
    across: Callable[[float], float], down: Callable[[float], float],
) -> Line:  # fmt: skip
    marks = tuple(_marks(curve, axis, metric, high, across, down))
    path = " L ".join(f"{mark.x:.1f} {mark.y:.1f}" for mark in marks)
    end_x, end_y = (marks[-1].x, marks[-1].y) if marks else (0.0, 0.0)
    return Line(curve.label, curve.style, curve.trouble, f"M {path}", marks, end_y, end_x, end_y)


def _marks(
    curve: Curve, axis: str, metric: Metric, high: Metric | None,
    across: Callable[[float], float], down: Callable[[float], float],
) -> list[Mark]:  # fmt: skip
    found = []
    for point in curve.points:
        value, above = metric(point), high(point) if high else None
        if value is not None:
            shape = NOTHING if point.bound.how == "none" else SHAPES[point.bound.kind]
            x = across(float(point.scenario.settings[axis]))
            top = None if above is None else down(above)
            found.append(
                Mark(x, down(value), top, shape, point.bound.how == "one", point_words(curve, axis, point))
            )
    return found


def point_words(curve: Curve, axis: str, point: Finding) -> str:
    """All of a point, for who asks."""
    value = point.scenario.settings[axis]
    place = wording.size(value) if axis == "block_size" else f"{value:,g}"
    latency = "" if point.mean_ns is None else f", mean {wording.latency(point.mean_ns)}"
    label = f"{curve.label}: " if curve.label else ""
    return f"{label}{NAMES[axis]} {place}: {wording.bandwidth(point.bandwidth)}{latency}; {point.binding}"


def _spread(lines: Sequence[Line]) -> list[Line]:
    """Names at the ends of lines, from top to bottom, none over another and none below the axis."""
    placed: list[Line] = []
    for line in sorted(lines, key=lambda each: each.end_y):
        above = placed[-1].label_y + LEAST_GAP if placed else -math.inf
        placed.append(replace(line, label_y=max(line.end_y, above)))
    excess = max(0.0, placed[-1].label_y - (HEIGHT - BOTTOM)) if placed else 0.0
    return [replace(line, label_y=line.label_y - excess) for line in placed]
