"""The guarantee ladder: how each guarantee fared on each kind of object, over all histories of a site. Pure counting.

The checker judges one history; repeats are added up. A line that one history violates is violated, and its witness is the smallest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

GUARANTEES = (
    "no_invented_data",
    "no_lost_write",
    "convergence",
    "monotonic_reads",
    "read_your_writes",
    "append_order",
    "close_to_open",
    "bounded_staleness",
    "linearizable",
)
"""From weak to strong: G1 to G9 (docs/concepts/consistency_checking.md)."""
MISSED_BY_CHANCE = 0.05


class Verdict(StrEnum):
    """Never "is consistent": what was seen, and how much was looked at."""

    HELD = "held"
    VIOLATED = "violated"
    NOT_EXERCISED = "not exercised"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Rung:
    """One guarantee on one kind of object."""

    kind: str
    """As the checker names it: "append_log"."""
    guarantee: str
    verdict: Verdict
    unit: str
    """What `checked` and `violating` count."""
    checked: int
    """n: how much could have violated it."""
    violating: int
    """k: how much did."""
    objects: int
    objects_violating: int
    objects_undecided: int
    undecided_because: str
    anomalies: Mapping[str, int]
    least_delay_ns: int | None
    """Of bounded staleness: the least delay that explains every read."""
    least_delay_exact: bool
    witness: Mapping[str, Any] | None
    """anomaly, object, operations, sentence."""

    @property
    def upper_bound(self) -> float | None:
        """Of the rate of violations where none was seen, with 95 % confidence: about 3/n."""
        held = self.verdict is Verdict.HELD and self.checked
        return 1 - MISSED_BY_CHANCE ** (1 / self.checked) if held else None

    @property
    def number(self) -> int:
        """Its place on the ladder, from 1."""
        return GUARANTEES.index(self.guarantee) + 1 if self.guarantee in GUARANTEES else len(GUARANTEES) + 1


def climb(reports: Iterable[Mapping[str, Any]]) -> tuple[Rung, ...]:
    """The ladder of one or several histories of the same site: kind by kind, from weak to strong."""
    found: dict[tuple[str, str], list[Rung]] = {}
    for report in reports:
        for line in report.get("lines", ()):
            rung = rung_of(line)
            found.setdefault((rung.kind, rung.guarantee), []).append(rung)
    return tuple(sorted(map(_added, found.values()), key=lambda rung: (rung.kind, rung.number)))


def rung_of(line: Mapping[str, Any]) -> Rung:
    """A line of the checker's report."""
    return Rung(
        kind=line["kind"],
        guarantee=line["guarantee"],
        verdict=Verdict(line["verdict"].replace("_", " ")),
        unit=line["unit"],
        checked=line["checked"],
        violating=line["violating"],
        objects=line["objects"],
        objects_violating=line["objects_violating"],
        objects_undecided=line["objects_undecided"],
        undecided_because=line["undecided_because"] or "",
        anomalies=dict(line["anomalies"]),
        least_delay_ns=line["least_delay_ns"],
        least_delay_exact=line["least_delay_exact"],
        witness=line["witness"],
    )


def _added(rungs: Sequence[Rung]) -> Rung:
    first = rungs[0]
    if len(rungs) == 1:
        return first
    delays = [each.least_delay_ns for each in rungs if each.least_delay_ns is not None]
    return Rung(
        kind=first.kind,
        guarantee=first.guarantee,
        verdict=_worst(rungs),
        unit=first.unit,
        checked=sum(each.checked for each in rungs),
        violating=sum(each.violating for each in rungs),
        objects=sum(each.objects for each in rungs),
        objects_violating=sum(each.objects_violating for each in rungs),
        objects_undecided=sum(each.objects_undecided for each in rungs),
        undecided_because="; ".join(dict.fromkeys(filter(None, (each.undecided_because for each in rungs)))),
        anomalies=_summed(each.anomalies for each in rungs),
        least_delay_ns=max(delays) if delays else None,
        least_delay_exact=all(each.least_delay_exact for each in rungs),
        witness=_smallest(rungs),
    )


def _worst(rungs: Sequence[Rung]) -> Verdict:
    """Nothing exercised in one repeat says nothing against what another one exercised."""
    present = {each.verdict for each in rungs}
    order = (Verdict.VIOLATED, Verdict.UNDECIDED, Verdict.HELD, Verdict.NOT_EXERCISED)
    return next(verdict for verdict in order if verdict in present)


def _summed(several: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for each in several:
        for name, count in each.items():
            total[name] = total.get(name, 0) + count
    return total


def _smallest(rungs: Sequence[Rung]) -> Mapping[str, Any] | None:
    """Of those that show what the verdict says."""
    worst = _worst(rungs)
    shown = [each.witness for each in rungs if each.witness is not None and each.verdict is worst]
    return min(shown, key=lambda witness: len(witness["operations"]), default=None)
