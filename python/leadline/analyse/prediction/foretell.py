"""A campaign's cluster, its baselines and the cells to come -> the prediction that the run stores.

Each cell is foretold under its own conditions, and with what twice of the binding part would bring: that is reckoned now
and held against the measurement later (analyse/prediction/beside.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from leadline.analyse.prediction.baselines import Baselines
from leadline.analyse.prediction.forecasts import Forecaster, network_share
from leadline.analyse.prediction.held import load_in, parts_under
from leadline.analyse.prediction.notes import notes_on
from leadline.analyse.prediction.paths import Parts
from leadline.analyse.prediction.predictions import PredictedCell
from leadline.analyse.prediction.stations import Resource
from leadline.analyse.prediction.workload import Load, in_flight
from leadline.errors import UserError
from leadline.spec.campaign_cluster import CampaignCluster
from leadline.store.prediction import Foretold, StoredPrediction
from leadline.store.records import Cell

Planned = tuple[str, Cell]
"""Experiment and settings."""
DOUBLED = {
    Resource.CLIENT_NIC: "client_nics",
    Resource.STORAGE_NIC: "storage_nics",
    Resource.DISK: "disks_per_node",
    Resource.SWITCH: "switch",
    Resource.CLIENT_SOFTWARE: "client_iops",
    Resource.SERVER_SOFTWARE: "server_iops",
}
"""What of the cluster's table is twice as much when one buys a second."""


def foretell(
    cluster: CampaignCluster, baselines: Baselines, planned: Iterable[Planned], made_unix_ns: int
) -> StoredPrediction:
    """Every cell; raises UserError rather than guess, so there is either a prediction of all of them or none."""
    Parts(cluster, baselines).check()
    found: list[tuple[Foretold, PredictedCell]] = []
    passed_over = 0
    for experiment, cell in planned:
        load = load_in(cell)
        if load is None:
            passed_over += 1
        else:
            parts = parts_under(cluster, baselines, cell, load)
            found.append(_foretold(Forecaster(parts), load, experiment, cell))
    if not found:
        raise UserError(
            f"[cluster] {cluster.name} describes no cell that reads or writes one way as fast as it can; nothing can be foretold"
        )
    notes = [f"{passed_over} cells go both ways or are paced: not predicted."] if passed_over else []
    notes += notes_on(Parts(cluster, baselines), [predicted for _, predicted in found])
    cells = tuple(foretold for foretold, _ in found)
    return StoredPrediction(cluster.name, cluster.baselines, made_unix_ns, cells, tuple(notes))


def check_foretelling(cluster: CampaignCluster, baselines: Baselines, planned: Sequence[Planned]) -> None:
    """Raises the same UserErrors from the shape of baselines that are still to be measured."""
    if not baselines.disks:
        Parts(cluster, baselines).check()
    for _, cell in planned:
        load = load_in(cell)
        if load is not None:
            Forecaster(parts_under(cluster, baselines, cell, load)).network(load)


def _foretold(
    forecaster: Forecaster, load: Load, experiment: str, cell: Cell
) -> tuple[Foretold, PredictedCell]:
    forecasts = {
        "napkin": forecaster.napkin(load),
        "bounds": forecaster.bounds(load),
        "queueing": forecaster.queueing(load),
    }
    shares, binding = forecaster.shares(load, forecasts["queueing"].iops), forecaster.binding(load)
    predicted = PredictedCell(
        load=load,
        in_flight=in_flight(load, forecaster.parts.cluster),
        forecasts=forecasts,
        binding=binding,
        shares=shares,
        network_share=network_share(shares),
        disk_share=shares[Resource.DISK],
    )
    stored = Foretold(
        experiment=experiment,
        cell=dict(cell),
        block_size=load.block_size,
        iops={name: each.iops for name, each in forecasts.items()},
        mean_ns={name: each.mean_ns for name, each in forecasts.items()},
        binding=binding,
        shares={str(name): share for name, share in shares.items()},
        network_share=predicted.network_share,
        disk_share=predicted.disk_share,
        relief=_relief(forecaster, load, binding),
    )
    return stored, predicted


def _relief(forecaster: Forecaster, load: Load, binding: str) -> tuple[str, float, str] | None:
    """Operations a second that twice the binding part allows at most, and what binds then; None where nothing is used up."""
    key = next((key for resource, key in DOUBLED.items() if resource == binding), None)
    cluster = forecaster.parts.cluster
    if key is None or getattr(cluster, key) is None:
        return None
    twice = cluster.model_copy(update={key: 2 * getattr(cluster, key)})
    relieved = Forecaster(Parts(twice, forecaster.parts.baselines))
    return binding, relieved.bounds(load).iops, relieved.binding(load)
