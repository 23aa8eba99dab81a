"""Who decides what comes next. The conductor asks after every step and hands over what is known so far.

Today every plan is a fixed list. A planner that chooses its next cell from the results (adaptive sampling) is another
class with the same two members; the conductor, the store and resuming do not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from leadline.plan.steps import Step
from leadline.store.records import StepRecord


class Planner(Protocol):
    """Chooses the next step."""

    def next_step(self, done: Sequence[StepRecord]) -> Step | None:
        """The next step given all records so far; None when there is nothing left to do."""
        ...

    def remaining(self, done: Sequence[StepRecord]) -> Sequence[Step]:
        """The best present guess of what is still to come, for the time left."""
        ...


@dataclass(frozen=True)
class FixedPlan:
    """All steps known beforehand, in order."""

    steps: tuple[Step, ...]

    def next_step(self, done: Sequence[StepRecord]) -> Step | None:
        """The first step without a record."""
        return next(iter(self.remaining(done)), None)

    def remaining(self, done: Sequence[StepRecord]) -> Sequence[Step]:
        """The steps without a record."""
        finished = {record.ordinal for record in done}
        return [step for step in self.steps if step.ordinal not in finished]
