"""Targets against each other, and one client against several, in one sentence each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from leadline.analyse.comparisons import ratio_of
from leadline.analyse.recommendations import best_of_tests, of_data, reservation
from leadline.analyse.results import Answer, CellResult, Curve, Ranking, Results, Standing
from leadline.analyse.wording import digits, listed, percent, settings, throughput

IS = "How fast is it?"
NAMED = 4
"""Targets named behind the best one; the table holds them all."""


def rank_in_words(rankings: Sequence[Ranking]) -> Iterable[Answer]:
    """One sentence a test: who leads, and how far behind the others are."""
    for ranking in sorted(rankings, key=lambda ranking: ranking.standings[0].cell.direction.is_phase):
        leader = ranking.standings[0]
        place = ", ".join(filter(None, (ranking.test, ranking.label)))
        parts = [
            _leads(leader, ranking.standings[1:]),
            *_behind(ranking.standings[1:]),
            *_without_figure(ranking),
        ]
        yield Answer(IS, f"{place}: {'; '.join(parts)}.", leader.cell)


def _leads(leader: Standing, others: Sequence[Standing]) -> str:
    """Where some may not be believed, it is said among how many it leads."""
    figure = throughput(leader.cell, leader.cell.rate.value if leader.cell.rate else 0.0)
    doubt = reservation(leader.cell)
    if doubt:
        return f"no target has a valid point; the highest is {leader.target} with {figure} ({doubt})"
    valid = 1 + sum(_is_valid(other.cell) for other in others)
    if valid <= len(others) and _is_outdone(leader, others):
        among = f"of the {valid} that are valid " if valid > 1 else "the only valid one is "
        return f"{among}{leader.target}{' leads' if valid > 1 else ''} with {figure}"
    return f"{leader.target} leads with {figure}"


def _is_outdone(leader: Standing, others: Sequence[Standing]) -> bool:
    """By one that is not valid, so that nobody knows who leads."""
    best = leader.cell.rate.value if leader.cell.rate else 0.0
    return any(other.cell.rate is not None and other.cell.rate.value > best for other in others)


def _behind(others: Sequence[Standing]) -> list[str]:
    """Valid ones with their ratio; those that are not valid by name only, since they measured something else."""
    valid = [other for other in others if _is_valid(other.cell)]
    doubtful = [other for other in others if not _is_valid(other.cell)]
    words = [f"{other.target} {percent(other.ratio.value)}" for other in valid[:NAMED] if other.ratio]
    left = len(valid) - NAMED
    parts = (
        [f"of that reach {listed([*words, *([f'{left} more less'] if left > 0 else [])])}"] if words else []
    )
    names = [f"{other.target} ({_why(other.cell)})" for other in doubtful[:NAMED]]
    more = len(doubtful) - NAMED
    return parts + (
        [f"not valid: {listed([*names, *([f'{more} more'] if more > 0 else [])])}"] if names else []
    )


def _is_valid(cell: CellResult) -> bool:
    return cell.valid(cell.throughput_metric)


def _why(cell: CellResult) -> str:
    return listed(dict.fromkeys(str(verdict.name) for verdict in cell.spoiled(cell.throughput_metric)))


def _without_figure(ranking: Ranking) -> list[str]:
    return [f"without a figure: {listed(name for name, _ in ranking.absent)}"] if ranking.absent else []


def growth_in_words(results: Results) -> Iterable[Answer]:
    """What more clients bring, on the curve through the best point of each test."""
    for cell in best_of_tests(of_data(results.cells)).values():
        for curve in results.curves:
            if curve.axis == "clients" and any(member is cell for member in curve.cells):
                yield from _growth(curve)
                break


def _growth(curve: Curve) -> Iterable[Answer]:
    """From the fewest clients to the most; perfect growth would be the ratio of their numbers."""
    first, last = curve.cells[0], curve.cells[-1]
    if first.rate is None or last.rate is None:
        return
    ratio = ratio_of(first.rate, last.rate).value
    few, many = int(curve.loads[0]), int(curve.loads[-1])
    doubts = dict.fromkeys(filter(None, (reservation(first), reservation(last))))
    doubt = f", {'; '.join(doubts)}" if doubts else ""
    place = ", ".join(filter(None, (curve.test, settings(first.cell, set(_PLACED) & set(first.cell)))))
    sentence = (
        f"{place}: from {few} to {many} clients throughput grows \u00d7 {digits(ratio)}, "
        f"{percent(ratio * few / many)} of perfect growth{doubt}."
    )
    yield Answer(IS, sentence, last)


_PLACED = ("target", "block_size", "iodepth", "numjobs")
