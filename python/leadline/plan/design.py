"""Campaign -> plan: which cells, in which order, on which files, and what that will cost in time and bytes.

Cells that share files stand together, so that the space needed is that of the largest layout and not of all; inside
such a group the order is drawn by the campaign's seed, so that drift of the machine does not look like an axis.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from types import MappingProxyType

from leadline.plan.assumptions import ASSUMED_SUITE_BYTES
from leadline.plan.baselines import baselines
from leadline.plan.consistency import SIZE_BYTES, expand_consistency, mounts_needed
from leadline.plan.drafts import Draft, cell_step, layout_step, own_step
from leadline.plan.expand import expand
from leadline.plan.foretelling import (
    Probes,
    baseline_names,
    calibration_steps,
    check_described_once,
    part_probes,
    prediction_steps,
)
from leadline.plan.metadata import Shape, expand_metadata
from leadline.plan.network import expand_network
from leadline.plan.noise import with_noise
from leadline.plan.objects import dataset_bytes, expand_objects, is_of_checks
from leadline.plan.planner import FixedPlan
from leadline.plan.scaling import Scaling
from leadline.plan.sites import Site, Stand, lay_stands
from leadline.plan.steps import OF_OBJECTS, Layout, Step
from leadline.spec.campaign import AnyExperiment, Campaign
from leadline.spec.consistency import ConsistencyExperiment
from leadline.spec.metadata import MetadataExperiment
from leadline.spec.network import NetworkExperiment
from leadline.spec.objects import ObjectExperiment
from leadline.spec.posix import PosixExperiment
from leadline.store.records import Scalar

NO_PROBES: Probes = MappingProxyType({})
Arrange = Callable[[Sequence[Draft], Mapping[str, Layout]], list[Step]]
"""Drafts of one site, and the largest layout of each key -> steps."""


def design(campaign: Campaign, probes: Probes = NO_PROBES) -> tuple[FixedPlan, Scaling]:
    """The plan, and what scaling changed; probes come first on their sites. Raises UserError for cells that cannot be."""
    scaling = Scaling(campaign.scale)
    drafts = _drafts(campaign, scaling)
    steps = _foretold_first(drafts, campaign, probes) if campaign.cluster else _ordered(drafts, campaign)
    if campaign.baselines:
        moving = [draft.cell for draft in drafts if draft.layout]
        steps = [replace(step, site=steps[0].site) for step in baselines(moving)] + steps
    needs = _needs(steps)
    return FixedPlan(
        tuple(
            replace(step, ordinal=place, seed=campaign.seed + step.repeat, site=needs[step.site])
            for place, step in enumerate(steps)
        )
    ), scaling


def drafts_of(campaign: Campaign) -> list[Draft]:
    """Every repeat of every cell, before it has its place; raises UserError for cells that cannot be."""
    return _drafts(campaign, Scaling(campaign.scale))


def _foretold_first(drafts: Sequence[Draft], campaign: Campaign, probes: Probes) -> list[Step]:
    """Baselines, predictions, and only then what they foretell."""
    check_described_once(campaign, drafts)
    names = baseline_names(campaign)
    quiet = campaign.model_copy(update={"noise_repeats": 0})
    first = _ordered([draft for draft in drafts if draft.experiment.name in names], quiet) if names else []
    then = _ordered([draft for draft in drafts if draft.experiment.name not in names], campaign, probes)
    return [*first, *prediction_steps(campaign, then[0].site), *then]


def _drafts(campaign: Campaign, scaling: Scaling) -> list[Draft]:
    """Every repeat of every cell on every site; the campaign's own order."""
    return [
        Draft(experiment, stand.site, {**cell, **stand.settings}, repeat)
        for stand in lay_stands(campaign)
        for experiment in campaign.experiment
        if experiment.targets is None or stand.site.label in experiment.targets
        for cells in [list(_cells(experiment, scaling, stand))]
        for repeat in range(experiment.repeats)
        for cell in cells
        if repeat == 0 or not is_of_checks(cell)
    ]


def _cells(experiment: AnyExperiment, scaling: Scaling, stand: Stand) -> Iterator[dict[str, Scalar]]:
    if isinstance(experiment, MetadataExperiment):
        return expand_metadata(experiment, scaling)
    if isinstance(experiment, PosixExperiment):
        return iter([{"suite": experiment.suite}])
    if isinstance(experiment, ConsistencyExperiment):
        return expand_consistency(experiment)
    if isinstance(experiment, NetworkExperiment):
        return expand_network(experiment)
    if isinstance(experiment, ObjectExperiment):
        return expand_objects(experiment, scaling, stand)
    return expand(experiment, scaling, stand.overrides)


def _ordered(drafts: Sequence[Draft], campaign: Campaign, probes: Probes = NO_PROBES) -> list[Step]:
    """Site by site; in random order round by round over all sites, so that a slow hour hits one repeat of all of them.

    That costs a remount and new files a round, and is what makes sites comparable at all.
    """
    random = Random(campaign.seed)
    as_written = campaign.order == "as written"
    arrange: Arrange = _as_written if as_written else partial(_randomised, random=random)
    steps: list[Step] = []
    for own in _by_site(drafts) if as_written else _visits(drafts, random):
        most, (first, then) = _largest_layouts(own), part_probes(own, probes)
        if first:
            steps += [*arrange(first, most), *calibration_steps(campaign, first, probes)]
        steps += arrange(then, most)
    return with_noise(steps, campaign.noise_repeats)


