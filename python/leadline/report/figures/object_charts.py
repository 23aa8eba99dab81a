"""Object stores over load: one line a kind of request, one chart for each store, size of objects and load axis."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.analyse.object_words import group_title
from leadline.analyse.objects import LOAD, READING_ORDER, ObjectGroup, object_groups
from leadline.analyse.results import CellResult, Curve, Results
from leadline.report import wording
from leadline.report.figures.curves import knee, load_axis
from leadline.report.figures.figure import Chart, Line, metric_axis


def object_charts(results: Sequence[Results]) -> list[Chart]:
    """Empty where nothing was measured at two loads."""
    several = len(results) > 1
    return [
        _chart(group, curves, several)
        for one in results
        for group in object_groups(one.cells)
        for curves in _by_axis(group, one.curves)
    ]


def _by_axis(group: ObjectGroup, curves: Sequence[Curve]) -> list[list[Curve]]:
    """The curves of a group that share their axis and what else is held."""
    own = {id(cell.result) for cell in group.cells}
    families: dict[tuple[str, str], list[Curve]] = {}
    for curve in curves:
        if id(curve.cells[0]) in own:
            families.setdefault((curve.axis, _held(curve.cells[0], curve.axis)), []).append(curve)
    return list(families.values())


def _chart(group: ObjectGroup, curves: Sequence[Curve], several: bool) -> Chart:
    first = curves[0]
    cells = [cell for curve in curves for cell in curve.cells]
    return Chart(
        kind="objects",
        keys={
            "run": group.run if several else "",
            "objects": group_title(group),
            "points": wording.setting_label(first.axis),
            "at": _held(first.cells[0], first.axis),
        },
        x=load_axis(first),
        y=metric_axis("iops", True, cells),
        lines=tuple(
            sorted((_line(curve) for curve in curves), key=lambda line: line.style),
        ),
    )


def _line(curve: Curve) -> Line:
    direction = curve.cells[0].direction
    label = direction.removeprefix("object ")
    return Line(label, READING_ORDER.index(direction), curve.cells, curve.loads, knee(curve))


def _held(cell: CellResult, axis: str) -> str:
    """The other load axes in words."""
    return wording.cell_phrase(cell.cell, [name for name in LOAD if name in cell.cell and name != axis])
