"""The answers that open a report: one sentence with figures to each question of the reader.

A figure in an answer is a valid point, or the sentence says that it is doubtful.
"""

from __future__ import annotations

from collections.abc import Iterable

from leadline.analyse.attribution import explain_differences
from leadline.analyse.conformance_words import RIGHT, conformance_in_words
from leadline.analyse.consistency_words import consistency_in_words
from leadline.analyse.metadata_words import (
    bindings_in_words,
    rates_in_words,
    scaling_in_words,
    settings_in_words,
)
from leadline.analyse.network import is_of_network
from leadline.analyse.network_words import SHOULD, network_in_words, streams_in_words
from leadline.analyse.object_words import bindings_of_objects, checks_in_words, objects_in_words
from leadline.analyse.prediction.words import predictions_in_words
from leadline.analyse.recommendations import (
    best_cell,
    best_of_tests,
    of_data,
    recommend_settings,
    reservation,
)
from leadline.analyse.results import Answer, CellResult, Curve, Reference, Results, Saturation, VerdictName
from leadline.analyse.sites import shared_links
from leadline.analyse.standing_words import IS, growth_in_words, rank_in_words
from leadline.analyse.wording import bandwidth, digits, iops, listed, percent, setting, settings, throughput
from leadline.store.records import Cell


def answer_questions(results: Results) -> tuple[Answer, ...]:
    """In the order in which a reader asks."""
    return (
        *_expected(results),
        *network_in_words(results),
        *(Answer(SHOULD, sentence) for sentence in predictions_in_words(results.predictions)),
        *rank_in_words(results.rankings),
        *_measured(results),
        *rates_in_words(results),
        *objects_in_words(results),
        *scaling_in_words(results),
        *_saturations(results),
        *growth_in_words(results),
        *_collapses(results),
        *bindings_in_words(results),
        *explain_differences(results),
        *bindings_of_objects(results),
        *streams_in_words(results),
        *conformance_in_words(results.conformance),
        *checks_in_words(results.object_checks),
        *consistency_in_words(results),
        _correct(results),
        *recommend_settings(results),
        *settings_in_words(results),
    )


def _expected(results: Results) -> Iterable[Answer]:
    """Stated limits with the share that was reached, and what this machine itself can do."""
    reference = results.reference
    parts = [*_shares_of_limits(results), *_share_of_links(results), *_own_bounds(reference)]
    if parts:
        unstated = "" if reference.limits else "; no limit of the storage was stated"
        yield Answer(SHOULD, _sentence("; ".join(parts) + unstated))
    elif not any(map(is_of_network, results.cells)):
        sentence = (
            "Not measured: no limit was stated, and neither memory copy nor the generator alone was measured."
        )
        yield Answer(SHOULD, sentence, measured=False)


def _shares_of_limits(results: Results) -> list[str]:
    """Each stated limit with the best measured share of it."""
    parts = []
    for name, limit in sorted(results.reference.limits.items()):
        fitting = [cell for cell in results.cells if name in (cell.test, cell.direction, "network")]
        best = best_cell(fitting, "bandwidth")
        words = f"the stated limit for {name} is {bandwidth(limit)}"
        if best is not None:
            share = best.metrics["bandwidth"].value / limit
            doubt = f" ({reservation(best)})" if reservation(best) else ""
            words += f", of which {best.test} reached {percent(share)}{doubt}"
        parts.append(words)
    return parts


def _share_of_links(results: Results) -> list[str]:
    """What the lab's cables carry, with the best measured share of it."""
    links, best = shared_links(results.sites, results.cells), best_cell(results.cells, "bandwidth")
    if links is None or best is None:
        return []
    share = best.metrics["bandwidth"].value / links[1]
    doubt = f" ({reservation(best)})" if reservation(best) else ""
    return [
        f"the {links[0]} can carry {bandwidth(links[1])}, of which {best.test} reached {percent(share)}{doubt}"
    ]


def _own_bounds(reference: Reference) -> list[str]:
    parts = []
    if reference.memory_copy_bytes_per_second:
        parts.append(f"memory copies {bandwidth(reference.memory_copy_bytes_per_second)}")
    if reference.ceiling_iops:
        parts.append(f"one job of the generator alone makes {iops(reference.ceiling_iops)}")
    return parts


