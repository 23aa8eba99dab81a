"""The section "Object store": what each store can do, and a table of rates for each size of objects, with what binds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leadline.analyse.object_words import binding, group_title, request
from leadline.analyse.objects import ObjectCell, ObjectGroup, object_groups
from leadline.analyse.results import Estimate, Results
from leadline.analyse.wording import bandwidth, count, failures, latency, listed
from leadline.store.object_checks import FAILED, NOT_SUPPORTED, PASSED, Check

HEADS = (
    "request", "in flight", "throughput", "objects/s", "95 % interval", "p50", "p99", "n", "requests a CPU second",
)  # fmt: skip
CHECK_WORDS = {PASSED: "passed", FAILED: "FAILED", NOT_SUPPORTED: "not supported"}
HOLLOW = "○ "
ABSENT = "–"


@dataclass(frozen=True)
class Line:
    """One kind of request at one load."""

    figures: tuple[str, ...]
    """By HEADS."""
    verdict: str
    evidence: str
    binds: str
    """What counters say."""


@dataclass(frozen=True)
class Table:
    """One store, objects of one size."""

    run: str
    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class CheckTable:
    """The functional checks: a row a check, a column a store."""

    stores: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...]
    """Name; of each store result, words and reason."""


def tables(results: Sequence[Results]) -> list[Table]:
    """In the order of the cells; none where no store was measured."""
    return [_table(group, one) for one in results for group in object_groups(one.cells)]


def check_table(results: Sequence[Results]) -> CheckTable | None:
    """All stores of all runs beside each other; None where no store was tried out."""
    several = len(results) > 1
    found = [
        (", ".join(filter(None, (checks.label, one.label if several else ""))) or "result", checks)
        for one in results
        for checks in one.object_checks
    ]
    names = dict.fromkeys(check.name for _, checks in found for check in checks.checks)
    rows = tuple((name, tuple(_outcome(name, checks.checks) for _, checks in found)) for name in names)
    return CheckTable(tuple(label for label, _ in found), rows) if found else None


def _outcome(name: str, checks: Sequence[Check]) -> tuple[str, str, str]:
    for check in checks:
        if check.name == name:
            return check.result, CHECK_WORDS.get(check.result, check.result), check.reason
    return "", ABSENT, ""


def _table(group: ObjectGroup, one: Results) -> Table:
    return Table(group.run, group_title(group), tuple(_line(cell, one) for cell in group.cells))


def _line(cell: ObjectCell, one: Results) -> Line:
    result = cell.result
    moved, rate = result.metrics.get("bandwidth"), result.metrics.get("iops")
    per_cpu = cell.requests_per_cpu_second
    figures = (
        request(cell), in_flight(cell),
        _mark(cell, "bandwidth") + bandwidth(moved.value) if moved else ABSENT,
        _mark(cell, "iops") + count(cell.objects_per_second) if cell.objects_per_second is not None else ABSENT,
        _interval(cell, rate), _latency(cell, "p50"), _latency(cell, "p99"), f"{result.operations:,}",
        count(per_cpu) if per_cpu else ABSENT,
    )  # fmt: skip
    return Line(
        figures=figures,
        verdict=_verdict(cell),
        evidence="; ".join(verdict.evidence for verdict in result.verdicts),
        binds=binding(cell, one) or "too short to say",
    )


def _verdict(cell: ObjectCell) -> str:
    """The names of all, or "valid"; failed requests with the server's own codes."""
    result = cell.result
    names = listed(dict.fromkeys(str(verdict.name) for verdict in result.verdicts)) or "valid"
    return f"{names} ({failures(result.failed)})" if result.failed else names


def in_flight(cell: ObjectCell) -> str:
    """ "8", "8 x 2 clients", "8 by 4 instances" where those were an axis."""
    known = cell.result.cell
    parts = [str(known.get("concurrency", cell.result.concurrency))]
    parts += [f" x {known['clients']} clients"] if int(known.get("clients", 1)) > 1 else []
    parts += [f" by {known['instances']} instances"] if "instances" in known else []
    return "".join(parts)


def _interval(cell: ObjectCell, rate: Estimate | None) -> str:
    """In objects, as the rate beside it."""
    if rate is None or rate.low is None or rate.high is None or not cell.objects_per_second:
        return ABSENT
    each = cell.objects_per_second / rate.value
    return f"{count(rate.low * each)} to {count(rate.high * each)}"


def _latency(cell: ObjectCell, metric: str) -> str:
    found = cell.result.metrics.get(metric)
    return _mark(cell, metric) + latency(found.value) if found else ABSENT


def _mark(cell: ObjectCell, metric: str) -> str:
    return "" if cell.result.valid(metric) else HOLLOW
