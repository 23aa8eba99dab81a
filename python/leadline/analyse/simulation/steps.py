"""A scenario -> the step that leadline-engine simulates (schemas/engine_step.schema.json, workload "simulate")."""

from __future__ import annotations

from typing import Any

from leadline.analyse.prediction.baselines import NetworkBaseline
from leadline.analyse.prediction.paths import Parts, round_trip_seconds
from leadline.analyse.simulation.disks import measured_curve, stated_curve
from leadline.analyse.simulation.scenarios import Scenario
from leadline.spec.cluster import Cluster


def step_of(scenario: Scenario, parts: Parts | None) -> dict[str, Any]:
    """`parts`: with baselines, where the user gave some. Raises UserError where figures are missing."""
    return {
        "workload": "simulate",
        "clients": _clients(scenario, parts),
        "network": _network(scenario, parts),
        "storage": _storage(scenario, parts),
        "layout": _layout(scenario),
        "load": _load(scenario),
        "trouble": {
            "failed_nodes": scenario.settings["failed_nodes"],
            "stragglers": scenario.settings["stragglers"],
            "straggler_factor": scenario.simulation.straggler_factor,
        },
    }


def disk_bytes(scenario: Scenario) -> int:
    """Of one request to one disk."""
    cluster = scenario.cluster
    piece = min(scenario.block_size, cluster.chunk_size or scenario.block_size)
    if _copies(scenario):
        return int(cluster.chunk_size or piece)
    code = cluster.erasure_code
    return -(-piece // code.data) if code else piece


def _copies(scenario: Scenario) -> bool:
    """Whether a write is of less than a chunk, and the chunk is written anew."""
    cluster = scenario.cluster
    small = cluster.chunk_size is not None and scenario.block_size < cluster.chunk_size
    return cluster.copy_on_write and small and scenario.settings["rw"].endswith("write")


def _clients(scenario: Scenario, parts: Parts | None) -> dict[str, Any]:
    cluster = scenario.cluster
    return {
        "count": cluster.clients,
        "requests_in_flight": scenario.in_flight_of_a_client,
        "files": scenario.settings["numjobs"],
        "delay_ns": cluster.client_delay * 1e9,
        "most_requests_per_second": cluster.client_iops,
        "nics": cluster.client_nics,
        "nic_bytes_per_second": _nic(scenario, parts, cluster.client_nic),
    }


def _network(scenario: Scenario, parts: Parts | None) -> dict[str, Any]:
    cluster = scenario.cluster
    trip = round_trip_seconds(parts) if parts else cluster.round_trip
    return {
        "round_trip_ns": (trip or 0.0) * 1e9,
        "switch_bytes_per_second": cluster.switch,
        "transfer": scenario.simulation.transfer,
    }


def _storage(scenario: Scenario, parts: Parts | None) -> dict[str, Any]:
    cluster, simulation = scenario.cluster, scenario.simulation
    return {
        "nodes": cluster.storage_nodes,
        "disks_per_node": cluster.disks_per_node,
        "nics": cluster.storage_nics,
        "nic_bytes_per_second": _nic(scenario, parts, cluster.storage_nic),
        "delay_ns": cluster.server_delay * 1e9,
        "most_requests_per_second": cluster.server_iops,
        "disk_rates": _disk_rates(scenario, parts),
        "service": simulation.service,
        "service_times": [[max(1, round(each.time * 1e9)), each.count] for each in simulation.service_times],
    }


def _disk_rates(scenario: Scenario, parts: Parts | None) -> list[tuple[int, float]]:
    test, size, copied = scenario.settings["rw"], disk_bytes(scenario), _copies(scenario)
    if parts is not None and parts.baselines.disks:
        return measured_curve(parts, test, size, copied)
    return stated_curve(scenario.cluster.disk, test, size, copied)


def _nic(scenario: Scenario, parts: Parts | None, link: float) -> float:
    """As measured for messages of that size, at most as stated."""
    network: NetworkBaseline | None = parts.baselines.network if parts else None
    if network is None or not network.bandwidths:
        return link
    message = min(scenario.block_size, scenario.cluster.chunk_size or scenario.block_size)
    return min(link, network.bandwidth(message))


def _layout(scenario: Scenario) -> dict[str, Any]:
    cluster = scenario.cluster
    return {
        "chunk_bytes": cluster.chunk_size or scenario.block_size,
        "stripe": cluster.stripe,
        "protection": _protection(cluster),
        "writes": cluster.writes,
    }


def _protection(cluster: Cluster) -> dict[str, Any]:
    code = cluster.erasure_code
    if code is None:
        return {"replicas": cluster.replicas}
    return {"erasure_code": {"data": code.data, "parity": code.parity}}


def _load(scenario: Scenario) -> dict[str, Any]:
    test = scenario.settings["rw"]
    return {
        "direction": test.removeprefix("rand"),
        "random": test.startswith("rand"),
        "request_bytes": scenario.block_size,
        "operations": scenario.operations,
        "warm_up_operations": scenario.warm_up,
        "arrivals_per_second": scenario.settings["arrivals_per_second"],
        "seed": scenario.simulation.seed,
    }
