"""Metadata in one sentence a question: rates, what more ranks bring, what binds, and the best load of each operation.

Each way (full path, directory-relative, io_uring) has sentences of its own: they are different workloads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from leadline.analyse.attribution import QUESTION as WHERE
from leadline.analyse.attribution import explained, what_binds
from leadline.analyse.comparisons import ratio_of
from leadline.analyse.order import PHASES
from leadline.analyse.recommendations import QUESTION as BEST
from leadline.analyse.recommendations import best_of_tests
from leadline.analyse.results import Answer, CellResult, Curve, Results
from leadline.analyse.standing_words import IS
from leadline.analyse.wording import FULL_PATH, digits, latency, listed, load, operations, percent

_LOAD = ("target", "clients", "numjobs", "iodepth")


def rates_in_words(results: Results) -> Iterable[Answer]:
    """The best rate of every operation, and which of them may not be believed."""
    for way, best in _best_by_way(results).items():
        rates = [f"{cell.direction} {_rate(cell)}{_on_target(cell)}" for cell in best]
        doubt = (
            f"; not valid: {'; '.join(_doubts(best))}" if any(cell.spoiled("iops") for cell in best) else ""
        )
        yield Answer(IS, f"Metadata, {way}, at the best load: {listed(rates)}{doubt}.", best[0])


def _doubts(best: Sequence[CellResult]) -> list[str]:
    """Each verdict once, with the operations that it spoils."""
    found: dict[str, list[str]] = {}
    for cell in best:
        for name in dict.fromkeys(str(verdict.name) for verdict in cell.spoiled("iops")):
            found.setdefault(name, []).append(str(cell.direction))
    return [
        f"{'all of them' if len(touched) == len(best) > 1 else listed(touched)} ({name})"
        for name, touched in found.items()
    ]


def _rate(cell: CellResult) -> str:
    """A rate never goes without its errors; one with a trend has no mean."""
    estimate = cell.metrics["iops"]
    course = f"{operations(estimate.ends[0])} falling to " if estimate.ends and _falls(estimate.ends) else ""
    failed = sum(cell.failed.values())
    return f"{course}{operations(estimate.value)}{f' with {failed:,} failed' if failed else ''}"


def _falls(ends: tuple[float, float]) -> bool:
    return ends[1] < ends[0]


def _on_target(cell: CellResult) -> str:
    return f" on {cell.cell['target']}" if "target" in cell.cell else ""


def scaling_in_words(results: Results) -> Iterable[Answer]:
    """From the least to the most load of each axis, on the curve through the best point of each operation."""
    for way, best in _best_by_way(results).items():
        found: dict[tuple[str, float, float], list[str]] = {}
        for cell in best:
            for curve in results.curves:
                if any(member is cell for member in curve.cells):
                    _add_growth(found, curve)
        for (axis, few, many), parts in found.items():
            span = f"from {load(axis, int(few))} to {load(axis, int(many))}"
            yield Answer(IS, f"Metadata, {way}, {span}: {listed(parts)}.", best[0])


def _add_growth(found: dict[tuple[str, float, float], list[str]], curve: Curve) -> None:
    first, last = curve.cells[0], curve.cells[-1]
    if first.rate is None or last.rate is None:
        return
    doubt = "" if first.valid("iops") and last.valid("iops") else " (not valid)"
    words = f"{first.direction} \u00d7 {digits(ratio_of(first.rate, last.rate).value)}{doubt}"
    found.setdefault((curve.axis, curve.loads[0], curve.loads[-1]), []).append(words)


def bindings_in_words(results: Results) -> Iterable[Answer]:
    """What binds the best point of each operation; operations bound by the same thing together."""
    for way, best in _best_by_way(results).items():
        found: dict[str, list[str]] = {}
        for cell in best:
            name, share = what_binds(cell, results)
            words = f"{cell.direction}{f' {percent(share)}' if share is not None else _waits(cell)}"
            found.setdefault(name, []).append(words)
        parts = [f"{explained(name)} ({listed(words)})" for name, words in found.items()]
        yield Answer(WHERE, f"What binds metadata, {way}: {'; '.join(parts)}.", best[0])


def _waits(cell: CellResult) -> str:
    return f" {latency(cell.metrics['mean'].value)} each" if "mean" in cell.metrics else ""


def settings_in_words(results: Results) -> Iterable[Answer]:
    """The load at which each operation was fastest."""
    for way, best in _best_by_way(results).items():
        said = _by_words(best, _load_in_words)
        parts = [
            f"{listed(str(cell.direction) for cell in cells)} with {words}" for words, cells in said.items()
        ]
        yield Answer(BEST, f"Most operations, {way}: {'; '.join(parts)}.", best[0])


def _load_in_words(cell: CellResult) -> str:
    """Depth 1 goes without saying."""
    said = [name for name in _LOAD if name in cell.cell and (name != "iodepth" or cell.cell[name] != 1)]
    return ", ".join(load(name, cell.cell[name]) for name in said) or "1 rank"


def _by_words(
    cells: Iterable[CellResult], in_words: Callable[[CellResult], str]
) -> Mapping[str, list[CellResult]]:
    found: dict[str, list[CellResult]] = {}
    for cell in cells:
        found.setdefault(in_words(cell), []).append(cell)
    return found


def _best_by_way(results: Results) -> Mapping[str, list[CellResult]]:
    """The best cell of every operation in mdtest's order, by way; mdtest's own way first."""
    found: dict[str, list[CellResult]] = {}
    for cell in best_of_tests([cell for cell in results.cells if cell.direction.is_of_names]).values():
        if cell.phase is not None:
            found.setdefault(cell.phase.way, []).append(cell)
    ordered = {
        way: sorted(best, key=lambda cell: PHASES.index(cell.direction)) for way, best in found.items()
    }
    return dict(sorted(ordered.items(), key=lambda item: item[0] != FULL_PATH))
