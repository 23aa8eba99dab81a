"""Predictions of a campaign's clusters: checked when it is chosen, made in the run between baselines and targets, told as they are made.

The one place where the run meets the analysis before it is over: what the analysis says of the baselines decides what is foretold.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from leadline.cli.foretold_input import baselines_of, known_to, paths_in, planned_in, shape_of_baselines
from leadline.cli.probing import calibrated, told_again
from leadline.plan.design import drafts_of
from leadline.plan.foretelling import NUMBER, baseline_paths, foretold_drafts, unknown_baseline
from leadline.plan.steps import Step
from leadline.spec.campaign import Campaign
from leadline.spec.campaign_cluster import CampaignCluster
from leadline.store.prediction import CALIBRATED, PREDICTION, Foretold, StoredPrediction
from leadline.store.records import StepRecord
from leadline.store.run_folder import RunFolder

LINES = 8
"""Cells of a prediction that are told at once; the report holds them all."""


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
        paths = paths_in(document, cluster)
        if len(paths) == len(cluster.beforehand):
            yield foretell(
                cluster, baselines_of(paths, ()), planned_in(document, steps, cluster), time.time_ns()
            )


def foreteller(
    folder: RunFolder, tell: Callable[[str], None]
) -> Callable[[Step, Sequence[StepRecord]], Mapping[str, str]]:
    """For the conductor: a prediction's step -> its document."""

    def foretell_step(step: Step, done: Sequence[StepRecord]) -> Mapping[str, str]:
        from leadline.analyse.prediction.foretell import foretell

        known = known_to(folder, int(step.cell[NUMBER]), done)
        if CALIBRATED in step.cell:
            again = calibrated(known, step)
            lines, documents = told_again(again), {CALIBRATED: again.to_text()}
        else:
            made = foretell(known.cluster, known.baselines, known.planned(known.steps), time.time_ns())
            lines, documents = told(made), {PREDICTION: made.to_text()}
        for line in lines:
            tell(line)
        return documents

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

    known, baselines = shape_of_baselines(campaign, cluster)
    planned = [
        (draft.experiment.name, draft.cell)
        for draft in foretold_drafts(campaign, cluster, drafts_of(campaign))
    ]
    check_foretelling(known, baselines, planned)
