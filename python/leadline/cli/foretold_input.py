"""A campaign as its manifest keeps it -> what predictions are made from: baselines, and the cells that a cluster describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leadline.errors import UserError
from leadline.plan.design import drafts_of
from leadline.plan.foretelling import CellName, baseline_paths, cell_name
from leadline.plan.steps import Step
from leadline.spec.campaign import Campaign
from leadline.spec.campaign_cluster import CampaignCluster
from leadline.store.records import StepKind, StepRecord
from leadline.store.run_folder import RunFolder

if TYPE_CHECKING:
    from leadline.analyse.prediction.baselines import Baselines
    from leadline.analyse.prediction.foretell import Planned
    from leadline.analyse.results import CellResult

OF_DATA = ("fio", "paced")
"""Engines whose cells read and write blocks."""


@dataclass(frozen=True)
class Known:
    """What a step that foretells knows: the cluster with what its requests cost, its baselines, and the run so far."""

    cluster: CampaignCluster
    baselines: Baselines
    cells: Sequence[CellResult]
    steps: Sequence[Step]
    """The whole plan."""
    document: Mapping[str, Any]

    def planned(self, steps: Sequence[Step]) -> list[Planned]:
        """What the cluster describes of these steps, each cell once."""
        return planned_in(self.document, steps, self.cluster)


def known_to(folder: RunFolder, number: int, done: Sequence[StepRecord]) -> Known:
    """Of the cluster of that number; raises UserError for baselines that cannot be read."""
    from leadline.analyse.prediction.held import with_processors

    document = folder.manifest.campaign
    cluster = CampaignCluster.of_stored(document["cluster"][number])
    own = _own_cells(folder, done)
    known = baselines_of(
        paths_in(document, cluster), [cell for cell in own if cell.experiment in cluster.baselines]
    )
    cluster = with_processors(cluster, [cell for cell in own if cell.experiment == cluster.processors])
    return Known(cluster, known, own, [Step.from_json(each) for each in folder.manifest.plan], document)


def shape_of_baselines(campaign: Campaign, cluster: CampaignCluster) -> tuple[CampaignCluster, Baselines]:
    """What is known before anything is measured: paths are read, and cells to come stand with figures that say nothing."""
    from leadline.analyse.prediction.held import with_planned

    planned = [draft.cell for draft in drafts_of(campaign) if draft.experiment.name in cluster.baselines]
    known = baselines_of(baseline_paths(campaign, cluster), ())
    if cluster.processors:  # measured first; any figure will do to see whether all else is there
        cluster = cluster.model_copy(update={"client_processor": 1.0, "server_processor": 1.0})
    return cluster, with_planned(known, planned)


def paths_in(document: Mapping[str, Any], cluster: CampaignCluster) -> tuple[str, ...]:
    """The baselines that are no experiments of the campaign."""
    experiments = {experiment["name"] for experiment in document["experiment"]}
    return tuple(name for name in cluster.baselines if name not in experiments)


def planned_in(document: Mapping[str, Any], steps: Sequence[Step], cluster: CampaignCluster) -> list[Planned]:
    """What the cluster describes of a plan, each cell once."""
    first = {name for each in document["cluster"] for name in (*each["baselines"], each["processors"])}
    found: dict[CellName, Planned] = {}
    for step in steps:
        described = cluster.describes(step.site.label, step.experiment) and step.experiment not in first
        if step.kind is StepKind.CELL and step.engine in OF_DATA and described:
            found[cell_name(step.experiment, step.cell)] = (step.experiment, step.cell)
    return list(found.values())


def baselines_of(paths: Sequence[str], own: Sequence[CellResult]) -> Baselines:
    """Of runs and grids of before, and of cells of this run."""
    from leadline.analyse.prediction.baselines import read_baselines

    return read_baselines([*(cell for path in paths for cell in _of_one_disk(path)), *own])


def _own_cells(folder: RunFolder, done: Sequence[StepRecord]) -> Sequence[CellResult]:
    from leadline.analyse.analysis import analyse

    measured = [record for record in done if record.kind is not StepKind.PREDICTION]
    return analyse(measured, folder.manifest, folder.environment).cells


def _of_one_disk(path: str) -> Sequence[CellResult]:
    """Raises UserError for a run of several targets, which are not one disk."""
    from leadline.cli.prediction_input import cells_of

    cells = cells_of([Path(path)])
    targets = sorted({str(cell.cell["target"]) for cell in cells if "target" in cell.cell})
    if len(targets) > 1:
        raise UserError(
            f"the baseline {path} holds several targets ({', '.join(targets)}); give a run of one storage disk alone"
        )
    return cells
