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
from leadline.plan.sites import THE_DIRECTORY, Site, lay_stands
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
    site: Site
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
    drafts = _drafts(campaign, scaling)
    steps = _ordered(drafts, campaign)
    if campaign.baselines:
        steps = [replace(step, site=steps[0].site) for step in _baselines(drafts)] + steps
    needs = _needs(steps)
    return FixedPlan(
        tuple(
            replace(step, ordinal=place, seed=campaign.seed + step.repeat, site=needs[step.site])
            for place, step in enumerate(steps)
        )
    ), scaling


def _drafts(campaign: Campaign, scaling: Scaling) -> list[_Draft]:
    """Every repeat of every cell on every site; the campaign's own order."""
    return [
        _Draft(experiment, stand.site, {**cell, **stand.settings}, repeat)
        for stand in lay_stands(campaign)
        for experiment in campaign.experiment
        if experiment.targets is None or stand.site.label in experiment.targets
        for cells in [list(expand(experiment, scaling, stand.overrides))]
        for repeat in range(experiment.repeats)
        for cell in cells
    ]


def _ordered(drafts: Sequence[_Draft], campaign: Campaign) -> list[Step]:
    """Site by site; in random order round by round over all sites, so that a slow hour hits one repeat of all of them.

    That costs a remount and new files a round, and is what makes sites comparable at all.
    """
    random = Random(campaign.seed)
    if campaign.order == "as written":
        steps = [step for own in _by_site(drafts) for step in _as_written(own)]
    else:
        rounds = [drafts]
        if len(_by_site(drafts)) > 1:
            repeats = range(max(draft.repeat for draft in drafts) + 1)
            rounds = [[draft for draft in drafts if draft.repeat == repeat] for repeat in repeats]
        steps = [
            step
            for own_round in rounds
            for own in _shuffled(_by_site(own_round), random)
            for step in _randomised(own, random)
        ]
    return _with_noise(steps, campaign.noise_repeats)


def _by_site(drafts: Iterable[_Draft]) -> list[list[_Draft]]:
    sites: defaultdict[Site, list[_Draft]] = defaultdict(list)
    for draft in drafts:
        sites[draft.site].append(draft)
    return list(sites.values())


def _shuffled(several: list[list[_Draft]], random: Random) -> list[list[_Draft]]:
    if len(several) > 1:  # a single one draws nothing: plans of one target stay what they were
        random.shuffle(several)
    return several


def _needs(steps: Sequence[Step]) -> dict[Site, Site]:
    """Each site with what its steps ask of it: clients, and space for the largest layout.

    Files that only their own engine can write are never removed while the target stands: there, all layouts are counted.
    """
    needs: dict[Site, Site] = {}
    for site in dict.fromkeys(step.site for step in steps):
        own = [step for step in steps if step.site == site]
        layouts = {step.layout for step in own if step.layout}
        shown = max((each.total_bytes for each in layouts if not each.ioengine), default=0)
        kept = sum(each.total_bytes for each in layouts if each.ioengine)
        clients = max(int(step.cell.get("clients", 0)) for step in own)
        needs[site] = replace(site, clients=clients, size_bytes=shown + kept)
    return needs


def _as_written(drafts: Sequence[_Draft]) -> list[Step]:
    """In the order of the file; files are laid out before the first cell that misses them.

    Only one layout is on the disk at a time (run/layouts.py): a cell of another shape makes room for its own.
    """
    steps: list[Step] = []
    present: Layout | None = None
    most = _largest_layouts(drafts)
    for draft in drafts:
        layout = most[draft.layout.key]
        if draft.fresh:
            present = draft.layout
        elif present is None or not _holds(present, draft.layout):
            steps.append(layout_step(layout, draft.experiment.name, draft.site))
            present = layout
        # Where a write has left enough files for this cell, they are what it needs, even if later cells need more.
        steps.append(_cell_step(draft, present))
    return steps


def _holds(present: Layout, wanted: Layout) -> bool:
    """Whether the files of one layout are enough for another."""
    return present.key == wanted.key and present.jobs >= wanted.jobs and present.clients >= wanted.clients


def _randomised(drafts: Sequence[_Draft], random: Random) -> list[Step]:
    """Groups of one layout in random order; inside: creating writes first, then everything that works on existing files."""
    groups: defaultdict[str, list[_Draft]] = defaultdict(list)
    for draft in drafts:
        groups[draft.layout.key].append(draft)
    most = _largest_layouts(drafts)
    keys = list(groups)
    random.shuffle(keys)
    steps: list[Step] = []
    for key in keys:
        layout = most[key]
        creating = _shuffled_rounds([draft for draft in groups[key] if draft.fresh], random)
        working = _shuffled_rounds([draft for draft in groups[key] if not draft.fresh], random)
        steps += [_cell_step(draft, layout) for draft in creating]
        if working:
            steps.append(layout_step(layout, working[0].experiment.name, working[0].site))
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


def _largest_layouts(drafts: Iterable[_Draft]) -> dict[str, Layout]:
    """By key: enough jobs and clients for every cell that shares the files."""
    most: dict[str, Layout] = {}
    for draft in drafts:
        own = draft.layout
        known = most.get(own.key, own)
        most[own.key] = replace(own, jobs=max(known.jobs, own.jobs), clients=max(known.clients, own.clients))
    return most


def _cell_step(draft: _Draft, layout: Layout) -> Step:
    cell, experiment = draft.cell, draft.experiment
    clients = max(int(cell.get("clients", 1)), 1)
    bound_bytes = None if "runtime" in cell else job_bytes_of(cell) * int(cell["numjobs"]) * clients
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
        site=draft.site,
    )


def _timeout(seconds: float, bound_bytes: int | None) -> float:
    return TIMEOUT_MARGIN_SECONDS + seconds + (bound_bytes or 0) / SLOWEST_BYTES_PER_SECOND


def layout_step(layout: Layout, experiment: str, site: Site = THE_DIRECTORY) -> Step:
    """Really written bytes, flushed: an unwritten extent would answer reads with zeros and no I/O."""
    block = min(layout.file_bytes, 1 << 20)
    cell: Cell = {
        "rw": "write", "block_size": block, "iodepth": 1, "numjobs": layout.jobs, "ioengine": layout.ioengine or "psync", "direct": False,
        "size": layout.file_bytes * layout.files_a_job, "filesize": layout.file_bytes, "nrfiles": layout.files_a_job,
        "openfiles": 1, "end_fsync": True,
        "file_service_type": "sequential", "fio.fallocate": "none",
    }  # fmt: skip
    if layout.filename:
        cell = {**cell, "fio.filename": layout.filename}
    if layout.clients:
        cell = {**cell, "clients": layout.clients}
    seconds = layout.total_bytes / ASSUMED_BYTES_PER_SECOND
    return Step(
        ordinal=0, kind=StepKind.LAYOUT, experiment=experiment, engine="fio", cell=cell, files="fresh", layout=layout,
        expected_seconds=seconds + STEP_OVERHEAD_SECONDS, timeout_seconds=_timeout(seconds, layout.total_bytes),
        expected_bytes=layout.total_bytes, site=site,
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
        steps,
        first,
        lambda step: (
            step.kind is StepKind.CELL and step.layout == reference.layout and step.site == reference.site
        ),
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
