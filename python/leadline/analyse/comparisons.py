"""Like against like: cells that differ in one setting only, as ratios with intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence, Set
from itertools import pairwise

from leadline.analyse.merge import CellKey, cell_key
from leadline.analyse.results import METRICS, CellResult, Comparison, Estimate, Results
from leadline.analyse.varying import bound_to_target
from leadline.store.records import Scalar

COMPARED = ("target", "ioengine", "direct", "block_size")
RUN = "run"


def compare_cells(cells: Sequence[CellResult]) -> list[Comparison]:
    """Target against target, engine against engine, block size against the next one, all else equal.

    What follows from the target (the engine that reaches it) is part of it and does not keep it from being compared.
    """
    varying = [axis for axis in COMPARED if len({cell.cell[axis] for cell in cells if axis in cell.cell}) > 1]
    bound = bound_to_target(cells) if "target" in varying else set()
    varying = [axis for axis in varying if axis not in bound]
    keys = [_key(cell, bound) for cell in cells] if varying else []
    return [
        comparison
        for axis in varying
        for like in _alike(cells, keys, axis)
        for comparison in _compare_along(axis, like)
    ]


def compare_runs(results: Sequence[Results]) -> list[Comparison]:
    """Every cell of the first run against the same cell of each later one."""
    if len(results) < 2:
        return []
    first, *later = results
    baseline = {(cell.experiment, cell.test, cell_key(cell.cell)): cell for cell in first.cells}
    return [
        compare(RUN, left, right)
        for other in later
        for right in other.cells
        if (left := baseline.get((right.experiment, right.test, cell_key(right.cell)))) is not None
    ]


def compare(axis: str, left: CellResult, right: CellResult) -> Comparison:
    """Right over left in every metric that both have; they are told apart beyond the larger noise floor of the two."""
    ratios = {
        name: ratio_of(left.metrics[name], right.metrics[name])
        for name in METRICS
        if name in left.metrics and name in right.metrics
    }
    noise_floor = max(left.noise_floor or 0.0, right.noise_floor or 0.0)
    return Comparison(
        axis, left, right, ratios, _tells_apart(ratios.get(left.throughput_metric), noise_floor)
    )


def _key(cell: CellResult, bound: Set[str]) -> CellKey:
    return cell_key({name: value for name, value in cell.cell.items() if name not in bound})


def _alike(
    cells: Sequence[CellResult], keys: Sequence[CellKey], axis: str
) -> Iterable[dict[Scalar, CellResult]]:
    """Groups of cells that differ in this axis only, by its value.

    Experiments do not part them: a campaign may give each engine one of its own.
    """
    groups: dict[tuple[object, ...], dict[Scalar, CellResult]] = {}
    for cell, key in zip(cells, keys, strict=True):
        if axis in cell.cell:
            rest = tuple([pair for pair in key if pair[0] != axis])
            groups.setdefault((cell.test, cell.direction, rest), {}).setdefault(cell.cell[axis], cell)
    return [group for group in groups.values() if len(group) > 1]


def _compare_along(axis: str, like: dict[Scalar, CellResult]) -> list[Comparison]:
    """Numbers against the next smaller one, words against the first in the alphabet."""
    values = sorted(like, key=lambda value: (isinstance(value, str), value))
    numeric = all(isinstance(value, int | float) for value in values)
    pairs = pairwise(values) if numeric else ((values[0], value) for value in values[1:])
    return [compare(axis, like[left], like[right]) for left, right in pairs]


def ratio_of(left: Estimate, right: Estimate) -> Estimate:
    """right / left; its interval from both by MOVER on the logarithms (Zou and Donner 2008)."""
    value = right.value / left.value
    low = high = None
    if left.low and left.high and right.low and right.high:
        below = math.hypot(math.log(right.value / right.low), math.log(left.high / left.value))
        above = math.hypot(math.log(right.high / right.value), math.log(left.value / left.low))
        low, high = value * math.exp(-below), value * math.exp(above)
    return Estimate(value, low, high, min(left.n, right.n), "ratio of both intervals")


def _tells_apart(ratio: Estimate | None, noise_floor: float) -> bool | None:
    """The interval excludes 1 and the difference exceeds what the machine differs from itself; unknown without an interval."""
    if ratio is None or ratio.low is None or ratio.high is None:
        return None
    return not ratio.low <= 1 <= ratio.high and abs(ratio.value - 1) > noise_floor
