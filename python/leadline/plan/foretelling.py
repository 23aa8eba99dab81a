"""Predictions in a plan: baselines come first, then one step for each cluster, then everything that it foretells.

The order is the promise: a prediction stands in the run before the first cell of its target does. What is calibrated on
probes stands after them and before every other cell that it foretells; it is made anew on each site, which then need
not be brought up twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leadline.errors import UserError, did_you_mean
from leadline.plan.assumptions import STEP_OVERHEAD_SECONDS
from leadline.plan.drafts import Draft
from leadline.plan.sites import Site
from leadline.plan.steps import Step
from leadline.spec.campaign import Campaign, Experiment
from leadline.spec.campaign_cluster import CampaignCluster
from leadline.store.prediction import CALIBRATED
from leadline.store.records import Cell, Scalar, StepKind

NUMBER = "cluster"
"""In the cell of a prediction's step: which of the campaign's clusters."""
CellName = tuple[str, tuple[tuple[str, Scalar], ...]]
"""Experiment and settings: one cell of a campaign."""
Probes = Mapping[CellName, int]
"""The cells that are measured first on their sites -> which of the campaign's clusters is calibrated on them."""


def cell_name(experiment: str, cell: Cell) -> CellName:
    """The same for every repeat."""
    return experiment, tuple(sorted(cell.items()))


def baseline_names(campaign: Campaign) -> frozenset[str]:
    """Experiments of the campaign that some cluster is foretold from."""
    named = {name for cluster in campaign.cluster for name in cluster.beforehand}
    return frozenset(named & {experiment.name for experiment in campaign.experiment})


def baseline_paths(campaign: Campaign, cluster: CampaignCluster) -> tuple[str, ...]:
    """The baselines that are no experiments: runs and grids of before."""
    names = {experiment.name for experiment in campaign.experiment}
    return tuple(name for name in cluster.baselines if name not in names)


def foretold_drafts(campaign: Campaign, cluster: CampaignCluster, drafts: Sequence[Draft]) -> list[Draft]:
    """The cells that a cluster describes, each once; raises UserError where there is none."""
    found = {
        cell_name(draft.experiment.name, draft.cell): draft
        for draft in drafts
        if isinstance(draft.experiment, Experiment)
        and draft.experiment.name not in baseline_names(campaign)
        and cluster.describes(draft.site.label, draft.experiment.name)
    }
    if not found:
        names = sorted({draft.experiment.name for draft in drafts})
        raise UserError(
            f"[cluster] {cluster.name} describes no cell of this campaign; name its targets, and experiments of fio that are no "
            f"baselines (there are: {', '.join(names)})"
        )
    return list(found.values())


def prediction_steps(campaign: Campaign, site: Site) -> list[Step]:
    """One a cluster; it asks nothing of the site, which is that of the step after it."""
    return [
        Step(
            ordinal=0, kind=StepKind.PREDICTION, experiment=cluster.name, engine="model", cell={NUMBER: number}, site=site,
            expected_seconds=STEP_OVERHEAD_SECONDS,
        )
        for number, cluster in enumerate(campaign.cluster)
    ]  # fmt: skip


def part_probes(drafts: Sequence[Draft], probes: Probes) -> tuple[list[Draft], list[Draft]]:
    """The first repeat of each probe, and all other drafts."""
    first: list[Draft] = []
    then: list[Draft] = []
    for draft in drafts:
        (first if draft.repeat == 0 and _name(draft) in probes else then).append(draft)
    return first, then


def calibration_steps(campaign: Campaign, first: Sequence[Draft], probes: Probes) -> list[Step]:
    """One for each cluster that has probes among these, which are of one site."""
    return [
        Step(
            ordinal=0, kind=StepKind.PREDICTION, experiment=campaign.cluster[number].name, engine="model",
            cell={NUMBER: number, CALIBRATED: True}, site=first[0].site, expected_seconds=STEP_OVERHEAD_SECONDS,
        )
        for number in sorted({probes[_name(draft)] for draft in first})
    ]  # fmt: skip


def _name(draft: Draft) -> CellName:
    return cell_name(draft.experiment.name, draft.cell)


def check_described_once(campaign: Campaign, drafts: Sequence[Draft]) -> None:
    """Raises UserError where two clusters describe one cell, or where a baseline would run on what is to be foretold."""
    _check_apart(campaign, drafts)
    owners: dict[tuple[object, ...], str] = {}
    for cluster in campaign.cluster:
        for draft in foretold_drafts(campaign, cluster, drafts):
            key = (draft.experiment.name, *sorted(draft.cell.items()))
            if key in owners:
                raise UserError(
                    f'[cluster] {owners[key]} and [cluster] {cluster.name} both describe experiment "{draft.experiment.name}" on '
                    f"{draft.site.label}; give each its own `targets` or `experiments`"
                )
            owners[key] = cluster.name


def _check_apart(campaign: Campaign, drafts: Sequence[Draft]) -> None:
    for cluster in campaign.cluster:
        described = {draft.site for draft in foretold_drafts(campaign, cluster, drafts)}
        for draft in drafts:
            if (
                isinstance(draft.experiment, Experiment)
                and draft.experiment.name in cluster.baselines
                and draft.site in described
            ):
                raise UserError(
                    f'experiment "{draft.experiment.name}" is a baseline of [cluster] {cluster.name} and would run on {draft.site.label}, '
                    'which is to be foretold; give it `targets` of its own: one local disk, such as the lab\'s "xfs"'
                )


def unknown_baseline(name: str, campaign: Campaign) -> UserError:
    """For a baseline that is neither an experiment nor a file."""
    names = [experiment.name for experiment in campaign.experiment]
    return UserError(
        f'the baseline "{name}" of [cluster] is neither an experiment of this campaign nor a run or file'
        f"{did_you_mean(name, names)}; measure one storage disk first, or name what did"
    )
