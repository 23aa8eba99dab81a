"""Predictions of a campaign's clusters: checked when it is chosen, made in the run between baselines and targets, told as they are made.

The one place where the run meets the analysis before it is over: what the analysis says of the baselines decides what is foretold.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leadline.errors import UserError
from leadline.plan.design import drafts_of
from leadline.plan.foretelling import NUMBER, baseline_paths, foretold_drafts, unknown_baseline
from leadline.plan.steps import Step
from leadline.spec.campaign import Campaign
from leadline.spec.campaign_cluster import CampaignCluster
from leadline.store.prediction import PREDICTION, Foretold, StoredPrediction
from leadline.store.records import Cell, StepKind, StepRecord
from leadline.store.run_folder import RunFolder

if TYPE_CHECKING:
    from leadline.analyse.prediction.baselines import Baselines
    from leadline.analyse.results import CellResult

OF_DATA = ("fio", "paced")
"""Engines whose cells read and write blocks."""
LINES = 8
"""Cells of a prediction that are told at once; the report holds them all."""
Planned = tuple[str, Cell]


def with_checked_baselines(campaign: Campaign) -> Campaign:
    """The campaign with its baselines' paths made absolute; raises UserError for what could never be foretold."""
    clusters = tuple(_with_paths(campaign, cluster) for cluster in campaign.cluster)
    found = campaign.model_copy(update={"cluster": clusters})
    for cluster in clusters:
        _check(found, cluster)
    return found


def predictions_at_hand(document: Mapping[str, Any], steps: Sequence[Step]) -> Iterator[StoredPrediction]:
    """Of those clusters of a campaign, as a manifest keeps it, whose baselines were all measured before."""
    from leadline.analyse.prediction.foretell import foretell

    for stored in document.get("cluster", ()):
        cluster = CampaignCluster.of_stored(stored)
        paths = _paths(document, cluster)
        if len(paths) == len(cluster.beforehand):
            yield foretell(
                cluster, _baselines(paths, ()), _planned_in(document, steps, cluster), time.time_ns()
            )


def foreteller(
    folder: RunFolder, tell: Callable[[str], None]
) -> Callable[[Step, Sequence[StepRecord]], Mapping[str, str]]:
    """For the conductor: a prediction's step -> its document."""

    def foretell_step(step: Step, done: Sequence[StepRecord]) -> Mapping[str, str]:
        from leadline.analyse.prediction.foretell import foretell
        from leadline.analyse.prediction.held import with_processors

        document = folder.manifest.campaign
        cluster = CampaignCluster.of_stored(document["cluster"][int(step.cell[NUMBER])])
        own = _own_cells(folder, done)
        baselines = _baselines(
            _paths(document, cluster), [cell for cell in own if cell.experiment in cluster.baselines]
        )
        cluster = with_processors(cluster, [cell for cell in own if cell.experiment == cluster.processors])
        steps = [Step.from_json(each) for each in folder.manifest.plan]
        made = foretell(cluster, baselines, _planned_in(document, steps, cluster), time.time_ns())
        for line in told(made):
            tell(line)
        return {PREDICTION: made.to_text()}

    return foretell_step


def told(prediction: StoredPrediction) -> Iterator[str]:
    """In lines, some cells from the lightest to the heaviest load."""
    from leadline.analyse.wording import count

    sources = ", ".join(prediction.baselines)
    yield f"Predicted before it is measured: {prediction.cluster}, {count(len(prediction.cells))} cells, from {sources}"
    for note in prediction.notes:
        yield f"  {note}"
    for cell in _some(prediction.cells):
        yield f"  {_line(cell)}"
    if len(prediction.cells) > LINES:
        yield f"  and {len(prediction.cells) - LINES} more in the report"


def _line(cell: Foretold) -> str:
    from leadline.analyse.wording import bandwidth, iops, latency, percent, settings

    rate, mean_ns = cell.iops["queueing"], cell.mean_ns["queueing"]
    return (
        f"{cell.cell['rw']}, {settings(cell.cell)}: {bandwidth(rate * cell.block_size)}, {iops(rate)}, {latency(mean_ns)} mean; "
        f"bound by {cell.binding} (network {percent(cell.network_share)}, disks {percent(cell.disk_share)})"
    )


def _some(cells: Sequence[Foretold]) -> list[Foretold]:
    ordered = sorted(
        cells,
        key=lambda cell: (str(cell.cell.get("target", "")), str(cell.cell["rw"]), cell.mean_ns["queueing"]),
    )
    if len(ordered) <= LINES:
        return ordered
    return [ordered[round(place * (len(ordered) - 1) / (LINES - 1))] for place in range(LINES)]


def _with_paths(campaign: Campaign, cluster: CampaignCluster) -> CampaignCluster:
    paths = set(baseline_paths(campaign, cluster))
    for name in paths:
        if not Path(name).exists():
            raise unknown_baseline(name, campaign)
    named = tuple(str(Path(name).absolute()) if name in paths else name for name in cluster.baselines)
    return cluster.model_copy(update={"baselines": named})


def _check(campaign: Campaign, cluster: CampaignCluster) -> None:
    """Paths are read; baselines that are still to be measured are looked at by their shape."""
    from leadline.analyse.prediction.foretell import check_foretelling
    from leadline.analyse.prediction.held import with_planned

    planned = [draft.cell for draft in drafts_of(campaign) if draft.experiment.name in cluster.baselines]
    known = _baselines(baseline_paths(campaign, cluster), ())
    if cluster.processors:  # measured first; any figure will do to see whether all else is there
        cluster = cluster.model_copy(update={"client_processor": 1.0, "server_processor": 1.0})
    check_foretelling(cluster, with_planned(known, planned), _planned(campaign, cluster))


def _planned(campaign: Campaign, cluster: CampaignCluster) -> list[Planned]:
    return [
        (draft.experiment.name, draft.cell)
        for draft in foretold_drafts(campaign, cluster, drafts_of(campaign))
    ]


def _paths(document: Mapping[str, Any], cluster: CampaignCluster) -> tuple[str, ...]:
    """The baselines that are no experiments of the campaign."""
    experiments = {experiment["name"] for experiment in document["experiment"]}
    return tuple(name for name in cluster.baselines if name not in experiments)


def _planned_in(
    document: Mapping[str, Any], steps: Sequence[Step], cluster: CampaignCluster
) -> list[Planned]:
    """What the cluster describes of a plan, each cell once."""
    first = {name for each in document["cluster"] for name in (*each["baselines"], each["processors"])}
    found: dict[tuple[str, tuple[tuple[str, object], ...]], Planned] = {}
    for step in steps:
        described = cluster.describes(step.site.label, step.experiment) and step.experiment not in first
        if step.kind is StepKind.CELL and step.engine in OF_DATA and described:
            found[step.experiment, tuple(sorted(step.cell.items()))] = (step.experiment, step.cell)
    return list(found.values())


def _own_cells(folder: RunFolder, done: Sequence[StepRecord]) -> Sequence[CellResult]:
    from leadline.analyse.analysis import analyse

    measured = [record for record in done if record.kind is not StepKind.PREDICTION]
    return analyse(measured, folder.manifest, folder.environment).cells


def _baselines(paths: Sequence[str], own: Sequence[CellResult]) -> Baselines:
    from leadline.analyse.prediction.baselines import read_baselines

    return read_baselines([*(cell for path in paths for cell in _of_one_disk(path)), *own])


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