def _measured(results: Results) -> Iterable[Answer]:
    """The best of every test of data in one sentence."""
    best = {test: cell for test, cell in best_of_tests(of_data(results.cells)).items() if cell.rate}
    if not best_of_tests(results.cells):
        yield Answer(IS, "Not measured: no step of this run gave a figure.", measured=False)
    elif best:
        rates = {test: cell.rate.value for test, cell in best.items() if cell.rate}
        parts = [
            f"{test} {throughput(cell, rates[test])}{_on_target(cell)} ({_beside(cell)})"
            for test, cell in best.items()
        ]
        fastest = max(best, key=rates.__getitem__)
        yield Answer(IS, f"At their best settings: {listed(parts)}.", best[fastest])


def _on_target(cell: CellResult) -> str:
    """Only a run of several targets names them."""
    return f" on {cell.cell['target']}" if "target" in cell.cell else ""


def _beside(cell: CellResult) -> str:
    known = cell.metrics.get("iops")
    return "; ".join(filter(None, (iops(known.value) if known else "IOPS unknown", reservation(cell))))


def _saturations(results: Results) -> Iterable[Answer]:
    """Where the curve through the best point of each test bends."""
    for cell in best_of_tests(results.cells).values():
        for curve in results.curves:
            if curve.saturation is not None and any(member is cell for member in curve.cells):
                yield Answer(IS, _bend(curve, curve.saturation), cell)
                break


def _bend(curve: Curve, found: Saturation) -> str:
    place = f"{curve.test}, {curve.label}" if curve.label != curve.test else curve.test
    doubt = ", from points that are not all valid" if found.doubtful else ""
    if found.censored:
        words = (
            "still gained more than 10 % by the last doubling to "
            f"{_load(curve.axis, curve.loads[-1])}: its peak may lie beyond"
        )
        return f"{place}: throughput {words}{doubt}."
    onset = f"queueing begins near {_load(curve.axis, found.onset_load)}, " if found.onset_load else ""
    knee = (
        f"90 % of the peak of {throughput(curve.cells[0], found.peak)} is reached at "
        f"{_load(curve.axis, found.knee_load or 0)}"
    )
    return f"{place}: {onset}{knee}{doubt}."


def _load(axis: str, load: float) -> str:
    """ "iodepth 14", "3.2 jobs": an interpolated load need not be whole."""
    whole = round(load)
    if abs(load - whole) < 0.05 * load:
        return setting(axis, whole)
    plural = {"numjobs": "jobs", "clients": "clients", "concurrency": "requests in flight"}.get(axis)
    return f"{digits(load)} {plural}" if plural else f"{axis} {digits(load)}"


def _collapses(results: Results) -> Iterable[Answer]:
    """The worst collapse, and on how many curves there is one."""
    fallen = [curve for curve in results.curves if curve.saturation and curve.saturation.collapse_load]
    verdicts = [
        (verdict.severity, verdict.evidence, cell)
        for cell in results.cells
        for verdict in cell.verdicts
        if verdict.name is VerdictName.COLLAPSED
    ]
    if not fallen or not verdicts:
        return
    _, evidence, cell = max(verdicts, key=lambda found: found[0])
    sentence = (
        f"Throughput collapses on {len(fallen)} of {len(results.curves)} curves; worst {cell.test}, "
        f"{settings(cell.cell)}: {evidence}."
    )
    yield Answer(IS, sentence, cell)


def _correct(results: Results) -> Answer:
    """What looked at the data itself: fio's verification, and all-reduces that had their results checked."""
    verified = [cell for cell in results.cells if _verifies(cell.cell)]
    broken = sum(_verifies(failed.cell) for failed in results.failed)
    if not verified and not broken:
        elsewhere = [] if results.conformance else ["POSIX conformance: leadline posix"]
        elsewhere += [] if results.consistency else ["consistency between clients: leadline consistency"]
        where = f" ({'; '.join(elsewhere)})" if elsewhere else ""
        sentence = f"Not measured: this run did not verify its data{where}."
        return Answer(RIGHT, sentence, measured=False)
    sentence = f"Data was verified in {_counted(len(verified), 'cell')}; {_counted(broken, 'verifying step')} failed."
    return Answer(RIGHT, sentence)


def _verifies(cell: Cell) -> bool:
    return str(cell.get("verify", "0")) not in ("0", "none", "null", "False")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."
