"""Cells -> curves: cells that differ in one load axis only, their saturation, and which of them collapsed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from leadline.analyse.merge import cell_key
from leadline.analyse.results import CellResult, Curve, Saturation, Verdict, VerdictName
from leadline.analyse.saturation import COLLAPSE_SHARE, find_saturation, has_collapsed
from leadline.analyse.varying import bound_to_target, by_test, varying_settings
from leadline.analyse.wording import percent, setting, settings, throughput
from leadline.spec.settings import LOAD_AXES
from leadline.store.records import Cell, Scalar

_UNUSABLE = {VerdictName.IMPOSSIBLE, VerdictName.CACHED, VerdictName.TREND, VerdictName.INCOMPLETE}
_ALWAYS_FIXED = ("target", "block_size", "ioengine", *LOAD_AXES)
LARGEST_LOSS = 1 - COLLAPSE_SHARE


@dataclass(frozen=True)
class Line:
    """A curve before its cells are final: places in the list of cells, by ascending load."""

    axis: str
    places: tuple[int, ...]
    loads: tuple[float, ...]
    saturation: Saturation | None


def lay_lines(cells: Sequence[CellResult]) -> list[Line]:
    """Every line of at least two loads along each load axis."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for place, cell in enumerate(cells):
        key = cell_key(cell.cell)
        for axis in LOAD_AXES:
            if _load(cell, axis) is not None:
                rest = tuple([pair for pair in key if pair[0] != axis])
                groups.setdefault((axis, cell.experiment, cell.test, rest), []).append(place)
    return [_line(str(key[0]), places, cells) for key, places in groups.items() if len(places) > 1]


def mark_collapses(cells: Sequence[CellResult], lines: Iterable[Line]) -> list[CellResult]:
    """The cells again; those far below the peak of a line, at a higher load than it, with the verdict."""
    found: dict[int, list[Verdict]] = {}
    for line in lines:
        for place, verdict in _collapses(cells, line):
            found.setdefault(place, []).append(verdict)
    return [
        replace(cell, verdicts=(*cell.verdicts, *found[place])) if place in found else cell
        for place, cell in enumerate(cells)
    ]


def draw_curves(cells: Sequence[CellResult], lines: Iterable[Line]) -> list[Curve]:
    """The lines with their final cells and names."""
    varying = varying_settings(cells, by_test)
    curves, unsaid = [], bound_to_target(cells) | {"rw"}
    for line in lines:
        members = [cells[place] for place in line.places]
        curves.append(_curve(line, members, varying[by_test(members[0])] - unsaid - {line.axis}))
    return curves


def _line(axis: str, places: list[int], cells: Sequence[CellResult]) -> Line:
    ordered = sorted(places, key=lambda place: _load(cells[place], axis) or 0.0)
    loads = tuple(_load(cells[place], axis) or 0.0 for place in ordered)
    return Line(axis, tuple(ordered), loads, _saturation(loads, [cells[place] for place in ordered]))


def _saturation(loads: Sequence[float], cells: Sequence[CellResult]) -> Saturation | None:
    """From the points that measured this path, if three are left; else from all, marked doubtful."""
    points = [(load, cell) for load, cell in zip(loads, cells, strict=True) if cell.rate is not None]
    usable = [(load, cell) for load, cell in points if not any(v.name in _UNUSABLE for v in cell.verdicts)]
    chosen = usable if len(usable) >= 3 else points
    found = find_saturation(
        [load for load, _ in chosen], [cell.rate.value for _, cell in chosen if cell.rate is not None]
    )
    doubtful = any(not cell.valid(cell.throughput_metric) for _, cell in chosen)
    return replace(found, doubtful=True) if found and doubtful else found


def _collapses(cells: Sequence[CellResult], line: Line) -> Iterable[tuple[int, Verdict]]:
    """Places beyond the peak with their verdict."""
    if line.saturation is None or line.saturation.collapse_load is None:
        return
    for place, load in zip(line.places, line.loads, strict=True):
        rate = cells[place].rate
        beyond = load > line.saturation.peak_load
        if rate is not None and beyond and has_collapsed(rate.value, line.saturation.peak):
            yield place, _collapse(cells[place], line.axis, load, rate.value, line.saturation)


def _collapse(cell: CellResult, axis: str, load: float, rate: float, found: Saturation) -> Verdict:
    in_words = partial(throughput, cell)
    loss, floor = 1 - rate / found.peak, cell.noise_floor or 0.0
    noise = f"; the noise floor is {percent(floor)}" if floor >= loss else ""
    evidence = (
        f"{in_words(rate)} at {setting(axis, _whole(load))} is {percent(loss)} below the peak of "
        f"{in_words(found.peak)} at {setting(axis, _whole(found.peak_load))} "
        f"(at most {percent(LARGEST_LOSS)}{noise})"
    )
    return Verdict(VerdictName.COLLAPSED, evidence, severity=loss / LARGEST_LOSS)


def _curve(line: Line, cells: list[CellResult], told_apart: set[str]) -> Curve:
    first = cells[0]
    shown = told_apart | (set(_ALWAYS_FIXED) - {line.axis})
    fixed: Cell = {name: first.cell[name] for name in first.cell if name in shown}
    label = settings(first.cell, told_apart) or settings(first.cell, ("block_size",)) or first.test
    return Curve(
        run=first.run,
        experiment=first.experiment,
        test=first.test,
        axis=line.axis,
        fixed=fixed,
        label=label,
        loads=line.loads,
        cells=tuple(cells),
        saturation=line.saturation,
    )


def _load(cell: CellResult, axis: str) -> float | None:
    value: Scalar | None = None if axis == "iodepth" and cell.direction.is_of_trees else cell.cell.get(axis)
    return float(value) if isinstance(value, int | float) and value > 0 else None


def _whole(load: float) -> Scalar:
    return int(load) if load == int(load) else load
