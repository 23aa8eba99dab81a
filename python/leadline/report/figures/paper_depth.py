"""The depth chart for papers, drawn with matplotlib; the page draws the same bars in its template."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from leadline.analyse.wording import percent
from leadline.report import wording
from leadline.report.figures.depth import Depth, Layer


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
    axes.set(
        xlabel=f"{depth.title.lower()}, {unit.symbol}", xlim=(0, max(values, default=1.0) / unit.size * 1.45)
    )
    axes.set_title(depth.run, fontsize=9, loc="left")
    return figure


def draw_layer(axes: Axes, place: int, layer: Layer, scale: str, unit: wording.Unit) -> None:
    """One bar with its figure and its share of the layer above."""
    if layer.value is None:
        axes.text(0, place, f" {layer.absent}", va="center", fontsize=8, style="italic", color="#666666")
        return
    colour = "#0072b2" if "best" in layer.label else "#9db4c9"
    style: dict[str, Any] = {"color": colour}
    if layer.doubtful:
        style = {"facecolor": "white", "hatch": "///", "edgecolor": colour}
    axes.barh(place, layer.value / unit.size, height=0.6, **style)
    share = f" ({percent(layer.share)} of {layer.above})" if layer.share is not None else ""
    words = f" {wording.measure(scale, layer.value)}{share}{', not valid' if layer.doubtful else ''}"
    axes.text(layer.value / unit.size, place, words, va="center", fontsize=8)
