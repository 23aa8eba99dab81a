"""The visibility grid in words: the same in the terminal, in the page and in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from leadline.analyse import wording
from leadline.analyse.promises import Kept, Verdict
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
            bound = wording.percent(judged.upper_bound or 0)
            return f"{name}: held (n {judged.decided}; fewer than {bound} of changes break it, with 95 % confidence)"
        case Verdict.VIOLATED:
            return f"{name}: violated in {len(judged.broken)} of {judged.covered} cells: {_some(judged)} (n {judged.decided})"
        case Verdict.UNDECIDED:
            return f"{name}: undecided, since {len(judged.undecided)} of its cells said nothing"
        case Verdict.NOT_EXERCISED:
            return f"{name}: not exercised, since no cell that was run is about it"


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
