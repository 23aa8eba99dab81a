"""A cluster file and baselines -> scenarios, and the steps that simulate them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from leadline.analyse.prediction.baselines import read_baselines
from leadline.analyse.prediction.paths import Parts
from leadline.analyse.simulation.scenarios import Scenario, scenarios_of
from leadline.analyse.simulation.steps import step_of
from leadline.errors import UserError
from leadline.spec.load_cluster import load_cluster


def steps_of(cluster_file: Path, baselines: tuple[Path, ...]) -> tuple[list[Scenario], list[dict[str, Any]]]:
    """Raises UserError, naming the file, where either cannot be."""
    file = load_cluster(cluster_file)
    scenarios = scenarios_of(file, str(cluster_file))
    parts = _parts(scenarios[0], baselines) if baselines else None
    try:
        return scenarios, [step_of(scenario, parts) for scenario in scenarios]
    except UserError as error:
        raise UserError(f"{cluster_file}: {error}") from None


def _parts(scenario: Scenario, baselines: tuple[Path, ...]) -> Parts:
    from leadline.cli.prediction_input import cells_of

    parts = Parts(scenario.cluster, read_baselines(cells_of(baselines)))
    if parts.baselines.disks or not parts.baselines.network.bandwidths:
        parts.check()  # a baseline of the network alone leaves the disks to the file
    return parts
