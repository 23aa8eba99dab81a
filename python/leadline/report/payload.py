"""The data of the page: every cell once, in columns; figures refer to cells by their number. templates/data.js reads it.

Bandwidths are MiB/s, rates operations per second, latencies us, all with four significant digits.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from typing import Any

from leadline.analyse.comparisons import compare_runs
from leadline.analyse.results import METRICS, CellResult, Comparison, Estimate, Results
from leadline.published.tables import PublishedTable
from leadline.report import network, wording
from leadline.report.cell_numbers import CellNumbers
from leadline.report.columns import Column, column, dictionary, rounded, texts
from leadline.report.figures.curves import test_limits, throughput_charts
from leadline.report.figures.figure import Axis, Chart, Line, PublishedLine, Surface, metrics_present
from leadline.report.figures.object_charts import object_charts
from leadline.report.figures.percentiles import percentile_charts
from leadline.report.figures.scaling import scaling_charts
from leadline.report.figures.surfaces import surfaces
from leadline.report.participants import participant_entries

FORMAT = 1
COMPARED = ("bandwidth", "iops", "mean", "p99")
"""Metrics whose ratios the page shows, IOPS where they are the throughput: more columns would not be read."""
STORED = {"bandwidth": ("MiB/s", 2.0**20), "rate": ("IOPS", 1.0), "latency": ("us", 1e3)}
"""Scale -> unit of the stored columns and its size in the base unit."""


def payload(results: Sequence[Results], beside: Sequence[PublishedTable] = ()) -> dict[str, Any]:
    """Everything the page's script needs, JSON-ready; published tables go into figures of the same operations."""
    cells = [cell for one in results for cell in one.cells]
    numbers = CellNumbers(cells)
    curve_charts, tail_charts = throughput_charts(results), percentile_charts(results)
    return {
        "format": FORMAT,
        "count": len(cells),
        "runs": [one.label for one in results],
        "scales": {name: [astuple(unit) for unit in units] for name, units in wording.SCALES.items()},
        "metrics": [metric_columns(name, cells) for name in metrics_present(cells)],
        "settings": setting_columns(cells),
        "facts": fact_columns(cells),
        "resources": [resource_column(name, cells) for name in resource_names(cells)],
        "verdicts": verdict_columns(cells),
        "command": texts([cell.command for cell in cells]),
        "participants": participant_entries(cells),
        "lines": line_columns(curve_charts, numbers),
        "throughput": [chart_entry(chart, lines_before) for chart, lines_before in counted(curve_charts)],
        "percentiles": [percentile_entry(chart, numbers) for chart in tail_charts],
        "limits": limit_entries(results),
        "scaling": [scaling_entry(chart, numbers) for chart in scaling_charts(results, beside)],
        "network": network.entries(results, numbers),
        "objects": [scaling_entry(chart, numbers) for chart in object_charts(results)],
        "surfaces": [surface_entry(surface, numbers) for surface in surfaces(results)],
        "comparisons": comparison_columns(compared(results), numbers),
        "failed": failed_columns(results),
    }


def compared(results: Sequence[Results]) -> list[Comparison]:
    """Run against run first: who lays runs beside each other asks for that."""
    return [*compare_runs(results), *(pair for one in results for pair in one.comparisons)]


