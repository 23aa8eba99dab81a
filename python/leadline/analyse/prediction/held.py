"""A cluster under the conditions of one cell: narrower links, slower disks, fewer cores than its table says.

What the lab is held to is known before anything is measured, so a prediction has to know it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import median

from leadline.analyse.prediction.baselines import TESTS, Baselines, slowness_of
from leadline.analyse.prediction.paths import Parts
from leadline.analyse.prediction.service_curves import ServiceCurve
from leadline.analyse.prediction.workload import Load, reached_disks, work_of
from leadline.analyse.results import CellResult
from leadline.errors import UserError
from leadline.spec.campaign_cluster import CampaignCluster
from leadline.store.records import Cell

ONE_AT_A_TIME = ("psync", "sync", "vsync", "pvsync", "pvsync2", "mmap")
"""ioengines of fio that submit and wait in one call: only jobs count (fio(1))."""


def load_in(cell: Cell) -> Load | None:
    """A planned cell as a load; None where it is no cell of data that goes one way, as fast as it can."""
    if cell.get("rw") not in TESTS or "rate" in cell or not isinstance(cell.get("block_size"), int):
        return None
    inert = cell.get("ioengine") in ONE_AT_A_TIME
    return Load(
        test=str(cell["rw"]),
        block_size=int(cell["block_size"]),
        iodepth=1 if inert else int(cell.get("iodepth", 1)),
        numjobs=int(cell.get("numjobs", 1)),
        clients=int(cell.get("clients", 1)),
        files=int(cell.get("nrfiles", 1)),
    )


def parts_under(cluster: CampaignCluster, baselines: Baselines, cell: Cell, load: Load) -> Parts:
    """Raises UserError for conditions that the cluster's table does not let one reckon with."""
    _check_disks(cluster, baselines, cell)
    changes: dict[str, float | int] = {}
    if "storage_nodes" in cell:
        changes["storage_nodes"] = int(cell["storage_nodes"])
        _check_copies(cluster, int(cell["storage_nodes"]))
    if "link" in cell:
        link = float(cell["link"])
        changes |= {
            "client_nic": min(link, cluster.client_nic),
            "storage_nic": min(link, cluster.storage_nic),
        }
    held = cluster.model_copy(update=changes)
    held = held.model_copy(update=dict(_software(held, cell, load)))
    return Parts(held, _slowed(baselines, cell))


def _check_disks(cluster: CampaignCluster, baselines: Baselines, cell: Cell) -> None:
    """What a disk does by what is in flight says nothing of one whose requests take another time."""
    if baselines.made_slow and slowness_of(cell) not in baselines.made_slow:
        raise UserError(
            f"[cluster] {cluster.name} is predicted from disks with other disk_latency, disk_channels or disk_channel_bandwidth than a "
            "cell has; give the targets of its baselines the same `conditions`"
        )


def _check_copies(cluster: CampaignCluster, nodes: int) -> None:
    if cluster.replicas > nodes:
        raise UserError(
            f"[cluster] {cluster.name} has {cluster.replicas} replicas, but a cell has {nodes} storage nodes; each copy lies on a node "
            "of its own, so lower `replicas` or raise `storage_nodes`"
        )


def _software(cluster: CampaignCluster, cell: Cell, load: Load) -> Iterator[tuple[str, float]]:
    """Requests a second that the cores left to clients and servers pass on."""
    if "client_cores" in cell:
        each = float(cell["client_cores"]) / _known(cluster, "client_processor", "client_cores")
        yield "client_iops", min(each, cluster.client_iops or each)
    if "server_cores" in cell:
        of_all = float(cell["server_cores"]) / _known(cluster, "server_processor", "server_cores")
        work = work_of(load, cluster)
        nodes = min(cluster.storage_nodes, reached_disks(load, cluster))
        each = of_all * work.parts * work.together * work.disk_visits / nodes
        yield "server_iops", min(each, cluster.server_iops or each)


def _known(cluster: CampaignCluster, key: str, condition: str) -> float:
    value = getattr(cluster, key)
    if value is None:
        raise UserError(
            f"a cell is held to {condition}, but [cluster] {cluster.name} does not say what a request costs there; give `{key}`, "
            "as measured in a cell that is not held back"
        )
    return float(value)


def _slowed(baselines: Baselines, cell: Cell) -> Baselines:
    """No disk serves more than it is held to."""
    if not any(name.startswith("disk_") for name in cell):
        return baselines
    curves = {
        (test, block): _capped(curve, _most(cell, test, block))
        for (test, block), curve in baselines.disks.items()
    }
    return replace(baselines, disks=curves)


def _capped(curve: ServiceCurve, most: float | None) -> ServiceCurve:
    if most is None:
        return curve
    return replace(curve, iops=tuple(min(each, most) for each in curve.iops), peak=min(curve.peak, most))


def _most(cell: Cell, test: str, block: int) -> float | None:
    way = "write" if "write" in test else "read"
    bandwidth, rate = cell.get(f"disk_{way}_bandwidth"), cell.get(f"disk_{way}_iops")
    limits = [float(bandwidth) / block] if bandwidth is not None else []
    return min([*limits, *([float(rate)] if rate is not None else [])], default=None)


def with_planned(known: Baselines, cells: Iterable[Cell]) -> Baselines:
    """What baselines will hold once these cells are measured, with figures that say nothing: to check before anything runs."""
    by_load = [(load, cell) for cell in cells if (load := load_in(cell)) is not None]
    blank = ServiceCurve((1.0,), (1.0,), 1.0, 0.0, 1.0)
    planned = {(load.test, load.block_size): blank for load, _ in by_load}
    slow = known.made_slow | {slowness_of(cell) for _, cell in by_load}
    return replace(known, disks={**planned, **known.disks}, made_slow=slow)


def with_processors(cluster: CampaignCluster, cells: Sequence[CellResult]) -> CampaignCluster:
    """With what a request costs clients and servers, where a cell that was not held back tells; what the file states wins."""
    if cluster.processors is None:
        return cluster
    found = {}
    for side in ("client", "server"):
        costs = [
            cell.resources[f"{side}_cpu_cores"] / cell.metrics["iops"].value
            for cell in cells
            if f"{side}_cpu_cores" in cell.resources
            and "iops" in cell.metrics
            and cell.metrics["iops"].value > 0
        ]
        if costs and getattr(cluster, f"{side}_processor") is None:
            found[f"{side}_processor"] = median(costs)
    return cluster.model_copy(update=found)
