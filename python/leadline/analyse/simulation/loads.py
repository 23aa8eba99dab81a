"""What was measured on a target -> the scenarios that simulate the very same loads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from leadline.analyse.prediction.actuals import Actuals, check_depth
from leadline.analyse.prediction.workload import Load, reached_disks
from leadline.analyse.simulation.scenarios import AXES, LEAST_OPERATIONS, Scenario
from leadline.errors import UserError
from leadline.spec.cluster import Cluster
from leadline.spec.load_cluster import ClusterFile
from leadline.spec.simulation import Simulation, build_simulation

TROUBLE = ("failed_nodes", "stragglers")
HEALTHY: Mapping[str, int] = dict.fromkeys(TROUBLE, 0)
DRAWS = 16
"""Places of files that are simulated where the places decide how fast it is; the mean of all is what chance gives."""
ALL_DISKS = 0.999


@dataclass(frozen=True)
class MeasuredLoad:
    """One cell, to be simulated: more than once where it depends on where its files lie."""

    load: Load
    cluster: Cluster
    """With the depth that the client was found to keep."""
    scenarios: tuple[Scenario, ...]


def measured_loads(file: ClusterFile, actuals: Actuals, where: str) -> tuple[list[MeasuredLoad], list[str]]:
    """One for each load, and what has to be known; raises UserError naming `where`."""
    simulation = build_simulation(file.simulation, where)
    trouble = _trouble(simulation, where)
    found: list[MeasuredLoad] = []
    notes: list[str] = []
    for size in sorted({load.block_size for load in actuals}):
        alike = {load: actual for load, actual in actuals.items() if load.block_size == size}
        cluster, note = check_depth(file.cluster, alike)
        notes += [note] if note else []
        found += [measured_load(load, cluster, simulation, trouble) for load in alike]
    if any(load.files > 1 for load in actuals):
        notes.append("Some cells have several files a job; each job is simulated on one.")
    left_aside = [name for name in AXES if name in file.simulation and name not in TROUBLE]
    if left_aside:
        names = ", ".join(f"`{name}`" for name in left_aside)
        notes.append(f"Simulated is what was measured: {names} of [simulation] are left aside.")
    return found, notes


def _trouble(simulation: Simulation, where: str) -> dict[str, int]:
    for name in TROUBLE:
        if len(getattr(simulation, name)) > 1:
            raise UserError(
                f"{where}: `{name}` in [simulation] has several values, but a target was measured with one; give that one"
            )
    return {name: getattr(simulation, name)[0] for name in TROUBLE}


def measured_load(
    load: Load, cluster: Cluster, simulation: Simulation, trouble: Mapping[str, int] = HEALTHY
) -> MeasuredLoad:
    """One cell, on that many clients."""
    here = cluster.model_copy(update={"clients": load.clients})
    settings = {
        **dict.fromkeys(AXES),
        "rw": load.test,
        "block_size": load.block_size,
        "storage_nodes": cluster.storage_nodes,
        "clients": load.clients,
        "numjobs": load.numjobs,
        "iodepth": load.iodepth,
        **trouble,
    }
    draws = DRAWS if reached_disks(load, here) < ALL_DISKS * here.disks else 1
    scenarios = (Scenario(here, each, settings) for each in _drawn(simulation, draws))
    return MeasuredLoad(load, here, tuple(scenarios))


def _drawn(simulation: Simulation, draws: int) -> list[Simulation]:
    """As many seeds, and together as many requests as one would have."""
    operations = simulation.operations or LEAST_OPERATIONS
    return [
        simulation
        if draws == 1
        else simulation.model_copy(
            update={"seed": simulation.seed + number, "operations": max(1, operations // draws)}
        )
        for number in range(draws)
    ]