def embedded(document: Mapping[str, Any]) -> str:
    """JSON that cannot end the script element it stands in, whatever foreign strings it holds."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def metric_columns(name: str, cells: Sequence[CellResult]) -> dict[str, Any]:
    """Value, interval, n and method of one metric; None where a cell lacks it."""
    scale = wording.scale_of(name)
    unit, size = STORED[scale]
    estimates = [cell.metrics.get(name) for cell in cells]
    return {
        "name": name,
        "label": wording.label_among(name, cells),
        "scale": scale,
        "unit": unit,
        "size": size,
        "value": column([rounded(one.value / size) if one else None for one in estimates]),
        "low": column([end(one, "low", size) for one in estimates]),
        "high": column([end(one, "high", size) for one in estimates]),
        "n": column([one.n if one else None for one in estimates]),
        "method": column([one.method if one else None for one in estimates]),
    }


def end(estimate: Estimate | None, side: str, size: float) -> float | int | None:
    """One end of an interval in the stored unit."""
    value = getattr(estimate, side) if estimate else None
    return rounded(None if value is None else value / size)


def setting_columns(cells: Sequence[CellResult]) -> list[dict[str, Any]]:
    """All settings that cells carry, in the order in which they first appear; `names` where it tells cells apart."""
    naming = set(wording.naming_settings(cells))
    names = dict.fromkeys(name for cell in cells for name in cell.cell)
    return [{**setting_column(name, cells), "names": name in naming} for name in names]


def setting_column(name: str, cells: Sequence[CellResult]) -> dict[str, Any]:
    """A setting as dictionary column, with each distinct value also in words."""
    values = dictionary([cell.cell.get(name) for cell in cells])
    words = ["" if value is None else wording.setting_value(name, value) for value in values["values"]]
    phrases = ["" if value is None else wording.setting_phrase(name, value) for value in values["values"]]
    return {"name": name, "label": wording.setting_label(name), **values, "words": words, "phrases": phrases}


def fact_columns(cells: Sequence[CellResult]) -> dict[str, Column]:
    """What a cell is and how much it did."""
    latency = STORED["latency"][1]
    return {
        "run": column([cell.run for cell in cells]),
        "experiment": column([cell.experiment for cell in cells]),
        "test": column([cell.test for cell in cells]),
        "operation": column([str(cell.direction) if cell.direction.is_phase else "" for cell in cells]),
        "throughput": column([cell.throughput_metric for cell in cells]),
        "failed": column([sum(cell.failed.values()) for cell in cells]),
        "repeats": column([cell.repeats for cell in cells]),
        "concurrency": column([cell.concurrency for cell in cells]),
        "effective_concurrency": column([rounded(cell.effective_concurrency) for cell in cells]),
        "operations": column([cell.operations for cell in cells]),
        "size_mib": column([rounded(cell.size_bytes / 2**20) for cell in cells]),
        "submission_mean_us": column([rounded_in(cell.submission_mean_ns, latency) for cell in cells]),
        "completion_mean_us": column([rounded_in(cell.completion_mean_ns, latency) for cell in cells]),
    }


def rounded_in(value: float | None, size: float) -> float | int | None:
    """A figure in another unit, or None."""
    return None if value is None else rounded(value / size)


def resource_names(cells: Iterable[CellResult]) -> list[str]:
    """Known resource keys first, in their order, then foreign ones."""
    present = dict.fromkeys(name for cell in cells for name in cell.resources)
    return [name for name in wording.RESOURCES if name in present] + [
        name for name in present if name not in wording.RESOURCES
    ]


def resource_column(name: str, cells: Sequence[CellResult]) -> dict[str, Any]:
    """One counter beside the cells, in its base unit."""
    label, scale = wording.RESOURCES.get(name, (name.replace("_", " "), ""))
    return {
        "name": name,
        "label": label,
        "scale": scale,
        "value": column([rounded(cell.resources.get(name)) for cell in cells]),
    }


def verdict_columns(cells: Sequence[CellResult]) -> dict[str, Any]:
    """One row a verdict: the cell it belongs to, its name, the metrics it spoils, its evidence."""
    rows = [(number, verdict) for number, cell in enumerate(cells) for verdict in cell.verdicts]
    return {
        "cell": [number for number, _ in rows],
        "name": column([str(verdict.name) for _, verdict in rows]),
        "metrics": column([spoiled_metrics(verdict.metrics) for _, verdict in rows]),
        "evidence": texts([verdict.evidence for _, verdict in rows]),
    }


def spoiled_metrics(metrics: tuple[str, ...]) -> str:
    """Metrics in one word list; empty for all of them."""
    return "" if set(metrics) >= set(METRICS) else " ".join(metrics)


def line_columns(charts: Sequence[Chart], numbers: CellNumbers) -> dict[str, Any]:
    """All lines of all throughput charts, one row a line; curves that several charts share are stored once."""
    curves: dict[tuple[int, ...], int] = {}
    rows = [line for chart in charts for line in chart.lines]
    at = [curves.setdefault(cells_of(line, numbers), len(curves)) for line in rows]
    first = dict(zip(reversed(at), reversed(rows), strict=True))
    return {
        "curve": at,
        "label": column([line.label for line in rows]),
        "style": column([line.style for line in rows]),
        "curves": [curve_entry(first[place], list(cells)) for cells, place in curves.items()],
    }


def cells_of(line: Line, numbers: CellNumbers) -> tuple[int, ...]:
    """The numbers of a line's cells."""
    return tuple(numbers[cell] for cell in line.cells)


