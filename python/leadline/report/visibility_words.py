"""The visibility grid in words: the same in the terminal, in the page and in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from leadline.analyse import wording
from leadline.analyse.ladder import Rung, Verdict
from leadline.analyse.promises import STALENESS, Kept
from leadline.analyse.visibility import WORST_FIRST, CellWindow
from leadline.store.visibility import Ending, Visibility

BROKEN_SHOWN = 4
SHADES_NS = (10e6, 200e6, 2e9)
"""Where one shade of a window ends and the next begins."""


@dataclass(frozen=True)
class Word:
    """A cell in short."""

    headline: str
    beside: str
    """n, the worst, and what else there is to know."""
    shade: str
    """What its colour is named after: `once`, `later-0` to `later-3`, `never`, `lost`, `open`."""


def word(found: CellWindow, patience_seconds: float) -> Word:
    """A cell of the matrix: its headline and what stands below it."""
    n = found.decided
    times = found.endings
    match found.ending:
        case Ending.LOST:
            return Word(f"LOST {times[Ending.LOST]} of {n}", _never_true(found), "lost")
        case Ending.NEVER:
            headline = f"never in {patience_seconds:g} s"
            return Word(headline, f"{times[Ending.NEVER]} of {n}{_never_true(found, ', ')}", "never")
        case Ending.LATER:
            median, worst = _duration(found.median_ns), _duration(found.worst_ns)
            return Word(median, f"worst {worst}, n {n}{_never_true(found, ', ')}", _shade(found.worst_ns))
        case Ending.AT_ONCE:
            return Word("at once", f"n {n}", "once")
        case Ending.UNSUPPORTED:
            return Word("not offered", found.example.reason, "open")
        case Ending.UNDECIDED:
            return Word("undecided", found.example.reason, "open")


def _duration(window_ns: float | None) -> str:
    if window_ns is None or math.isinf(window_ns):
        return "never"
    return "at once" if window_ns == 0 else wording.latency(window_ns)


def _shade(worst_ns: float | None) -> str:
    return f"later-{sum(worst_ns is not None and worst_ns > edge for edge in SHADES_NS)}"


def _never_true(found: CellWindow, before: str = "") -> str:
    """Answers that nobody ever should have got: "ENOENT meanwhile"."""
    answers = [answer or "nothing" for answer in found.never_true]
    return f"{before}{wording.listed(answers)} meanwhile" if answers else ""


def headline(found: Sequence[CellWindow]) -> str:
    """The whole grid in one sentence."""
    counts = {ending: sum(each.ending is ending for each in found) for ending in Ending}
    said = [
        (counts[Ending.LOST], "lost something for good"),
        (counts[Ending.NEVER], "never saw the change while it was waited for"),
        (counts[Ending.LATER], "saw it late"),
        (counts[Ending.AT_ONCE], "saw it at once"),
        (counts[Ending.UNDECIDED], "are undecided"),
        (counts[Ending.UNSUPPORTED], "ask for what this filesystem does not offer"),
    ]
    return f"Of {len(found)} cells, {wording.listed(f'{n} {words}' for n, words in said if n)}."


def witness_sentence(found: CellWindow) -> str:
    """What happened in the worst trial of a cell, as a story with times."""
    trial = found.example
    start = f"{trial.writer} made the change ({found.cell.mutation}); then {trial.reader} was told"
    told = [
        f"{each.answer or 'yes'!r} from {wording.latency(each.start_ns)} on ({each.probes} times)"
        for each in trial.seen
    ]
    right = f"right: {trial.expected or 'yes'!r}"
    end = (
        "; at the end "
        + wording.listed(f"{who} saw {what or 'nothing'!r}" for who, what in trial.at_the_end.items())
        if trial.at_the_end and trial.ending in (Ending.LOST, Ending.NEVER)
        else ""
    )
    return f"{start} {', '.join(told) or 'nothing'} ({right}){end}."


def promise_sentence(judged: Kept) -> str:
    """ "close-to-open: held (n 18, violation rate below 17 % with 95 % confidence)"."""
    name = judged.promise.name
    match judged.verdict:
        case Verdict.HELD:
            return f"{name}: held ({'; '.join(_held(judged))})"
        case Verdict.VIOLATED:
            return f"{name}: violated {' and '.join(_violated(judged))}"
        case Verdict.UNDECIDED:
            silent = [
                (len(judged.undecided), "of its cells"),
                (len(judged.undecided_rungs), "of its guarantees"),
            ]
            return f"{name}: undecided, since {wording.listed(f'{n} {what}' for n, what in silent if n)} said nothing"
        case Verdict.NOT_EXERCISED:
            return f"{name}: not exercised, since nothing that was run is about it"


def _held(judged: Kept) -> Iterator[str]:
    if judged.decided:
        bound = wording.percent(judged.upper_bound or 0)
        yield f"n {judged.decided}; fewer than {bound} of changes break it, with 95 % confidence"
    if judged.checked:
        yield f"{judged.checked:,} checks in histories"


def _violated(judged: Kept) -> Iterator[str]:
    if judged.broken:
        yield f"in {len(judged.broken)} of {judged.covered} cells: {_some(judged)} (n {judged.decided})"
    if judged.broken_rungs:
        rungs = [
            f"{rung.guarantee.replace('_', ' ')} of {rung.kind.replace('_', ' ')} ({_amount(rung)})"
            for rung in judged.broken_rungs
        ]
        yield f"by histories: {wording.listed(rungs)}"


def _amount(rung: Rung) -> str:
    if rung.guarantee == STALENESS:
        return f"{'' if rung.least_delay_exact else 'at least '}{wording.latency(rung.least_delay_ns or 0)}"
    return f"{rung.violating:,} of {rung.checked:,}"


def _some(judged: Kept) -> str:
    """The cells that broke it, the worst first and not more than a few."""
    worst = sorted(judged.broken, key=lambda each: WORST_FIRST.index(each.ending))
    shown = [str(each.cell) for each in worst[:BROKEN_SHOWN]]
    more = [f"{len(worst) - BROKEN_SHOWN} more"] if len(worst) > BROKEN_SHOWN else []
    return "; ".join([*shown, *more])


def looked_at(result: Visibility) -> str:
    """Who took part: "A and B (ext4), witness C"."""
    named = [f"{each['name']} {each['directory']}" for each in result.clients]
    kinds = wording.listed(dict.fromkeys(str(each.get("filesystem", "?")) for each in result.clients))
    return f"{wording.listed(named)} ({kinds})"