def _visits(drafts: Sequence[Draft], random: Random) -> Iterator[list[Draft]]:
    """What is done each time that a site is up, in random order; the next is drawn only when the one before has its order."""
    rounds = [list(drafts)]
    if len(_by_site(drafts)) > 1:
        repeats = range(max(draft.repeat for draft in drafts) + 1)
        rounds = [[draft for draft in drafts if draft.repeat == repeat] for repeat in repeats]
    for own_round in rounds:
        yield from _shuffled(_by_site(own_round), random)


def _by_site(drafts: Iterable[Draft]) -> list[list[Draft]]:
    sites: defaultdict[Site, list[Draft]] = defaultdict(list)
    for draft in drafts:
        sites[draft.site].append(draft)
    return list(sites.values())


def _shuffled(several: list[list[Draft]], random: Random) -> list[list[Draft]]:
    if len(several) > 1:  # a single one draws nothing: plans of one target stay what they were
        random.shuffle(several)
    return several


def _needs(steps: Sequence[Step]) -> dict[Site, Site]:
    """Each site with what its steps ask of it: clients, and space for the largest layout or tree.

    Files that only their own engine can write are never removed while the target stands: there, all layouts are counted.
    """
    needs: dict[Site, Site] = {}
    for site in dict.fromkeys(step.site for step in steps):
        own = [step for step in steps if step.site == site]
        layouts = {step.layout for step in own if step.layout}
        shown = max((each.total_bytes for each in layouts if not each.ioengine), default=0)
        kept = sum(each.total_bytes for each in layouts if each.ioengine)
        trees = max((_own_bytes(step, site) for step in own), default=0)
        clients = max(_clients_of(step) for step in own)
        of_objects = any(step.files in OF_OBJECTS for step in own)
        needs[site] = replace(site, clients=clients, size_bytes=shown + kept + trees, objects=of_objects)
    return needs


def _clients_of(step: Step) -> int:
    """How many clients the site must have for a step; 0: there is no talk of several."""
    if step.files == "pair":
        return step.clients
    return mounts_needed(step.cell) if step.files == "mounts" else int(step.cell.get("clients", 0))


def _own_bytes(step: Step, site: Site) -> int:
    """Of a cell that makes its own files, beside those that are laid out."""
    if step.files == "judged":
        return ASSUMED_SUITE_BYTES
    if step.files == "mounts":
        return SIZE_BYTES
    if step.files in OF_OBJECTS:
        return dataset_bytes(step.cell)
    return Shape.of(step.cell).space_bytes(bool(site.target)) if step.files == "tree" else 0


def _as_written(drafts: Sequence[Draft], most: Mapping[str, Layout]) -> list[Step]:
    """In the order of the file; files are laid out before the first cell that misses them.

    Only one layout is on the disk at a time (run/layouts.py): a cell of another shape makes room for its own.
    """
    steps: list[Step] = []
    present: Layout | None = None
    for draft in drafts:
        wanted = draft.layout
        if wanted is None:
            steps.append(own_step(draft))
            continue
        if draft.fresh:
            present = wanted
        elif present is None or not _holds(present, wanted):
            present = most[wanted.key]
            steps.append(layout_step(present, draft.experiment.name, draft.site))
        # Where a write has left enough files for this cell, they are what it needs, even if later cells need more.
        steps.append(cell_step(draft, present))
    return steps


def _holds(present: Layout, wanted: Layout) -> bool:
    """Whether the files of one layout are enough for another."""
    return present.key == wanted.key and present.jobs >= wanted.jobs and present.clients >= wanted.clients


def _randomised(drafts: Sequence[Draft], most: Mapping[str, Layout], random: Random) -> list[Step]:
    """Groups of one layout in random order; inside: creating writes first, then everything that works on existing files."""
    groups: defaultdict[str, list[Draft]] = defaultdict(list)
    for draft in drafts:
        groups[draft.key].append(draft)
    keys = list(groups)
    random.shuffle(keys)
    steps: list[Step] = []
    for key in keys:
        if key not in most:
            steps += [own_step(draft) for draft in _shuffled_rounds(groups[key], random)]
            continue
        layout = most[key]
        creating = _shuffled_rounds([draft for draft in groups[key] if draft.fresh], random)
        working = _shuffled_rounds([draft for draft in groups[key] if not draft.fresh], random)
        steps += [cell_step(draft, layout) for draft in creating]
        if working:
            steps.append(layout_step(layout, working[0].experiment.name, working[0].site))
        steps += [cell_step(draft, layout) for draft in working]
    return steps


def _shuffled_rounds(drafts: Iterable[Draft], random: Random) -> list[Draft]:
    """Repeat by repeat, each in an order of its own: a slow hour then hits one repeat of all cells, not all of one."""
    rounds: defaultdict[int, list[Draft]] = defaultdict(list)
    for draft in drafts:
        rounds[draft.repeat].append(draft)
    for each in rounds.values():
        random.shuffle(each)
    return [draft for repeat in sorted(rounds) for draft in rounds[repeat]]


def _largest_layouts(drafts: Iterable[Draft]) -> dict[str, Layout]:
    """By key: enough jobs and clients for every cell that shares the files."""
    most: dict[str, Layout] = {}
    for draft in drafts:
        own = draft.layout
        if own is None:
            continue
        known = most.get(own.key, own)
        most[own.key] = replace(own, jobs=max(known.jobs, own.jobs), clients=max(known.clients, own.clients))
    return most
