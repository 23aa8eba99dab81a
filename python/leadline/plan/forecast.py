"""What a plan will cost before it starts: time, bytes and space."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from leadline.plan.metadata import Shape
from leadline.plan.steps import OF_OBJECTS, Step
from leadline.store.records import StepKind

ASSUMED_BRING_UP_SECONDS = 5.0
"""Of a lab target, up and down together: a tenth of a second to half a minute; nothing is judged by it."""


@dataclass(frozen=True)
class Forecast:
    """Totals over the steps; the written bytes of time-bound cells are not known beforehand and not in them."""

    steps: int
    cells: int
    seconds: float
    space_bytes: int
    """The largest layout, tree or set of objects: files of one shape are removed before those of the next are written."""
    written_bytes: int
    """By layouts and size-bound writes."""
    inodes: int = 0
    """Of the largest tree of a cell on metadata."""
    operations: int = 0
    """Of all cells on metadata."""


def forecast(steps: Sequence[Step]) -> Forecast:
    """Adds up what the steps expect of themselves."""
    cells = {
        (step.experiment, tuple(sorted(step.cell.items()))) for step in steps if step.kind is StepKind.CELL
    }
    shapes = [Shape.of(step.cell) for step in steps if step.files == "tree"]
    writing = [step for step in steps if step.expected_bytes and "write" in str(step.cell.get("rw", ""))]
    return Forecast(
        steps=len(steps),
        cells=len(cells),
        seconds=sum(step.expected_seconds for step in steps) + ASSUMED_BRING_UP_SECONDS * bring_ups(steps),
        space_bytes=max((_space_bytes(step) for step in steps), default=0),
        written_bytes=sum(step.expected_bytes or 0 for step in writing),
        inodes=max((shape.inodes for shape in shapes), default=0),
        operations=sum(shape.operations for shape in shapes),
    )


def _space_bytes(step: Step) -> int:
    if step.files == "tree":
        return max(step.site.size_bytes, Shape.of(step.cell).space_bytes(bool(step.site.target)))
    if step.files in OF_OBJECTS:
        return step.site.size_bytes
    return max(step.site.size_bytes, step.layout.total_bytes) if step.layout else 0


def bring_ups(steps: Sequence[Step]) -> int:
    """How often a target of the lab is brought up."""
    return sum(bool(site.target) for site, _ in groupby(steps, key=lambda step: step.site))


def kinds(steps: Sequence[Step]) -> Counter[StepKind]:
    """How many steps of each kind."""
    return Counter(step.kind for step in steps)
