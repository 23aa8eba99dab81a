"""Probes of a campaign's clusters: chosen with the plan, and read again when what is calibrated on them is to be foretold."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from leadline.cli.foretold_input import Known, shape_of_baselines
from leadline.plan.design import drafts_of
from leadline.plan.foretelling import CellName, Probes, cell_name, foretold_drafts
from leadline.plan.steps import Step
from leadline.spec.campaign import Campaign
from leadline.store.prediction import StoredCalibration
from leadline.store.records import StepKind

if TYPE_CHECKING:
    from leadline.analyse.prediction.probed import Probe


def probes_of(campaign: Campaign) -> Probes:
    """Two cells of each test, by the shape of the cluster and what baselines are known now; the campaign was checked before."""
    from leadline.analyse.prediction.probing import choose_among

    drafts = drafts_of(campaign)
    found: dict[CellName, int] = {}
    for number, cluster in enumerate(campaign.cluster):
        planned = [
            (draft.experiment.name, draft.cell) for draft in foretold_drafts(campaign, cluster, drafts)
        ]
        if cluster.probes:
            known, baselines = shape_of_baselines(campaign, cluster)
            chosen = choose_among(known, baselines, planned)
            found |= {cell_name(*probe): number for probe in chosen}
    return found


def calibrated(known: Known, step: Step) -> StoredCalibration:
    """What this step of the plan foretells from the probes before it; raises UserError for missing baselines."""
    from leadline.analyse.prediction.probed import foretell_again

    here = [each for each in known.steps if each.site == step.site]
    first, then = _between(here, step), [each for each in here if each.ordinal > step.ordinal]
    probes = known.planned(first)
    measured = {cell_name(cell.experiment, cell.cell): cell for cell in known.cells}
    pairs: list[Probe] = [(probe, measured.get(cell_name(*probe))) for probe in probes]
    return foretell_again(
        known.cluster, known.baselines, known.planned([*first, *then]), pairs, time.time_ns()
    )


def _between(here: Sequence[Step], step: Step) -> list[Step]:
    """Cells of the site that stand before the step: only its probes and those of other clusters do."""
    return [each for each in here if each.kind is StepKind.CELL and each.ordinal < step.ordinal]


def told_again(made: StoredCalibration) -> Iterator[str]:
    """In lines, as it is made."""
    from leadline.analyse.prediction.words import told_by_probes
    from leadline.analyse.wording import count

    cells = "1 cell" if len(made.cells) == 1 else f"{count(len(made.cells))} cells"
    yield f"Predicted once more from two probes of each test: {made.cluster}, {cells}"
    for line in (*made.notes, *map(told_by_probes, made.tests)):
        yield f"  {line}"
