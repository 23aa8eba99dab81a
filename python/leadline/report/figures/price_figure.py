"""The price figure as coordinates: how many times faster, over how stale. The template draws them as they are, on screen and paper alike.

Rates are laid over those of the least stale point, so that operations of different speed share an axis; the table beside has the rates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from leadline.analyse import wording
from leadline.analyse.consistency_words import stale_words
from leadline.analyse.price import Point, Price
from leadline.report.figures.frame import Frame, Tick
from leadline.store.records import Direction

WIDTH, HEIGHT = 900, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 170, 66, 58
SHORTEST_NS = 1e6
"""What is shorter counts as seen at once: one probe takes so long."""
STEPS = (1, 2, 5)
LEAST_GAP = 17.0
"""Between names at the ends of lines."""


@dataclass(frozen=True)
class Mark:
    """A measured point of a line."""

    x: float
    y: float
    low: float | None
    high: float | None
    valid: bool
    words: str


@dataclass(frozen=True)
class Line:
    """One operation over all points."""

    label: str
    style: int
    path: str
    marks: tuple[Mark, ...]
    label_y: float
    end_x: float
    end_y: float


@dataclass(frozen=True)
class Column:
    """A point's place on the axis of staleness, with its cache time and what it loses."""

    x: float
    label: str
    lost: str
    row: int
    """0 or 1: labels of neighbours take turns where they are close."""


@dataclass(frozen=True)
class PriceFigure(Frame):
    """Everything that is drawn, in pixels of a view of WIDTH x HEIGHT."""

    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    x_label: str
    y_label: str


def price_figure(price: Price) -> PriceFigure:
    """The figure of one target."""
    across = _across(price.points)
    factors = [_factor(price, point, way) for point in price.points for way in price.operations]
    y_ticks = _round_factors(min(factors), max(factors))
    least, most = math.log10(y_ticks[0]), math.log10(y_ticks[-1])

    def down(factor: float) -> float:
        share = (math.log10(factor) - least) / (most - least) if factor > 0 else 0.0
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)

    lines = [_line(price, number, across, down) for number in range(len(price.operations))]
    return PriceFigure(
        WIDTH, HEIGHT, LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM,
        x_ticks=tuple(_x_ticks(price.points)),
        y_ticks=tuple(Tick(down(value), f"{value:g} x") for value in y_ticks),
        columns=tuple(_columns(price.points, across)),
        lines=tuple(_spread(lines)),
        x_label="longest time that a reader was told what was no longer so",
        y_label=f"rate, times that of {price.points[0].label}",
    )  # fmt: skip


def _factor(price: Price, point: Point, way: Direction) -> float:
    base = price.points[0].rate(way) or 0.0
    return (point.rate(way) or 0.0) / base if base else 0.0


def _stale(point: Point) -> float:
    """Where it outlasted the patience, at least that."""
    return point.patience_seconds * 1e9 if math.isinf(point.stale_ns) else max(point.stale_ns, SHORTEST_NS)


def _reach(points: Sequence[Point]) -> tuple[float, float]:
    longest = max(_stale(point) for point in points)
    return math.log10(SHORTEST_NS), max(math.log10(longest) + 0.15, math.log10(SHORTEST_NS) + 1)


def _place(stale_ns: float, points: Sequence[Point]) -> float:
    first, last = _reach(points)
    share = (math.log10(stale_ns) - first) / (last - first)
    return LEFT + 26 + share * (WIDTH - RIGHT - LEFT - 26)


def _across(points: Sequence[Point]) -> list[float]:
    return [_place(_stale(point), points) for point in points]


def _x_ticks(points: Sequence[Point]) -> list[Tick]:
    first, last = _reach(points)
    decades = range(math.ceil(first), math.floor(last) + 1)
    labels = [wording.latency(10.0**decade).replace(".00", "").replace("10.0", "10") for decade in decades]
    ticks = [Tick(_place(10.0**decade, points), label) for decade, label in zip(decades, labels, strict=True)]
    return [Tick(ticks[0].at, "at once"), *ticks[1:]]


def _round_factors(least: float, most: float) -> list[float]:
    """1, 2, 5, 10 ... around all factors; a logarithmic axis, on which twice as fast is as far everywhere."""
    every = [step * 10.0**power for power in range(-4, 8) for step in STEPS]
    first = max(place for place, value in enumerate(every) if value <= min(least, 0.99))
    last = min(place for place, value in enumerate(every) if value >= max(most, 1.01))
    return every[first : last + 1]


def _columns(points: Sequence[Point], across: Sequence[float]) -> list[Column]:
    columns: list[Column] = []
    for place, point in enumerate(points):
        near = bool(columns) and across[place] - columns[-1].x < 62
        lost = f"\u2715 {point.lost} of {point.appends}" if point.lost else ""
        columns.append(Column(across[place], point.label, lost, 1 - columns[-1].row if near else 0))
    return columns


def _line(price: Price, number: int, across: Sequence[float], down: Callable[[float], float]) -> Line:
    way = price.operations[number]
    marks = []
    for x, point in zip(across, price.points, strict=True):
        cell = point.rates[way]
        found, base = cell.metrics["iops"], price.points[0].rate(way) or 1.0
        low, high = (None if end is None else _inside(end / base, down) for end in (found.low, found.high))
        words = f"{way}, {point.label}: {wording.operations(found.value)}, stale {stale_words(point)}"
        marks.append(Mark(x, down(found.value / base), low, high, cell.valid("iops"), words))
    path = " L ".join(f"{mark.x:.1f} {mark.y:.1f}" for mark in marks)
    end = marks[-1]
    return Line(str(way), number % 7 + 1, f"M {path}", tuple(marks), end.y, end.x, end.y)


def _inside(factor: float, down: Callable[[float], float]) -> float:
    """An end of an interval may lie beyond the axis, or below zero, which no logarithm has."""
    return min(max(down(factor), TOP), HEIGHT - BOTTOM) if factor > 0 else HEIGHT - BOTTOM


def _spread(lines: Sequence[Line]) -> list[Line]:
    """Names at the ends of lines, from top to bottom, none over another."""
    placed: list[Line] = []
    for line in sorted(lines, key=lambda each: each.end_y):
        above = placed[-1].label_y + LEAST_GAP if placed else -math.inf
        placed.append(replace(line, label_y=max(line.end_y, above)))
    return placed
