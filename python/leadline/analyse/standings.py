"""Several targets in one run: for each test, every target at its best settings, ranked, with its ratio to the best."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from leadline.analyse.comparisons import ratio_of
from leadline.analyse.recommendations import best_cell
from leadline.analyse.results import CellResult, FailedCell, Ranking, Standing
from leadline.analyse.varying import TARGET, bound_to_target, of_target, varying_names
from leadline.analyse.wording import settings
from leadline.spec.settings import LOAD_AXES

_FREE = {*LOAD_AXES, "rw", "ioengine", "rate", "runtime", "ramp"}
"""What may differ between the bests of two targets that are compared: each is taken at its own best load."""


def rank_targets(cells: Sequence[CellResult], failed: Sequence[FailedCell]) -> tuple[Ranking, ...]:
    """One ranking for each test and what else is held, of several targets; what one alone was asked to do has none."""
    targets = _targets(cells, failed)
    if len(targets) < 2:
        return ()
    moved = [cell for cell in cells if TARGET in cell.cell and cell.rate is not None]
    free = bound_to_target(cells) | _FREE
    held = sorted(name for name in varying_names(moved) - free if not of_target(name))
    compared = _experiments_of_several(moved)
    groups: dict[tuple[object, ...], list[CellResult]] = {}
    for cell in moved:
        experiment = cell.experiment if cell.experiment in compared else ""
        groups.setdefault((experiment, cell.test, *map(cell.cell.get, held)), []).append(cell)
    named = len(compared) > 1
    asked = _asked(cells, failed)
    found = []
    for members in groups.values():
        experiments = {cell.experiment for cell in members}
        of_these = [target for target in targets if not experiments.isdisjoint(asked[target])]
        if len(of_these) > 1:
            found.append(_ranking(members, held, named, of_these, failed))
    return tuple(found)


def _asked(cells: Sequence[CellResult], failed: Sequence[FailedCell]) -> dict[str, set[str]]:
    """The experiments of each target, of which some figure may have been lost."""
    found: dict[str, set[str]] = {}
    told = [(one.cell, one.experiment) for one in cells] + [(one.cell, one.experiment) for one in failed]
    for cell, experiment in told:
        if TARGET in cell:
            found.setdefault(str(cell[TARGET]), set()).add(experiment)
    return found


def _targets(cells: Sequence[CellResult], failed: Sequence[FailedCell]) -> list[str]:
    named = [cell.cell[TARGET] for cell in cells if TARGET in cell.cell]
    return list(
        dict.fromkeys(map(str, [*named, *(one.cell[TARGET] for one in failed if TARGET in one.cell)]))
    )


def _experiments_of_several(cells: Sequence[CellResult]) -> set[str]:
    """Experiments that measure several targets; one of a single target (its own engine) competes with the others."""
    found: dict[str, set[object]] = {}
    for cell in cells:
        found.setdefault(cell.experiment, set()).add(cell.cell[TARGET])
    return {name for name, targets in found.items() if len(targets) > 1}


def _ranking(
    cells: list[CellResult], held: list[str], named: bool, targets: list[str], failed: Sequence[FailedCell]
) -> Ranking:
    best = {target: best_cell([c for c in cells if c.cell[TARGET] == target]) for target in targets}
    ranked = sorted((cell for cell in best.values() if cell is not None), key=_order)
    leader, first = ranked[0], cells[0]
    words = (first.experiment if named else "", settings(first.cell, held))
    return Ranking(
        run=first.run,
        test=first.test,
        label=", ".join(filter(None, words)),
        standings=tuple(_standing(cell, leader) for cell in ranked),
        absent=tuple((target, _why(target, first, failed)) for target in targets if best[target] is None),
    )


def _order(cell: CellResult) -> tuple[bool, float]:
    """Those that may be believed first, each by throughput: a cached figure leads nothing."""
    return not cell.valid(cell.throughput_metric), -(cell.rate.value if cell.rate else 0.0)


def _standing(cell: CellResult, leader: CellResult) -> Standing:
    ratio = ratio_of(leader.rate, cell.rate) if leader.rate and cell.rate else None
    return Standing(str(cell.cell[TARGET]), cell, None if cell is leader else ratio)


def _why(target: str, like: CellResult, failed: Iterable[FailedCell]) -> str:
    """The first reason that a step of this target and test gave no figure."""
    reasons = (
        one.reason
        for one in failed
        if one.cell.get(TARGET) == target and one.cell.get("rw") == like.cell.get("rw")
    )
    return next(reasons, "not measured")
