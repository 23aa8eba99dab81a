"""The honesty layer for single cells: every verdict in one table, and the judging of a cell by all of them.

"Collapsed" is not here: only a curve shows it (curves.py).
"""

from __future__ import annotations

from collections.abc import Callable

from leadline.analyse.results import Verdict
from leadline.analyse.verdicts import (
    cached,
    completeness,
    concurrency,
    generator,
    impossible,
    names,
    objects,
    repeats,
    samples,
    short_window,
    unsteady,
)
from leadline.analyse.verdicts.context import CellContext

Check = Callable[[CellContext], Verdict | None]

CHECKS: tuple[Check, ...] = (
    impossible.above_a_limit,
    impossible.absent_at_the_devices,
    cached.dataset_fits_memory,
    cached.not_from_the_devices,
    cached.not_over_the_network,
    cached.faster_than_the_device,
    cached.second_pass_faster,
    names.fewer_requests,
    names.faster_than_a_crossing,
    objects.from_memory_of_this_machine,
    generator.busy_jobs,
    generator.busy_machine,
    generator.near_the_ceiling,
    unsteady.not_steady,
    short_window.short_window,
    short_window.not_counted,
    samples.too_few_samples,
    concurrency.inert_axis,
    concurrency.not_overlapping,
    repeats.trend,
    repeats.unlike_repeats,
    completeness.incomplete,
    names.failed_operations,
)


def judge(context: CellContext) -> tuple[Verdict, ...]:
    """All reasons to distrust this cell; empty when it is valid."""
    return tuple(verdict for check in CHECKS if (verdict := check(context)) is not None)
