"""Best settings: the point a user should run at, for throughput, for IOPS and under a latency bound.

Only valid points are recommended. Where there is none, the best doubtful one is named as doubtful.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from leadline.analyse.network import is_of_network
from leadline.analyse.results import Answer, CellResult, Results
from leadline.analyse.wording import figure, interval, latency, listed, settings

QUESTION = "Best settings"
LATENCY_BOUNDS_NS = (1e6, 10e6)


def recommend_settings(results: Results) -> Iterable[Answer]:
    """For every test of data, in the order in which they were run."""
    for test, cells in cells_by_test(of_data(results.cells)).items():
        yield _most(test, cells, cells[0].throughput_metric, "throughput")
        if len({cell.cell.get("block_size") for cell in cells}) > 1 and any(
            "iops" in c.metrics for c in cells
        ):
            yield _most(test, cells, "iops", "IOPS")
        yield from _under_bounds(test, cells)


def of_data(cells: Sequence[CellResult]) -> list[CellResult]:
    """Without the phases of metadata: ten operations a cell would drown the others (metadata_words.py speaks for them); and without the
    network, which no setting makes faster (network_words.py)."""
    return [cell for cell in cells if not cell.direction.is_phase and not is_of_network(cell)]


def cells_by_test(cells: Sequence[CellResult]) -> dict[str, list[CellResult]]:
    """Cells that moved anything, by test type."""
    tests: dict[str, list[CellResult]] = {}
    for cell in cells:
        if cell.rate is not None:
            tests.setdefault(cell.test, []).append(cell)
    return tests


def best_of_tests(cells: Sequence[CellResult]) -> dict[str, CellResult]:
    """The best cell of every test type."""
    chosen = {test: best_cell(members) for test, members in cells_by_test(cells).items()}
    return {test: cell for test, cell in chosen.items() if cell is not None}


def best_cell(cells: Sequence[CellResult], name: str | None = None) -> CellResult | None:
    """The valid cell with most of the metric; without a valid one the best doubtful one.

    Without a name it is the throughput of the first that has one: cells of one test share it.
    """
    wanted = name or next((cell.throughput_metric for cell in cells if cell.rate is not None), "bandwidth")
    having = [cell for cell in cells if wanted in cell.metrics]
    valid = [cell for cell in having if cell.valid(wanted)]
    return max(valid or having, key=lambda cell: cell.metrics[wanted].value, default=None)


def reservation(cell: CellResult, name: str | None = None) -> str:
    """What must be said beside a figure, the throughput by default: empty when it is valid."""
    names = dict.fromkeys(str(verdict.name) for verdict in cell.spoiled(name or cell.throughput_metric))
    return f"doubtful: {listed(names)}" if names else ""


def _most(test: str, cells: Sequence[CellResult], name: str, word: str) -> Answer:
    best = best_cell(cells, name)
    assert best is not None, "cells_by_test keeps only cells with figures"
    if not best.valid(name):
        sentence = (
            f"{word}, {test}: no point is valid; the best doubtful one is "
            f"{_point(best, name)}, {reservation(best, name)}."
        )
    else:
        sentence = f"{word}, {test}: {_point(best, name)}{_latency_beside(best)}."
    return Answer(QUESTION, f"Most {sentence}", best)


def _under_bounds(test: str, cells: Sequence[CellResult]) -> Iterable[Answer]:
    """By p99 where any p99 of the test is valid, else by the mean, and then it says so."""
    name = next((name for name in ("p99", "mean") if any(_judges(cell, name) for cell in cells)), None)
    if name is None:
        sentence = f"Under a latency bound, {test}: no point is valid in both throughput and latency."
        yield Answer(QUESTION, sentence)
        return
    judged = [cell for cell in cells if _judges(cell, name)]
    for bound_ns in LATENCY_BOUNDS_NS:
        yield _under_bound(test, judged, name, bound_ns)


def _judges(cell: CellResult, name: str) -> bool:
    return cell.valid(cell.throughput_metric) and cell.valid(name)


def _under_bound(test: str, judged: Sequence[CellResult], name: str, bound_ns: float) -> Answer:
    why = "" if name == "p99" else " (no p99 of this test is valid)"
    wanted = f"With {name} <= {latency(bound_ns)}{why}, {test}"
    within = [cell for cell in judged if cell.metrics[name].value <= bound_ns]
    if not within:
        lowest = min(judged, key=lambda cell: cell.metrics[name].value)
        reached = f"the lowest is {latency(lowest.metrics[name].value)} with {_settings(lowest)}"
        return Answer(QUESTION, f"{wanted}: no valid point; {reached}.", lowest)
    best = max(within, key=lambda cell: cell.rate.value if cell.rate else 0.0)
    beside = f"{name} {latency(best.metrics[name].value)}"
    return Answer(QUESTION, f"{wanted}: {_point(best, best.throughput_metric)}, {beside}.", best)


def _point(cell: CellResult, name: str) -> str:
    estimate = cell.metrics[name]
    words = " ".join(
        filter(None, (figure(cell, name, estimate.value), interval(name, estimate.low, estimate.high, cell)))
    )
    return f"{words} with {_settings(cell)}"


def _settings(cell: CellResult) -> str:
    return settings(cell.cell) or cell.experiment


def _latency_beside(cell: CellResult) -> str:
    name = next((name for name in ("p99", "mean") if cell.valid(name)), None)
    return f", {name} {latency(cell.metrics[name].value)}" if name else ""
