"""A/A: one cell of each site again and again, spread over all visits to it, which shows how much it differs from itself.

A site that is brought up anew for every round differs more from itself than one that stays: new disks, new processes, another hour.
So each site answers for itself, and in every round.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from leadline.plan.sites import Site
from leadline.plan.steps import WITHOUT_RATE, Step
from leadline.store.records import StepKind

Stretch = tuple[int, int]
"""First place and one past the last."""

PREFERRED: tuple[Callable[[Step], bool], ...] = (
    lambda step: step.cell.get("rw") in ("read", "randread"),
    lambda step: step.files == "reuse",
    lambda step: step.files not in WITHOUT_RATE,
)
"""Best a cell that works on existing files and only reads them."""


def with_noise(steps: list[Step], repeats: int) -> list[Step]:
    """The steps with `repeats` reference steps for each site between them."""
    wanted: defaultdict[int, list[Step]] = defaultdict(list)
    for site in dict.fromkeys(step.site for step in steps):
        for place, step in _placed(steps, site, repeats):
            wanted[place].append(step)
    return [each for place, step in enumerate([*steps, None]) for each in (*wanted[place], step) if each]


def _placed(steps: Sequence[Step], site: Site, repeats: int) -> Iterator[tuple[int, Step]]:
    """Before which step each repeat stands."""
    cells = [
        step
        for step in steps
        if step.kind is StepKind.CELL and step.site == site and step.files not in WITHOUT_RATE
    ]
    if not cells:
        return
    fits = next(test for test in PREFERRED if any(map(test, cells)))
    reference = replace(next(filter(fits, cells)), kind=StepKind.NOISE)
    stretches = list(_stretches(steps, reference, fits))
    shares = groupby(range(repeats), lambda index: index * len(stretches) // repeats)
    for number, indices in shares:
        own = list(indices)
        for place, index in zip(_spread(stretches[number], len(own)), own, strict=True):
            yield place, replace(reference, repeat=index)


def _stretches(steps: Sequence[Step], reference: Step, fits: Callable[[Step], bool]) -> Iterator[Stretch]:
    """Cells in a row on the reference's files, from the first that fits; a layout step or another site ends it."""
    place = 0
    while place < len(steps):
        first = place
        while place < len(steps) and _on_the_same_files(steps[place], reference):
            place += 1
        begin = next((each for each in range(first, place) if fits(steps[each])), None)
        if begin is not None:
            yield begin, place
        place = max(place, first + 1)


def _on_the_same_files(step: Step, reference: Step) -> bool:
    return step.kind is StepKind.CELL and step.layout == reference.layout and step.site == reference.site


def _spread(stretch: Stretch, count: int) -> list[int]:
    """From its beginning to its end; a single one in the middle."""
    first, last = stretch
    if count == 1:
        return [(first + last) // 2]
    return [first + round(index * (last - first) / (count - 1)) for index in range(count)]
