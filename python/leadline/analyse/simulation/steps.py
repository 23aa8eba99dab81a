"""A scenario -> the step that leadline-engine simulates (schemas/engine_step.schema.json, workload "simulate")."""

from __future__ import annotations

from typing import Any

from leadline.analyse.prediction.baselines import NetworkBaseline
from leadline.analyse.prediction.paths import PAYLOAD, Parts, round_trip_seconds
from leadline.analyse.simulation.disks import Curve, measured_curve, stated_curve
from leadline.analyse.simulation.scenarios import Scenario
from leadline.spec.cluster import Cluster
from leadline.spec.simulation import MIXED


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


def tests_of(scenario: Scenario) -> tuple[str, ...]:
    """What its requests do: one test of one way, or for mixed ones the reading test and the writing one."""
    test = str(scenario.settings["rw"])
    if test not in MIXED:
        return (test,)
    random = test.removesuffix("rw")
    both = (f"{random}read", f"{random}write")
    return both if scenario.is_mixed else both[:1] if scenario.read_share else both[1:]


def disk_bytes(scenario: Scenario, test: str) -> int:
    """Of one request to one disk, of a test of one way."""
    cluster = scenario.cluster
    piece = min(scenario.block_size, cluster.chunk_size or scenario.block_size)
    if _copies(scenario, test):
        return int(cluster.chunk_size or piece)
    code = cluster.erasure_code
    return -(-piece // code.data) if code else piece


def _copies(scenario: Scenario, test: str) -> bool:
    """Whether a write is of less than a chunk, and the chunk is written anew."""
    cluster = scenario.cluster
    small = cluster.chunk_size is not None and scenario.block_size < cluster.chunk_size
    return cluster.copy_on_write and small and test.endswith("write")


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
        "writes_to_a_file": cluster.writes_to_a_file,
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
        **_disk_rates(scenario, parts),
        "service": simulation.service,
        "service_times": [[max(1, round(each.time * 1e9)), each.count] for each in simulation.service_times],
    }


def _disk_rates(scenario: Scenario, parts: Parts | None) -> dict[str, Curve]:
    """Of what requests do; mixed ones have a curve for each way."""
    curves = [_curve(scenario, parts, test) for test in tests_of(scenario)]
    return dict(zip(("disk_rates", "disk_write_rates"), curves, strict=False))


def _curve(scenario: Scenario, parts: Parts | None, test: str) -> Curve:
    size, copied = disk_bytes(scenario, test), _copies(scenario, test)
    if parts is not None and parts.baselines.disks:
        return measured_curve(parts, test, size, copied)
    return stated_curve(scenario.cluster.disk, test, size, copied)


def _nic(scenario: Scenario, parts: Parts | None, link: float) -> float:
    """As measured for messages of that size, at most as stated; else what frames leave, as in predictions."""
    network: NetworkBaseline | None = parts.baselines.network if parts else None
    if network is None or not network.bandwidths:
        return PAYLOAD * link
    message = min(scenario.block_size, scenario.cluster.chunk_size or scenario.block_size)
    return min(link, network.bandwidth(message))


def _layout(scenario: Scenario) -> dict[str, Any]:
    cluster = scenario.cluster
    return {
        "chunk_bytes": cluster.chunk_size or scenario.block_size,
        "stripe": cluster.stripe if cluster.chunk_size else 1,
        "protection": _protection(cluster),
        "writes": cluster.writes,
        **({"reads": cluster.reads} if cluster.reads != "any_copy" else {}),
    }


def _protection(cluster: Cluster) -> dict[str, Any]:
    code = cluster.erasure_code
    if code is None:
        return {"replicas": cluster.replicas}
    return {"erasure_code": {"data": code.data, "parity": code.parity}}


def _load(scenario: Scenario) -> dict[str, Any]:
    way = tests_of(scenario)[0].removeprefix("rand")
    return {
        **(
            {"direction": "mixed", "read_share": scenario.read_share}
            if scenario.is_mixed
            else {"direction": way}
        ),
        "random": scenario.settings["rw"].startswith("rand"),
        "request_bytes": scenario.block_size,
        "operations": scenario.operations,
        "warm_up_operations": scenario.warm_up,
        "arrivals_per_second": scenario.settings["arrivals_per_second"],
        "seed": scenario.simulation.seed,
    }
