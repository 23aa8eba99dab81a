"""Trials of the visibility grid summed up by cell: how long a reader was told what was no longer so, or whether it was lost.

Pure counting. A cell is as bad as its worst trial; the median lies over all trials that were decided, those never seen counting as endless.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from leadline.store.visibility import DECIDED, Cell, Ending, Trial, Visibility

WORST_FIRST = (
    Ending.LOST,
    Ending.NEVER,
    Ending.LATER,
    Ending.AT_ONCE,
    Ending.UNDECIDED,
    Ending.UNSUPPORTED,
)
"""A cell ends as the first of these that one of its trials ended with."""


@dataclass(frozen=True)
class CellWindow:
    """One cell of the matrix."""

    cell: Cell
    endings: Mapping[Ending, int]
    """How many trials ended so; all endings that occurred."""
    median_ns: float | None
    """Of the decided trials: 0 at once, infinite where most were never seen; None where none was decided."""
    worst_ns: float | None
    never_true: Mapping[str, int]
    """Answers that were right neither before nor after the change -> in how many trials they came."""
    example: Trial
    """The worst trial, as the witness."""

    @property
    def ending(self) -> Ending:
        """The worst that happened."""
        return next(ending for ending in WORST_FIRST if self.endings.get(ending))

    @property
    def decided(self) -> int:
        """n: trials that said something."""
        return sum(count for ending, count in self.endings.items() if ending in DECIDED)

    @property
    def stale(self) -> int:
        """Decided trials in which the first answer after the change was not the right one."""
        return self.decided - self.endings.get(Ending.AT_ONCE, 0)


def windows(result: Visibility) -> tuple[CellWindow, ...]:
    """One a cell, in the order in which cells first occur."""
    order = {cell: place for place, cell in reversed(list(enumerate(trial.cell for trial in result.trials)))}
    ordered = sorted(result.trials, key=lambda trial: order[trial.cell])
    return tuple(
        window(cell, list(members)) for cell, members in groupby(ordered, key=lambda trial: trial.cell)
    )


def window(cell: Cell, trials: Sequence[Trial]) -> CellWindow:
    """The trials of one cell."""
    stale_ns = sorted(_stale_ns(trial) for trial in trials if trial.ending in DECIDED)
    never_true = Counter(answer for trial in trials for answer in set(trial.never_true))
    return CellWindow(
        cell,
        Counter(trial.ending for trial in trials),
        _median(stale_ns) if stale_ns else None,
        stale_ns[-1] if stale_ns else None,
        never_true,
        min(trials, key=lambda trial: (WORST_FIRST.index(trial.ending), -(trial.window_ns or 0))),
    )


def _stale_ns(trial: Trial) -> float:
    return math.inf if trial.window_ns is None else float(trial.window_ns)


def _median(ordered: Sequence[float]) -> float:
    """The middle one; of two in the middle their mean, which is endless when one is."""
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
