"""What a filesystem promises between clients, and whether the grid and the histories saw it kept.

A promise covers some cells of the grid and allows each of them a window; an answer that was never true breaks it in any cell that it
covers. And it covers some guarantees on some kinds of objects. What is violated without being promised is a measurement; what is
violated though it was promised is a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from leadline.analyse.ladder import Rung, Verdict
from leadline.analyse.visibility import CellWindow
from leadline.spec.promises import PROMISES as MEANINGS
from leadline.spec.promises import bound_seconds
from leadline.store.visibility import Cell, Ending

DATA = ("overwrite", "append")
SESSIONS = ("open", "append")
"""Probes that open the file anew."""
ON_CONTENTS = frozenset({"no_invented_data", "no_lost_write", "convergence", "close_to_open"})
"""Of whole files that are written between open and close, what sessions promise."""
STALENESS = "bounded_staleness"
RULE_OF_THREE = 3
"""Nothing seen in n trials: with 95 % confidence the rate lies below 3/n."""


@dataclass(frozen=True)
class Promise:
    """Which cells are promised anything, and how late a change may be seen there; and which guarantees on which kinds of objects."""

    name: str
    meaning: str
    covers: Callable[[Cell], bool]
    covers_rung: Callable[[Rung], bool]
    allowed_ns: float = 0.0
    loses_only: bool = False
    """Whether it promises no more than that nothing is lost."""


@dataclass(frozen=True)
class Kept:
    """A promise held against the grid and the histories."""

    promise: Promise
    verdict: Verdict
    covered: int
    """Cells that it is about and that the filesystem offers."""
    decided: int
    """n: trials in the cells that it covers."""
    broken: tuple[CellWindow, ...]
    """The cells that broke it."""
    undecided: tuple[CellWindow, ...]
    """Covered cells of which no trial said anything, though the filesystem offers what they are about."""
    checked: int = 0
    """n of the histories: what could have violated the guarantees that it covers."""
    broken_rungs: tuple[Rung, ...] = ()
    """Guarantees that it covers and that histories violate."""
    undecided_rungs: tuple[Rung, ...] = ()

    @property
    def upper_bound(self) -> float | None:
        """Of the share of changes that break it, with 95 % confidence; None where some did, or where the grid said nothing."""
        held = self.verdict is Verdict.HELD and self.decided
        return min(1.0, RULE_OF_THREE / self.decided) if held else None


def _session(cell: Cell) -> bool:
    """Written and closed by one, then opened by the other: contents, not names."""
    return cell.mutation in DATA and cell.writer_sync == "close" and cell.probe in SESSIONS


def _commit(cell: Cell) -> bool:
    return (
        cell.mutation in DATA
        and cell.writer_sync in ("fsync", "O_SYNC", "close")
        and cell.probe in (*SESSIONS, "held")
    )


def _locks(cell: Cell) -> bool:
    return "lock" in cell.mutation or (cell.writer_sync == "unlock" and cell.reader_sync == "lock")


def _every(cell: Cell) -> bool:
    return True


def _every_rung(rung: Rung) -> bool:
    return rung.guarantee != STALENESS  # an amount, which `bounded=` alone asks for


def _sessions_rung(rung: Rung) -> bool:
    """Appends are promised to be seen, as a session is; that no two overlap at the end of the file is more than sessions promise."""
    whole = rung.kind == "session_file" and rung.guarantee in ON_CONTENTS
    return whole or (rung.kind == "append_log" and rung.guarantee == "close_to_open")


def _locks_rung(rung: Rung) -> bool:
    return rung.kind == "locked_counter"


def _eventual_rung(rung: Rung) -> bool:
    return rung.guarantee in ("no_lost_write", "convergence")


def _bounded_rung(rung: Rung) -> bool:
    return rung.guarantee in ("no_invented_data", STALENESS)


PROMISES: Mapping[str, Promise] = {
    each.name: each
    for each in (
        Promise("posix", MEANINGS["posix"], _every, _every_rung),
        Promise("close-to-open", MEANINGS["close-to-open"], _session, _sessions_rung),
        Promise("commit", MEANINGS["commit"], _commit, _sessions_rung),
        Promise("locks", MEANINGS["locks"], _locks, _locks_rung),
        Promise("eventual", MEANINGS["eventual"], _every, _eventual_rung, loses_only=True),
    )
}
"""Name -> promise; `bounded=1s` is made by `promised`."""


def promised(text: str) -> Promise:
    """The promise by its name, or `bounded=DURATION`; raises UserError."""
    seconds = bound_seconds(text)
    if seconds is None:
        return PROMISES[text]
    meaning = f"every change is seen within {text.partition('=')[2]}"
    return Promise(text, meaning, _every, _bounded_rung, allowed_ns=seconds * 1e9)


def kept(promise: Promise, found: Sequence[CellWindow], ladder: Sequence[Rung] = ()) -> Kept:
    """Whether the grid and the histories saw it kept. What the filesystem does not offer at all is no violation."""
    covered = [each for each in found if promise.covers(each.cell) and each.ending is not Ending.UNSUPPORTED]
    broken = tuple(each for each in covered if _breaks(promise, each))
    silent = tuple(each for each in covered if not each.decided)
    rungs = [rung for rung in ladder if promise.covers_rung(rung)]
    broken_rungs = tuple(rung for rung in rungs if breaks_rung(promise, rung))
    silent_rungs = tuple(
        rung for rung in rungs if rung.verdict is Verdict.UNDECIDED and rung not in broken_rungs
    )
    decided, checked = sum(each.decided for each in covered), sum(rung.checked for rung in rungs)
    if broken or broken_rungs:
        verdict = Verdict.VIOLATED
    elif silent or silent_rungs:
        verdict = Verdict.UNDECIDED
    else:
        verdict = Verdict.HELD if decided or checked else Verdict.NOT_EXERCISED
    return Kept(promise, verdict, len(covered), decided, broken, silent, checked, broken_rungs, silent_rungs)


def breaks_rung(promise: Promise, rung: Rung) -> bool:
    """Whether a line of the ladder breaks the promise; of staleness the amount decides, unless no delay explains what was seen."""
    if rung.guarantee == STALENESS:
        return rung.verdict is Verdict.VIOLATED or (rung.least_delay_ns or 0) > promise.allowed_ns
    return rung.verdict is Verdict.VIOLATED


def _breaks(promise: Promise, found: CellWindow) -> bool:
    if not found.decided:
        return False
    if promise.loses_only:
        return bool(found.endings.get(Ending.LOST))
    late = found.worst_ns is not None and found.worst_ns > promise.allowed_ns
    return late or bool(found.never_true)
