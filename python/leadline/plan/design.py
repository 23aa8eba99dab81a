"""Campaign -> plan: which cells, in which order, on which files, and what that will cost in time and bytes.

Cells that share files stand together, so that the space needed is that of the largest layout and not of all; inside
such a group the order is drawn by the campaign's seed, so that drift of the machine does not look like an axis.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random

from leadline.plan.expand import Scaling, expand, job_bytes_of, layout_of
from leadline.plan.planner import FixedPlan
from leadline.plan.steps import Layout, Step
from leadline.spec.campaign import Campaign, Experiment
from leadline.store.records import Cell, StepKind

ASSUMED_BYTES_PER_SECOND = 400e6
"""For forecasting steps that are bound by size; nothing is judged by it."""
SLOWEST_BYTES_PER_SECOND = 10e6
"""A size-bound step slower than this is taken for hung, unless the campaign sets `timeout`."""
STEP_OVERHEAD_SECONDS = 0.45
"""Start and end of fio and of leadline around it: 0.3-0.5 s for 1-16 jobs on two cores (benchmarks/overhead.py)."""
TIMEOUT_MARGIN_SECONDS = 60.0
BASELINE_SECONDS = 2.0


@dataclass(frozen=True)
class _Draft:
    """A cell before it has its place in the order."""

    experiment: Experiment
    cell: Cell
    repeat: int

    @property
    def fresh(self) -> bool:
        """A sequential write that ends with its bytes creates its files; everything else needs them to be there."""
        return self.cell["rw"] == "write" and "runtime" not in self.cell

    @property
    def layout(self) -> Layout:
        return layout_of(self.cell)


def design(campaign: Campaign) -> tuple[FixedPlan, Scaling]:
    """The plan, and what scaling changed. Raises UserError for cells that cannot be."""
    scaling = Scaling(campaign.scale)
    cells = [(experiment, list(expand(experiment, scaling))) for experiment in campaign.experiment]
    drafts = [
        _Draft(experiment, cell, repeat)
        for experiment, own in cells
        for repeat in range(experiment.repeats)
        for cell in own
    ]
    ordered = (
        _as_written(drafts) if campaign.order == "as written" else _randomised(drafts, Random(campaign.seed))
    )
    steps = [
        *(_baselines(drafts) if campaign.baselines else ()),
        *_with_noise(ordered, campaign.noise_repeats),
    ]
    return FixedPlan(
        tuple(
            replace(step, ordinal=place, seed=campaign.seed + step.repeat) for place, step in enumerate(steps)
        )
    ), scaling


def _as_written(drafts: Sequence[_Draft]) -> list[Step]:
    """In the order of the file; files are laid out before the first cell that misses them.

    Only one layout is on the disk at a time (run/layouts.py): a cell of another shape makes room for its own.
    """
    steps: list[Step] = []
    present: tuple[str, int] = ("", 0)
    jobs = _most_jobs(drafts)
    for draft in drafts:
        layout = replace(draft.layout, jobs=jobs[draft.layout.key])
        if draft.fresh:
            present = (layout.key, draft.layout.jobs)
        elif present[0] != layout.key or present[1] < draft.layout.jobs:
            steps.append(layout_step(layout, draft.experiment.name))
            present = (layout.key, layout.jobs)
        # Where a write has left enough files for this cell, they are what it needs, even if later cells need more.
        steps.append(_cell_step(draft, replace(layout, jobs=present[1])))
    return steps


def _randomised(drafts: Sequence[_Draft], random: Random) -> list[Step]:
    """Groups of one layout in random order; inside: creating writes first, then everything that works on existing files."""
    groups: defaultdict[str, list[_Draft]] = defaultdict(list)
    for draft in drafts:
        groups[draft.layout.key].append(draft)
    jobs = _most_jobs(drafts)
    keys = list(groups)
    random.shuffle(keys)
    steps: list[Step] = []
    for key in keys:
        layout = replace(groups[key][0].layout, jobs=jobs[key])
        creating = _shuffled_rounds([draft for draft in groups[key] if draft.fresh], random)
        working = _shuffled_rounds([draft for draft in groups[key] if not draft.fresh], random)
        steps += [_cell_step(draft, layout) for draft in creating]
        if working:
            steps.append(layout_step(layout, working[0].experiment.name))
        steps += [_cell_step(draft, layout) for draft in working]
    return steps


def _shuffled_rounds(drafts: Iterable[_Draft], random: Random) -> list[_Draft]:
    """Repeat by repeat, each in an order of its own: a slow hour then hits one repeat of all cells, not all of one."""
    rounds: defaultdict[int, list[_Draft]] = defaultdict(list)
    for draft in drafts:
        rounds[draft.repeat].append(draft)
    for each in rounds.values():
        random.shuffle(each)
    return [draft for repeat in sorted(rounds) for draft in rounds[repeat]]


def _most_jobs(drafts: Iterable[_Draft]) -> dict[str, int]:
    jobs: dict[str, int] = {}
    for draft in drafts:
        jobs[draft.layout.key] = max(jobs.get(draft.layout.key, 1), draft.layout.jobs)
    return jobs


def _cell_step(draft: _Draft, layout: Layout) -> Step:
    cell, experiment = draft.cell, draft.experiment
    bound_bytes = None if "runtime" in cell else job_bytes_of(cell) * int(cell["numjobs"])
    seconds = (
        float(cell.get("runtime", 0))
        + float(cell.get("ramp", 0))
        + (bound_bytes or 0) / ASSUMED_BYTES_PER_SECOND
    )
    return Step(
        ordinal=0,
        kind=StepKind.CELL,
        experiment=experiment.name,
        engine=experiment.engine,
        cell=cell,
        repeat=draft.repeat,
        files="fresh" if draft.fresh else "reuse",
        layout=draft.layout if draft.fresh else layout,
        cache=experiment.cache,
        expected_seconds=seconds + STEP_OVERHEAD_SECONDS,
        timeout_seconds=experiment.timeout or _timeout(seconds, bound_bytes),
        expected_bytes=bound_bytes,
    )


def _timeout(seconds: float, bound_bytes: int | None) -> float:
    return TIMEOUT_MARGIN_SECONDS + seconds + (bound_bytes or 0) / SLOWEST_BYTES_PER_SECOND


def layout_step(layout: Layout, experiment: str) -> Step:
    """Really written bytes, flushed: an unwritten extent would answer reads with zeros and no I/O."""
    block = min(layout.file_bytes, 1 << 20)
    cell: Cell = {
        "rw": "write", "block_size": block, "iodepth": 1, "numjobs": layout.jobs, "ioengine": "psync", "direct": False,
        "filesize": layout.file_bytes, "nrfiles": layout.files_a_job, "openfiles": 1, "end_fsync": True,
        "file_service_type": "sequential", "fio.fallocate": "none",
    }  # fmt: skip
    if layout.filename:
        cell = {**cell, "fio.filename": layout.filename}
    seconds = layout.total_bytes / ASSUMED_BYTES_PER_SECOND
    return Step(
        ordinal=0, kind=StepKind.LAYOUT, experiment=experiment, engine="fio", cell=cell, files="fresh", layout=layout,
        expected_seconds=seconds + STEP_OVERHEAD_SECONDS, timeout_seconds=_timeout(seconds, layout.total_bytes),
        expected_bytes=layout.total_bytes,
    )  # fmt: skip


def _baselines(drafts: Sequence[_Draft]) -> list[Step]:
    """The generator alone and memory alone: no figure of a filesystem can lie above them.

    Memory is copied over as much as the smallest dataset, by all cores, in blocks that stay in the first cache: the
    fastest that a cache could answer any of the cells.
    """
    null: Cell = {
        "rw": "randread", "block_size": 4096, "iodepth": 1, "numjobs": 1, "ioengine": "null", "direct": False,
        "size": 1 << 40, "nrfiles": 1, "runtime": BASELINE_SECONDS,
    }  # fmt: skip
    smallest = min(job_bytes_of(draft.cell) for draft in drafts)
    memory: Cell = {
        "block_size": 4096,
        "numjobs": os.cpu_count() or 1,
        "size": smallest,
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


def _with_noise(steps: list[Step], repeats: int) -> list[Step]:
    """The first cell that works on existing files again and again, spread over its group: this machine against itself (A/A)."""
    cells = [place for place, step in enumerate(steps) if step.kind is StepKind.CELL]
    if not cells or not repeats:
        return steps
    reading = [place for place in cells if steps[place].cell["rw"] in ("read", "randread")]
    working = [place for place in cells if steps[place].files == "reuse"]
    first = (reading or working or cells)[0]
    reference = replace(steps[first], kind=StepKind.NOISE)
    last = _end_of_group(
        steps, first, lambda step: step.kind is StepKind.CELL and step.layout == reference.layout
    )
    spread = [first + round(index * (last - first) / max(repeats - 1, 1)) for index in range(repeats)]
    result: list[Step] = []
    for place, step in enumerate([*steps, None]):
        for index, wanted in enumerate(spread):
            if wanted == place:
                result.append(replace(reference, repeat=index))
        if step is not None:
            result.append(step)
    return result


def _end_of_group(steps: Sequence[Step], first: int, belongs: Callable[[Step], bool]) -> int:
    """One past the last step in a row from `first` that belongs."""
    place = first
    while place < len(steps) and belongs(steps[place]):
        place += 1
    return place
