"""Measured before the cells: the generator alone and memory alone. No figure of a filesystem can lie above them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

from leadline.plan.assumptions import STEP_OVERHEAD_SECONDS
from leadline.plan.expand import job_bytes_of
from leadline.plan.steps import Step
from leadline.store.records import Cell, StepKind

BASELINE_SECONDS = 2.0


def baselines(cells: Iterable[Cell]) -> list[Step]:
    """For these cells that move data, if there are any.

    Memory is copied over as much as the smallest dataset, by all cores, in blocks that stay in the first cache: the
    fastest that a cache could answer any of the cells.
    """
    datasets = [job_bytes_of(cell) for cell in cells]
    if not datasets:
        return []
    null: Cell = {
        "rw": "randread", "block_size": 4096, "iodepth": 1, "numjobs": 1, "ioengine": "null", "direct": False,
        "size": 1 << 40, "nrfiles": 1, "runtime": BASELINE_SECONDS,
    }  # fmt: skip
    memory: Cell = {
        "block_size": 4096,
        "numjobs": os.cpu_count() or 1,
        "size": min(datasets),
        "runtime": BASELINE_SECONDS,
    }
    generator = Step(
        ordinal=0, kind=StepKind.CEILING, experiment="generator ceiling", engine="fio", cell=null
    )
    copying = Step(
        ordinal=0, kind=StepKind.MEMORY, experiment="memory copy", engine="memory_copy", cell=memory
    )
    return [
        replace(step, expected_seconds=BASELINE_SECONDS + STEP_OVERHEAD_SECONDS)
        for step in (generator, copying)
    ]
