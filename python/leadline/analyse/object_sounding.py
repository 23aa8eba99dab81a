"""Records of a sounding outside of campaigns (`leadline objbench`) -> judged cells."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.analyse.analysis import failures_by_cell, judge_cells
from leadline.analyse.curves import lay_lines, mark_collapses
from leadline.analyse.machine import Machine
from leadline.analyse.merge import gather_trials
from leadline.analyse.objects import ObjectCell, object_cells
from leadline.analyse.results import Reference
from leadline.store.records import StepRecord


def judge_objects(records: Sequence[StepRecord], machine: Machine, label: str) -> list[ObjectCell]:
    """In reading order: by size, kind of request and concurrency."""
    groups = [group for group in gather_trials(records) if group.direction.is_of_objects]
    judged = judge_cells(groups, Reference(), machine, failures_by_cell(records), label)
    return object_cells(mark_collapses(judged, lay_lines(judged)))
