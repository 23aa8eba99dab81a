"""Interfaces, bonds and RDMA ports."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leadline.run.observe.machine import Machine
from leadline.run.observe.network_interfaces import describe_network, interface_names


@pytest.fixture
def server(recorded: Callable[[str], Path]) -> Machine:
    return Machine(recorded("bonded_numa_server"))


def interface(machine: Machine, name: str) -> dict[str, Any]:
    return next(nic for nic in describe_network(machine)["interfaces"] if nic["name"] == name)


def test_files_among_the_interfaces_are_no_interfaces(server: Machine) -> None:
    assert interface_names(server) == ["bond0", "ens1f0", "ens1f1", "lo"]


def test_speed_is_in_bits_per_second(server: Machine) -> None:
    assert interface(server, "ens1f0")["speed_bits_per_second"] == 100_000_000_000


def test_a_bond_names_its_mode_and_members(server: Machine) -> None:
    bond = interface(server, "bond0")
    assert bond["kind"] == "bond"
    assert bond["bonding"] == {
        "mode": "802.3ad",
        "members": ["ens1f0", "ens1f1"],
        "active_member": None,
        "hash_policy": "layer3+4",
    }


def test_a_member_knows_its_bond_driver_and_queues(server: Machine) -> None:
    nic = interface(server, "ens1f0")
    assert (nic["member_of"], nic["driver"], nic["mtu_bytes"]) == ("bond0", "mlx5_core", 9000)
    assert (nic["receive_queues"], nic["transmit_queues"], nic["numa_node"]) == (2, 1, 1)


def test_an_unknown_speed_is_null_with_its_reason(server: Machine) -> None:
    assert interface(server, "ens1f1")["speed_bits_per_second"] is None
    assert interface(server, "ens1f1")["speed_unknown_because"] == "ens1f1 is down."
    assert interface(server, "lo")["speed_unknown_because"] == "Loopback is memory, not a wire."


def test_only_wires_without_a_speed_count_as_unreadable(server: Machine) -> None:
    describe_network(server)
    assert [entry["what"] for entry in server.unreadable] == ["speed of ens1f1"]


def test_rdma_ports_are_listed_with_their_interfaces(server: Machine) -> None:
    assert describe_network(server)["rdma"] == [
        {
            "name": "mlx5_bond_0",
            "port": 1,
            "state": "ACTIVE",
            "rate": "100 Gb/sec (4X EDR)",
            "link_layer": "Ethernet",
            "interfaces": ["ens1f0"],
        }
    ]
