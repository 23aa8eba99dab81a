"""Clusters and baselines made by hand: every disk and NIC does exactly what the test says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from leadline.analyse.prediction.baselines import read_baselines
from leadline.analyse.prediction.paths import Parts
from leadline.analyse.prediction.predictions import Forecast
from leadline.analyse.prediction.workload import Load
from leadline.analyse.results import CellResult, Estimate, Verdict
from leadline.spec.cluster import Cluster
from leadline.spec.load_cluster import build_cluster
from leadline.store.records import Direction

MIB = 1 << 20
DISK = {1: 250.0, 2: 300.0, 4: 320.0, 8: 330.0, 64: 330.0}
"""Requests of 1 MiB at one disk -> requests a second."""


def cluster(**keys: Any) -> Cluster:
    """Five nodes of one disk, whose NICs are never in the way."""
    usual = {"storage_nodes": 5, "storage_nic": "400Gb/s", "client_nic": "400Gb/s", "chunk_size": "1m"}
    return build_cluster({**usual, **keys}, "c.toml")


def cell(
    load: Load,
    iops: float,
    mean_ns: float | None = None,
    verdicts: tuple[Verdict, ...] = (),
    percentiles: Mapping[str, float] | None = None,
    **settings: Any,
) -> CellResult:
    """A measured cell; its latency follows by Little's law unless it is said."""
    asked = load.iodepth * load.numjobs * load.clients
    metrics = {"iops": iops, "mean": mean_ns or asked / iops * 1e9, "bandwidth": iops * load.block_size}
    figures = {**metrics, **(percentiles or {})}
    return CellResult(
        run="run",
        experiment="experiment",
        cell={
            "rw": load.test,
            "block_size": load.block_size,
            "iodepth": load.iodepth,
            "numjobs": load.numjobs,
            "clients": load.clients,
            **settings,
        },
        direction=Direction.WRITE if load.is_write else Direction.READ,
        test=load.test,
        repeats=1,
        metrics={name: Estimate(value, None, None, 1, "by hand") for name, value in figures.items()},
        verdicts=verdicts,
        concurrency=asked,
        effective_concurrency=iops * figures["mean"] / 1e9,
    )


def disk_cells(
    test: str = "randread", block_size: int = MIB, rates: Mapping[int, float] = DISK, even: bool = False
) -> list[CellResult]:
    """One disk's grid; `even` services are all alike, others exponential as far as the percentiles tell."""
    known = {"p50": 4e6, "p90": 4e6} if even else None
    return [cell(Load(test, block_size, depth), rate, percentiles=known) for depth, rate in rates.items()]


def network_cells(bytes_per_second: float, round_trip_ns: float = 10_000) -> list[CellResult]:
    """perftest's sweep of a NIC that is as fast at every size."""
    found = []
    for size in (2, 4096, MIB):
        for test, rate in (("ib_read_bw", bytes_per_second / size), ("ib_read_lat", 1e9 / round_trip_ns)):
            made = cell(Load("network", size), rate, round_trip_ns)
            settings = {"test": test, "message_size": size}
            found.append(
                CellResult(**{**made.__dict__, "cell": settings, "test": "read", "experiment": "network"})
            )
    return found


def parts(made: Cluster | None = None, cells: Iterable[CellResult] | None = None) -> Parts:
    """A cluster with the baseline of its disks."""
    return Parts(made or cluster(), read_baselines(list(cells or disk_cells())))


def measured(loads: Mapping[Load, Forecast], **settings: Any) -> list[CellResult]:
    """A target that did what was foretold."""
    return [cell(load, found.iops, found.mean_ns, **settings) for load, found in loads.items()]