def curve_entry(line: Line, cells: list[int]) -> list[Any]:
    """Cells, loads, the knee's point, its sentence and whether it is doubtful."""
    knee = [line.knee.point, line.knee.sentence, line.knee.doubtful] if line.knee else []
    return [cells, [rounded(load) for load in line.loads], *knee]


def counted(charts: Sequence[Chart]) -> Iterable[tuple[Chart, int]]:
    """Each chart with the number of lines of the charts before it."""
    before = 0
    for chart in charts:
        yield chart, before
        before += len(chart.lines)


def chart_entry(chart: Chart, lines_before: int) -> dict[str, Any]:
    """A throughput chart as menu entries and the rows of its lines."""
    return {
        "keys": list(chart.keys.values()),
        "from": lines_before,
        "to": lines_before + len(chart.lines),
        "log": chart.y.logarithmic,
        "metric": chart.y.channel,
    }


def scaling_entry(chart: Chart, numbers: CellNumbers) -> dict[str, Any]:
    """Rates of all operations over one load axis, and published ones beside."""
    return {
        "keys": list(chart.keys.values()),
        "x": chart.x.label,
        "lines": [
            [line.label, line.style, *curve_entry(line, list(cells_of(line, numbers)))]
            for line in chart.lines
        ],
        "published": [published_entry(line) for line in chart.published],
    }


def published_entry(line: PublishedLine) -> list[Any]:
    """Label, style, loads, operations a second."""
    return [line.label, line.style, list(line.loads), [rounded(value) for value in line.values]]


def percentile_entry(chart: Chart, numbers: CellNumbers) -> dict[str, Any]:
    """A percentile chart: its lines share their cells."""
    line = chart.lines[0]
    return {
        "keys": list(chart.keys.values()),
        "cells": cells_of(line, numbers),
        "loads": [rounded(load) for load in line.loads],
        "metrics": [line.metric for line in chart.lines],
    }


def limit_entries(results: Sequence[Results]) -> dict[str, list[list[Any]]]:
    """Test -> dashed lines, in bytes per second."""
    curves = [curve for one in results for curve in one.curves]
    tests = {curve.test for curve in curves if curve.throughput_metric == "bandwidth"}
    return {
        test: [[limit.label, limit.value] for limit in test_limits(results, test)] for test in sorted(tests)
    }


def surface_entry(surface: Surface, numbers: CellNumbers) -> dict[str, Any]:
    """A surface as rows of cell numbers, None where there is no cell."""
    return {
        "keys": list(surface.keys.values()),
        "x": axis_entry(surface.x, surface.x_values),
        "y": axis_entry(surface.y, surface.y_values),
        "rows": [[numbers[cell] if cell else None for cell in row] for row in surface.rows],
    }


def axis_entry(axis: Axis, values: Sequence[float | str]) -> dict[str, Any]:
    """An axis of settings with its values as numbers and in words."""
    words = [wording.setting_value(axis.channel, value) for value in values]
    return {"label": axis.label, "log": axis.logarithmic, "values": list(values), "words": words}


def comparison_columns(pairs: Sequence[Comparison], numbers: CellNumbers) -> dict[str, Any]:
    """One row a pair of cells; ratios are right over left."""
    ratios = {
        name: {
            side: column(
                [rounded(getattr(pair.ratios[name], side)) if is_told(pair, name) else None for pair in pairs]
            )
            for side in ("value", "low", "high")
        }
        for name in COMPARED
        if any(is_told(pair, name) for pair in pairs)
    }
    return {
        "axis": column([pair.axis for pair in pairs]),
        "label": column([wording.setting_label(pair.axis) for pair in pairs]),
        "left": [numbers[pair.left] for pair in pairs],
        "right": [numbers[pair.right] for pair in pairs],
        "differs": column([pair.differs for pair in pairs]),
        "ratios": ratios,
    }


def is_told(pair: Comparison, name: str) -> bool:
    """Whether the page shows this ratio: of two throughputs the one that the cell is known by."""
    return name in pair.ratios and (name != "iops" or pair.left.throughput_metric == "iops")


def failed_columns(results: Sequence[Results]) -> dict[str, Any]:
    """Steps that gave no figure."""
    failed = [cell for one in results for cell in one.failed]
    return {
        "count": len(failed),
        "run": [cell.run for cell in failed],
        "experiment": [cell.experiment for cell in failed],
        "cell": [wording.cell_phrase(cell.cell) for cell in failed],
        "repeat": [cell.repeat for cell in failed],
        "reason": texts([cell.reason for cell in failed]),
        "command": texts([cell.command for cell in failed]),
    }
