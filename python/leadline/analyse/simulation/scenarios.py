"""A cluster file -> the points of its curves: one cluster under one load each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from leadline.errors import UserError
from leadline.spec.cluster import Cluster
from leadline.spec.load_cluster import ClusterFile, build_cluster
from leadline.spec.simulation import HALF, MIXED, Simulation, build_simulation

MOST_SCENARIOS = 10_000
OF_THE_CLUSTER = ("storage_nodes", "clients")
AXES = (
    "rw", "read_percentage", "block_size", *OF_THE_CLUSTER, "numjobs", "iodepth", "arrivals_per_second", "failed_nodes", "stragglers",
)  # fmt: skip
LEAST_OPERATIONS = 50_000
OPERATIONS_FOR_EACH_IN_FLIGHT = 20
WARM_UP_FOR_EACH_IN_FLIGHT = 5


@dataclass(frozen=True)
class Scenario:
    """One point."""

    cluster: Cluster
    simulation: Simulation
    settings: Mapping[str, Any]
    """By the names in AXES; those that were left out of the file are the cluster's or None."""

    @property
    def block_size(self) -> int:
        """Bytes of a request."""
        return int(self.settings["block_size"])

    @property
    def read_share(self) -> float:
        """Of all requests, 0 to 1."""
        if self.settings["rw"] in MIXED:
            return float(self.settings["read_percentage"]) / 100
        return 0.0 if self.settings["rw"].endswith("write") else 1.0

    @property
    def is_mixed(self) -> bool:
        """Whether some requests read and others write."""
        return 0.0 < self.read_share < 1.0

    @property
    def in_flight_of_a_client(self) -> int:
        """Requests, as far as the cluster's clients keep to what they are asked for."""
        jobs, depth = int(self.settings["numjobs"]), int(self.settings["iodepth"])
        asked = jobs * (depth if self.cluster.iodepth == "kept" else 1)
        return min(asked, self.cluster.in_flight or asked)

    @property
    def in_flight(self) -> int:
        """Requests of all clients."""
        return self.cluster.clients * self.in_flight_of_a_client

    @property
    def operations(self) -> int:
        """Requests that count."""
        return self.simulation.operations or max(
            LEAST_OPERATIONS, OPERATIONS_FOR_EACH_IN_FLIGHT * self.in_flight
        )

    @property
    def warm_up(self) -> int:
        """Requests before them."""
        if self.simulation.warm_up is not None:
            return self.simulation.warm_up
        return max(self.operations // 5, WARM_UP_FOR_EACH_IN_FLIGHT * self.in_flight)


def scenarios_of(file: ClusterFile, where: str) -> list[Scenario]:
    """Every combination of the axes, in the order of the file's lists; raises UserError naming `where`."""
    simulation = build_simulation(file.simulation, where)
    axes = {name: _values(simulation, file.cluster, name) for name in AXES}
    count = 1
    for values in axes.values():
        count *= len(values)
    if count > MOST_SCENARIOS:
        raise UserError(
            f"{where}: the lists in [simulation] make {count:,} combinations; shorten them to {MOST_SCENARIOS:,} at most"
        )
    found = [_scenario(file, simulation, settings, where) for settings in _combined(axes)]
    for scenario in found:
        _check_trouble(scenario, where)
    return found


def varied(scenarios: list[Scenario]) -> list[str]:
    """The axes that have several values."""
    return [name for name in AXES if len({scenario.settings[name] for scenario in scenarios}) > 1]


def _values(simulation: Simulation, cluster: Cluster, name: str) -> tuple[Any, ...]:
    values = getattr(simulation, name)
    if values is not None:
        return tuple(values)
    if name == "read_percentage":
        return (HALF,)
    return (getattr(cluster, name),) if name in OF_THE_CLUSTER else (None,)


def _combined(axes: Mapping[str, tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    """A share of reads belongs to mixed tests; without it combinations of other tests are one and the same."""
    known = set()
    for values in product(*axes.values()):
        settings = dict(zip(axes, values, strict=True))
        if settings["rw"] not in MIXED:
            settings["read_percentage"] = None
        if (key := tuple(settings.values())) not in known:
            known.add(key)
            yield settings


def _scenario(file: ClusterFile, simulation: Simulation, settings: Mapping[str, Any], where: str) -> Scenario:
    table = {**file.table, **{name: settings[name] for name in OF_THE_CLUSTER}}
    return Scenario(build_cluster(table, where), simulation, settings)


def _check_trouble(scenario: Scenario, where: str) -> None:
    failed, slow = scenario.settings["failed_nodes"], scenario.settings["stragglers"]
    nodes = scenario.cluster.storage_nodes
    if failed >= nodes:
        raise UserError(
            f"{where}: `failed_nodes` in [simulation] is {failed} of {nodes} storage nodes; leave at least one"
        )
    if failed + slow > nodes:
        raise UserError(
            f"{where}: {failed} `failed_nodes` and {slow} `stragglers` in [simulation] are more than {nodes} storage nodes"
        )
