"""Object stores in one sentence a question: the best rate of each kind of request, what binds it, and what the store can do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from leadline.analyse.attribution import QUESTION as WHERE
from leadline.analyse.bottleneck import Bound, in_words, named_by_counters
from leadline.analyse.conformance_words import RIGHT
from leadline.analyse.objects import ObjectCell, ObjectGroup, best_of, object_groups
from leadline.analyse.recommendations import reservation
from leadline.analyse.results import Answer, Results
from leadline.analyse.standing_words import IS
from leadline.analyse.wording import bandwidth, count, listed, settings, size
from leadline.spec.settings import is_of_site
from leadline.store.object_checks import DOCUMENT, FAILED, NOT_SUPPORTED, PASSED, ObjectChecks, checks_of
from leadline.store.records import Cell, StepRecord

COUNTED_SECONDS = 2.0
"""Counters are read once a second: a phase needs whole samples of its own."""


def gather_checks(records: Sequence[StepRecord]) -> tuple[ObjectChecks, ...]:
    """What each store can do, in the order of the plan; labelled by the settings of its site, where there are any."""
    found = []
    for record in sorted(records, key=lambda record: record.ordinal):
        if DOCUMENT in record.documents:
            one = checks_of(record.documents[DOCUMENT], f"step {record.ordinal}")
            found.append(replace(one, label=_site_words(record.cell) or one.label))
    return tuple(found)


def objects_in_words(results: Results) -> Iterable[Answer]:
    """The best rate of every kind of request, one sentence for each store and size of objects."""
    for group in object_groups(results.cells):
        best = [cell for each in group.directions if (cell := best_of(group, each)) is not None]
        if best:
            rates = listed(f"{request(cell)} {rate(cell)}" for cell in best)
            yield Answer(
                IS, f"Object store, {group_title(group)}, at the best load: {rates}.", best[0].result
            )


def bindings_of_objects(results: Results) -> Iterable[Answer]:
    """What binds the best point of the requests that move data, as far as counters tell."""
    for group in object_groups(results.cells):
        best = [cell for each in group.directions if (cell := best_of(group, each)) is not None]
        told = [
            f"{request(cell)}: {words}"
            for cell in best
            if cell.result.size_bytes and (words := binding(cell, results))
        ]
        if told:
            yield Answer(WHERE, f"Object store, {group_title(group)}: {'; '.join(told)}.", best[0].result)


def binding(cell: ObjectCell, results: Results) -> str:
    """What binds a kind of request; empty where it was over before counters could tell it from the others.

    Processors of a lab's clients and servers are counted over all requests of a step: used up there is used up, but room there is none.
    """
    result, rate = cell.result, cell.result.metrics.get("iops")
    named = named_by_counters(result, results)
    if named is None or rate is None or result.operations < rate.value * result.repeats * COUNTED_SECONDS:
        return ""
    if named.bound is Bound.LATENCY and result.hosts:
        return "nothing used up, as far as all requests of the cell together tell"
    return in_words(result, results)


def checks_in_words(checks: Sequence[ObjectChecks]) -> Iterable[Answer]:
    """How many passed, and which did not."""
    for one in checks:
        parts = [f"{len(one.named(PASSED))} of {len(one.checks)} functional checks passed"]
        for result, words in ((FAILED, "failed"), (NOT_SUPPORTED, "not supported")):
            if names := one.named(result):
                parts.append(f"{words}: {listed(names)}")
        yield Answer(RIGHT, f"Object store{f' {one.label}' if one.label else ''}: {'; '.join(parts)}.")


def group_title(group: ObjectGroup) -> str:
    """ "128 KiB objects on s3", "32 MiB objects in parts of 8 MiB"."""
    cell = group.settings
    parts = f" in parts of {size(int(cell['part_size']))}" if "part_size" in cell else ""
    target = _site_words(cell)
    return f"{size(int(cell['object_size']))} objects{parts}{f' on {target}' if target else ''}"


def request(cell: ObjectCell) -> str:
    """ "put", "multipart put"."""
    return cell.result.direction.removeprefix("object ")


def rate(cell: ObjectCell) -> str:
    """Bytes where bytes moved, else objects; with its load, and never without its doubts and errors."""
    result = cell.result
    moved = result.metrics.get("bandwidth")
    figure = bandwidth(moved.value) if moved else f"{count(cell.objects_per_second or 0)} objects/s"
    failed = sum(result.failed.values())
    beside = [
        f"{result.concurrency} in flight",
        *([f"{failed:,} failed"] if failed else []),
        *filter(None, [reservation(result)]),
    ]
    return f"{figure} ({'; '.join(beside)})"


def _site_words(cell: Cell) -> str:
    own: Mapping[str, object] = {name: value for name, value in cell.items() if is_of_site(name)}
    return settings(cell, list(own))
