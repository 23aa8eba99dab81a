"""What a filesystem promises between clients, and whether the grid saw it kept.

Names after Wang, Mohror and Snir, TPDS 2024 (arXiv 2402.14105): POSIX, commit and session (close-to-open) consistency. A promise covers
some cells and allows each of them a window; an answer that was never true breaks it in any cell that it covers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from leadline.analyse.visibility import CellWindow
from leadline.errors import UserError, did_you_mean
from leadline.spec.units import parse_duration
from leadline.store.visibility import Cell, Ending

DATA = ("overwrite", "append")
SESSIONS = ("open", "append")
"""Probes that open the file anew."""
BOUNDED = "bounded"
RULE_OF_THREE = 3
"""Nothing seen in n trials: with 95 % confidence the rate lies below 3/n."""


class Verdict(StrEnum):
    """Never "is consistent": a grid only tells what it saw."""

    HELD = "held"
    VIOLATED = "violated"
    NOT_EXERCISED = "not exercised"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Promise:
    """Which cells are promised anything, and how late a change may be seen there."""

    name: str
    meaning: str
    covers: Callable[[Cell], bool]
    allowed_ns: float = 0.0
    loses_only: bool = False
    """Whether it promises no more than that nothing is lost."""


@dataclass(frozen=True)
class Kept:
    """A promise held against the grid."""

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

    @property
    def upper_bound(self) -> float | None:
        """Of the share of changes that break it, with 95 % confidence; None where some did."""
        return min(1.0, RULE_OF_THREE / self.decided) if self.verdict is Verdict.HELD else None


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


PROMISES: Mapping[str, Promise] = {
    each.name: each
    for each in (
        Promise("posix", "every change is seen by the next call of anybody", _every),
        Promise(
            "close-to-open", "what was written and closed is seen by whoever opens the file then", _session
        ),
        Promise("commit", "what was written and synchronised is seen by the next read", _commit),
        Promise("locks", "locks exclude, and what was written under a lock is seen under the next", _locks),
        Promise("eventual", "nothing is lost once caches have expired", _every, loses_only=True),
    )
}
"""Name -> promise; `bounded=1s` is made by `promised`."""


def promised(text: str) -> Promise:
    """The promise by its name, or `bounded=DURATION`; raises UserError."""
    name, _, duration = text.partition("=")
    if name == BOUNDED and duration:
        meaning = f"every change is seen within {duration}"
        return Promise(text, meaning, _every, allowed_ns=parse_duration(duration) * 1e9)
    if name == BOUNDED or text not in PROMISES:
        known = [*PROMISES, f"{BOUNDED}=1s"]
        raise UserError(
            f'there is no promise "{text}"{did_you_mean(text, known)} (there are: {", ".join(known)})'
        )
    return PROMISES[text]


def kept(promise: Promise, found: Sequence[CellWindow]) -> Kept:
    """Whether the grid saw it kept. What the filesystem does not offer at all is no violation."""
    covered = [each for each in found if promise.covers(each.cell) and each.ending is not Ending.UNSUPPORTED]
    broken = tuple(each for each in covered if _breaks(promise, each))
    silent = tuple(each for each in covered if not each.decided)
    decided = sum(each.decided for each in covered)
    if broken:
        verdict = Verdict.VIOLATED
    elif silent:
        verdict = Verdict.UNDECIDED
    else:
        verdict = Verdict.HELD if decided else Verdict.NOT_EXERCISED
    return Kept(promise, verdict, len(covered), decided, broken, silent)


def _breaks(promise: Promise, found: CellWindow) -> bool:
    if not found.decided:
        return False
    if promise.loses_only:
        return bool(found.endings.get(Ending.LOST))
    late = found.worst_ns is not None and found.worst_ns > promise.allowed_ns
    return late or bool(found.never_true)
