"""Neutral figures: what is drawn, not how. The page draws them with plotly, files are drawn with matplotlib.

A point is a cell, and a channel says which of its figures becomes a coordinate: a metric, a setting or the load of its
curve. So a menu that changes the metric changes a channel, and both drawers take value, interval and verdict from the
same cell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from leadline.analyse.results import METRICS, CellResult
from leadline.report import wording


@dataclass(frozen=True)
class Axis:
    """`scale` names a row of wording.SCALES; None where the values are plain numbers."""

    channel: str
    label: str
    scale: str | None
    logarithmic: bool


@dataclass(frozen=True)
class Knee:
    """Where a line bends: drawn as a star at the first measured point at or above the knee's load."""

    point: int
    sentence: str
    doubtful: bool = False


@dataclass(frozen=True)
class Line:
    """Cells in the order of their load. `metric` is set where lines of one chart show different metrics."""

    label: str
    style: int
    cells: tuple[CellResult, ...]
    loads: tuple[float, ...]
    knee: Knee | None = None
    metric: str | None = None


@dataclass(frozen=True)
class Limit:
    """A dashed line across the y axis, in the base unit of that axis."""

    label: str
    value: float


@dataclass(frozen=True)
class PublishedLine:
    """Measured by others, elsewhere: laid beside in grey. `values` are in the base unit of the y axis."""

    label: str
    style: int
    loads: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Chart:
    """Lines over two axes. `keys` are the menu entries that lead to it, in the order of the menus."""

    kind: str
    keys: Mapping[str, str]
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    limits: tuple[Limit, ...] = ()
    published: tuple[PublishedLine, ...] = ()

    @property
    def title(self) -> str:
        """For a file's caption: every menu entry that was chosen."""
        return ", ".join(value for value in self.keys.values() if value)


@dataclass(frozen=True)
class Surface:
    """One test of a grid: rows follow `y_values`, columns `x_values`; None where no cell was measured."""

    keys: Mapping[str, str]
    x: Axis
    y: Axis
    x_values: tuple[float | str, ...]
    y_values: tuple[float | str, ...]
    rows: tuple[tuple[CellResult | None, ...], ...] = field(repr=False)

    @property
    def title(self) -> str:
        """For a file's caption."""
        return ", ".join(value for value in self.keys.values() if value)

    @property
    def cells(self) -> list[CellResult]:
        """The measured cells."""
        return [cell for row in self.rows for cell in row if cell]


def metric_axis(metric: str, logarithmic: bool, cells: Sequence[CellResult] = ()) -> Axis:
    """An axis that shows one of METRICS, of these cells."""
    label, scale = wording.label_among(metric, cells), wording.scale_among(metric, cells)
    return Axis(metric, label, scale, logarithmic)


def metrics_present(cells: Sequence[CellResult], among: Sequence[str] = METRICS) -> list[str]:
    """Of `among`, the metrics that at least one of these cells has, in the order of METRICS."""
    return [metric for metric in among if any(metric in cell.metrics for cell in cells)]


def slug(text: str) -> str:
    """A title as part of a file name: letters, digits, hyphens."""
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.") or "figure"
