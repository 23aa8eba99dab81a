"""The guarantee ladder as a table: guarantees from weak to strong, kinds of objects beside each other, and the witnesses in bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from leadline.analyse import wording
from leadline.analyse.consistency import Sounded
from leadline.analyse.ladder import GUARANTEES, Rung, Verdict
from leadline.report.figures.timeline import Bar, in_letters, timeline

KINDS = {
    "register": "register",
    "append_log": "append log",
    "entry": "name",
    "session_file": "whole file",
    "directory": "listing",
    "name_pair": "rename",
    "attribute": "attribute",
    "locked_counter": "locked counter",
}
"""The checker's name of a kind -> a column's head, in this order."""
WORDS = {
    "no_invented_data": "no invented data",
    "no_lost_write": "no lost write",
    "convergence": "convergence",
    "monotonic_reads": "monotonic reads",
    "read_your_writes": "read your writes",
    "append_order": "append order",
    "close_to_open": "close-to-open",
    "bounded_staleness": "bounded staleness",
    "linearizable": "linearizable",
}


@dataclass(frozen=True)
class Step:
    """A square of the table."""

    shade: str
    """`held`, `violated`, `broken` (violated though promised), `silent`, `undecided`."""
    headline: str
    beside: str
    promised: bool


@dataclass(frozen=True)
class Row:
    """A guarantee on all kinds of objects; None where it is not asked."""

    number: int
    words: str
    steps: tuple[Step | None, ...]


@dataclass(frozen=True)
class Story:
    """A witness: what happened, in words and bars."""

    heading: str
    sentence: str
    bars: tuple[Bar, ...]
    finding: bool
    """Whether what it shows was promised not to happen."""


def kinds_of(sounded: Sounded) -> list[str]:
    """Columns: the kinds of objects that were exercised at all, in the order of KINDS, foreign ones last."""
    present = {rung.kind for rung in sounded.ladder}
    return [kind for kind in KINDS if kind in present] + sorted(present - set(KINDS))


def rows(sounded: Sounded) -> list[Row]:
    """From weak to strong; guarantees that no kind is asked for are left out."""
    columns = kinds_of(sounded)
    by_place = {(rung.guarantee, rung.kind): rung for rung in sounded.ladder}
    return [
        Row(
            number,
            WORDS[guarantee],
            tuple(
                _step(sounded, by_place[guarantee, kind]) if (guarantee, kind) in by_place else None
                for kind in columns
            ),
        )
        for number, guarantee in enumerate(GUARANTEES, 1)
        if any((guarantee, kind) in by_place for kind in columns)
    ]


def _step(sounded: Sounded, rung: Rung) -> Step:
    promised = sounded.is_promised(rung)
    match rung.verdict:
        case Verdict.HELD:
            bound = f"<\u00a0{_share(rung.upper_bound or 0)}\u00a0%"
            return Step("held", "held", f"n\u00a0{rung.checked:,}, {bound}{_delay(rung)}", promised)
        case Verdict.VIOLATED:
            shade = "broken" if sounded.is_finding(rung) else "violated"
            headline = f"{rung.violating:,} of {rung.checked:,}"
            return Step(
                shade, headline, f"{rung.objects_violating} of {rung.objects} objects{_delay(rung)}", promised
            )
        case Verdict.UNDECIDED:
            return Step(
                "undecided", "undecided", f"{rung.objects_undecided} of {rung.objects} objects", promised
            )
        case Verdict.NOT_EXERCISED:
            return Step("silent", "not exercised", "", promised)


def _share(share: float) -> str:
    """In percent with two digits: bounds of many checks are small and never zero."""
    return f"{100 * share:.2g}" if share < 0.1 else f"{100 * share:.0f}"


def _delay(rung: Rung) -> str:
    """Of bounded staleness the amount."""
    if rung.guarantee != "bounded_staleness" or not rung.least_delay_ns:
        return ""
    return f", {'' if rung.least_delay_exact else 'at least '}{wording.latency(rung.least_delay_ns)}"


def stories(sounded: Sounded) -> list[Story]:
    """Each distinct witness of a violation once, what was promised first."""
    return sorted(_stories(sounded), key=lambda story: not story.finding)


def _stories(sounded: Sounded) -> Iterator[Story]:
    names = letters(sounded)
    shown: set[str] = set()
    for rung in sounded.ladder:
        if rung.verdict is not Verdict.VIOLATED or rung.witness is None or rung.witness["sentence"] in shown:
            continue
        shown.add(rung.witness["sentence"])
        yield Story(
            heading=f"{KINDS.get(rung.kind, rung.kind)}: {WORDS.get(rung.guarantee, rung.guarantee)}, {_anomalies(rung)}",
            sentence=in_letters(rung.witness["sentence"], names),
            bars=tuple(timeline(rung.witness, names, rung.kind)),
            finding=sounded.is_finding(rung),
        )


def letters(sounded: Sounded) -> list[str]:
    """Of the clients, by the numbers that records have."""
    return [str(client["name"]) for client in sounded.histories[0].clients] if sounded.histories else []


def _anomalies(rung: Rung) -> str:
    """ "12 stale, 3 lost"."""
    return ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in rung.anomalies.items() if count)


def undecided_words(ladder: Sequence[Rung]) -> list[str]:
    """Why objects were not decided, each reason once."""
    return list(dict.fromkeys(rung.undecided_because for rung in ladder if rung.undecided_because))
