"""Writes the report's figures as files: what each menu of the page shows first for every test, under a name that says it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from leadline.analyse.results import Results
from leadline.errors import UserError
from leadline.report.figures.curves import throughput_charts
from leadline.report.figures.depth import depth_charts
from leadline.report.figures.figure import Chart, Surface, metrics_present, slug
from leadline.report.figures.paper_charts import draw_chart
from leadline.report.figures.paper_depth import draw_depth
from leadline.report.figures.paper_surfaces import draw_map, draw_surface
from leadline.report.figures.percentiles import percentile_charts
from leadline.report.figures.scaling import scaling_charts
from leadline.report.figures.surfaces import surfaces
from leadline.report.metadata_trees import tables_of

FORMATS = ("svg", "png")
# Text stays text that can be searched and edited; equal results give equal files.
STYLE: Any = {"svg.fonttype": "none", "svg.hashsalt": "leadline", "figure.dpi": 200}


def write_gallery(
    results: Sequence[Results], folder: Path, format: str, metrics: Sequence[str]
) -> list[Path]:
    """All files written, in order; the folder is made where it is missing."""
    if format not in FORMATS:
        raise UserError(f'figures cannot be written as "{format}"; choose "svg" or "png"')
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    with matplotlib.rc_context(STYLE):
        for name, figure in named_figures(results, metrics):
            path = free_path(folder, name, format, written)
            figure.savefig(path, format=format, metadata={"Date": None} if format == "svg" else None)
            written.append(path)
    return written


def free_path(folder: Path, name: str, format: str, written: Sequence[Path]) -> Path:
    """A name of its own for every figure: different titles may shorten to the same name."""
    taken, path, count = set(written), folder / f"{name}.{format}", 1
    while path in taken:
        count += 1
        path = folder / f"{name}-{count}.{format}"
    return path


def named_figures(results: Sequence[Results], metrics: Sequence[str]) -> Iterator[tuple[str, Figure]]:
    """(file name without ending, figure), drawn one by one."""
    for depth in depth_charts(results):
        yield slug(f"depth {depth.run} {depth.title}"), draw_depth(depth)
    for chart in first_of_each(drawable(throughput_charts(results))):
        yield slug(f"throughput {chart.title}"), draw_chart(chart)
    for chart in first_of_each(percentile_charts(results)):
        yield slug(f"percentiles {chart.title}"), draw_chart(chart)
    for chart in scaling_charts(results, tables_of(results)):
        yield slug(f"metadata {chart.title}"), draw_chart(chart)
    for surface in surfaces(results):
        yield from surface_figures(surface, metrics)


def surface_figures(surface: Surface, metrics: Sequence[str]) -> Iterator[tuple[str, Figure]]:
    """A surface as 3D figure and as map, for each metric that it has."""
    for metric in metrics_present(surface.cells, metrics):
        yield slug(f"surface {surface.title} {metric}"), draw_surface(surface, metric)
        yield slug(f"map {surface.title} {metric}"), draw_map(surface, metric)


def drawable(charts: Sequence[Chart]) -> list[Chart]:
    """Charts of cells that have both metrics; a source without percentiles has nothing to lay along the axis."""
    return [
        chart
        for chart in charts
        if all(
            any(axis.channel in cell.metrics for line in chart.lines for cell in line.cells)
            for axis in (chart.x, chart.y)
        )
    ]


def first_of_each(charts: Sequence[Chart]) -> list[Chart]:
    """The first chart of each test and load axis: the one that the page opens with."""
    first: dict[tuple[str, str], Chart] = {}
    for chart in charts:
        first.setdefault((chart.keys["test"], chart.keys["points"]), chart)
    return list(first.values())
