"""Cluster files to vary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leadline.analyse.simulation.scenarios import Scenario, scenarios_of
from leadline.spec.load_cluster import ClusterFile, build_cluster

DISK = {"read": "500MB/s", "write": "400MB/s", "randread": "250MB/s", "read_latency": "2ms"}
CLUSTER: Mapping[str, Any] = {
    "storage_nodes": 5,
    "disks_per_node": 2,
    "storage_nic": "25Gb/s",
    "clients": 2,
    "client_nic": "25Gb/s",
    "disk": DISK,
}


def cluster_file(simulation: Mapping[str, Any], **cluster: Any) -> ClusterFile:
    table = {**CLUSTER, **cluster}
    return ClusterFile(build_cluster(table, "c.toml"), table, simulation)


def scenarios(simulation: Mapping[str, Any], **cluster: Any) -> list[Scenario]:
    return scenarios_of(cluster_file(simulation, **cluster), "c.toml")


def scenario(simulation: Mapping[str, Any], **cluster: Any) -> Scenario:
    found = scenarios(simulation, **cluster)
    assert len(found) == 1
    return found[0]
