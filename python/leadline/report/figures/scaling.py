"""Metadata over load: rates of all operations over processes, clients or iodepth, knees marked, published rates in grey.

Each way (full path, directory-relative, io_uring) and each tree has charts of its own: their figures are never in one line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from leadline.analyse.order import PHASES
from leadline.analyse.results import CellResult, Curve, Results
from leadline.published.tables import PublishedTable
from leadline.report import wording
from leadline.report.figures.curves import knee, load_axis
from leadline.report.figures.figure import Chart, Line, PublishedLine, metric_axis
from leadline.report.metadata_trees import LOAD, published_rates, published_title, tree_title

STYLES = {direction: place for place, direction in enumerate(PHASES)}


def scaling_charts(results: Sequence[Results], beside: Sequence[PublishedTable] = ()) -> list[Chart]:
    """One chart for each load axis of each tree, way and other load."""
    families: dict[tuple[object, ...], list[Curve]] = {}
    for one in results:
        for curve in one.curves:
            if curve.cells[0].direction.is_of_names:
                families.setdefault(_family(curve), []).append(curve)
    campaigns = {one.label: one.manifest.name for one in results}
    return [_chart(curves, beside, campaigns) for curves in families.values()]


def _family(curve: Curve) -> tuple[object, ...]:
    cell = curve.cells[0]
    rest = frozenset((name, value) for name, value in cell.cell.items() if name != curve.axis)
    return curve.run, curve.experiment, curve.axis, rest


def _chart(curves: Sequence[Curve], beside: Sequence[PublishedTable], campaigns: Mapping[str, str]) -> Chart:
    first = curves[0]
    cell, cells = first.cells[0], [cell for curve in curves for cell in curve.cells]
    return Chart(
        kind="metadata",
        keys={
            "run": first.run if len(campaigns) > 1 else "",
            "tree": tree_title(cell),
            "points": wording.setting_label(first.axis),
            "at": _held(cell, first.axis),
        },
        x=load_axis(first),
        y=metric_axis("iops", True, cells),
        lines=tuple(_line(curve) for curve in curves),
        published=tuple(_published(cell, beside, campaigns[first.run])) if first.axis == "numjobs" else (),
    )


def _held(cell: CellResult, axis: str) -> str:
    """The other load axes in words."""
    return wording.cell_phrase(cell.cell, [name for name in LOAD if name in cell.cell and name != axis])


def _line(curve: Curve) -> Line:
    direction = curve.cells[0].direction
    return Line(str(direction), STYLES[direction], curve.cells, curve.loads, knee(curve))


def _published(cell: CellResult, beside: Sequence[PublishedTable], campaign: str) -> Iterable[PublishedLine]:
    """Rates over processes: of a run with one client, whose jobs they are."""
    for table in beside:
        rates = published_rates(table, cell, campaign) if cell.cell.get("clients", 1) == 1 else {}
        for direction, style in STYLES.items():
            points = [(processes, row[direction]) for processes, row in rates.items() if direction in row]
            if points:
                loads, values = zip(*points, strict=True)
                yield PublishedLine(f"{direction}, {published_title(table, cell)}", style, loads, values)
