"""Latency percentiles over load: one chart a curve, one line a percentile, so that the tail shows beside the mean."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.analyse.results import METRICS, Curve, Results
from leadline.report import wording
from leadline.report.figures.curves import load_axis, phrase, varying_dimensions
from leadline.report.figures.figure import Axis, Chart, Line, metrics_present

LATENCIES = METRICS[2:]


def percentile_charts(results: Sequence[Results]) -> list[Chart]:
    """One chart a curve that has a latency at all."""
    curves = [curve for one in results for curve in one.curves if metrics_present(curve.cells, LATENCIES)]
    families: dict[tuple[str, str], list[Curve]] = {}
    for curve in curves:
        families.setdefault((curve.test, curve.axis), []).append(curve)
    named = [(family, varying_dimensions(family)) for family in families.values()]
    return [percentile_chart(curve, phrase(curve, names)) for family, names in named for curve in family]


def percentile_chart(curve: Curve, held: str) -> Chart:
    """The percentiles of one curve; both axes double, so both are logarithmic."""
    return Chart(
        kind="latency percentiles",
        keys={"test": curve.test, "points": wording.setting_label(curve.axis), "at": held},
        x=load_axis(curve),
        y=Axis("latency", "latency", "latency", logarithmic=True),
        lines=tuple(
            Line(metric, style, curve.cells, curve.loads, metric=metric)
            for style, metric in enumerate(metrics_present(curve.cells, LATENCIES))
        ),
    )
