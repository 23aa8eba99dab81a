"""Network interfaces and RDMA devices: the widest path data can take off this machine.

Source: kernel Documentation/ABI/testing/sysfs-class-net and Documentation/networking/bonding.rst.
"""

from __future__ import annotations

from typing import Any

from leadline.run.observe.machine import Machine

NET = "/sys/class/net"
MEGABIT = 1_000_000
KINDS = (("bond", "bonding"), ("bridge", "bridge"), ("tunnel", "tun_flags"), ("physical", "device"))
"""What an interface is, and the sysfs entry that only such an interface has."""


def describe_network(machine: Machine) -> dict[str, Any]:
    """JSON-ready facts; a fact that cannot be read is None."""
    names = interface_names(machine)
    if not names:
        machine.note("network interfaces", f"{NET} lists none.")
    return {"interfaces": [_describe(machine, name) for name in names], "rdma": _describe_rdma(machine)}


def interface_names(machine: Machine) -> list[str]:
    """Every interface; entries that are no directories (bonding_masters) are none."""
    return [name for name in machine.names(NET) if machine.path(f"{NET}/{name}").is_dir()]


def _describe(machine: Machine, name: str) -> dict[str, Any]:
    directory = f"{NET}/{name}"
    state = machine.text(f"{directory}/operstate")
    speed, reason = _speed(machine, name, state)
    if reason is not None and _kind(machine, name) in ("physical", "bond"):
        machine.note(f"speed of {name}", reason)
    return {
        "name": name,
        "kind": _kind(machine, name),
        "state": state,
        "speed_bits_per_second": speed,
        "speed_unknown_because": reason,
        "duplex": machine.text(f"{directory}/duplex"),
        "driver": _driver(machine, name),
        "mtu_bytes": machine.integer(f"{directory}/mtu"),
        "numa_node": machine.integer(f"{directory}/device/numa_node"),
        "receive_queues": _queues(machine, name, "rx-"),
        "transmit_queues": _queues(machine, name, "tx-"),
        "bonding": _describe_bond(machine, name),
        "member_of": _link_name(machine, f"{directory}/master"),
    }


def _kind(machine: Machine, name: str) -> str:
    directory = f"{NET}/{name}"
    if machine.text(f"{directory}/type") == "772":  # ARPHRD_LOOPBACK, include/uapi/linux/if_arp.h
        return "loopback"
    for kind, mark in KINDS:
        if machine.exists(f"{directory}/{mark}"):
            return kind
    return "virtual"


def _speed(machine: Machine, name: str, state: str | None) -> tuple[int | None, str | None]:
    """Bits per second, or why nobody knows. The kernel counts in megabits and says -1 for unknown."""
    megabits = machine.integer(f"{NET}/{name}/speed")
    if megabits is not None and megabits > 0:
        return megabits * MEGABIT, None
    if _kind(machine, name) == "loopback":
        return None, "Loopback is memory, not a wire."
    if state == "down":
        return None, f"{name} is down."
    driver = _driver(machine, name)
    if driver is None:
        return None, f"{name} is virtual and states no speed."
    return None, f"The driver {driver} states no speed."


def _driver(machine: Machine, name: str) -> str | None:
    return _link_name(machine, f"{NET}/{name}/device/driver")


def _link_name(machine: Machine, link: str) -> str | None:
    return machine.resolve(link).name if machine.exists(link) else None


def _queues(machine: Machine, name: str, prefix: str) -> int:
    return sum(queue.startswith(prefix) for queue in machine.names(f"{NET}/{name}/queues"))


def _describe_bond(machine: Machine, name: str) -> dict[str, Any] | None:
    directory = f"{NET}/{name}/bonding"
    mode = machine.text(f"{directory}/mode")  # "802.3ad 4": the name and its number
    if mode is None:
        return None
    return {
        "mode": mode.split()[0],
        "members": (machine.text(f"{directory}/slaves", f"members of {name}") or "").split(),
        "active_member": machine.text(f"{directory}/active_slave") or None,
        "hash_policy": (machine.text(f"{directory}/xmit_hash_policy") or "").partition(" ")[0] or None,
    }


def _describe_rdma(machine: Machine) -> list[dict[str, Any]]:
    devices = []
    for name in machine.names("/sys/class/infiniband"):
        directory = f"/sys/class/infiniband/{name}"
        for port in machine.names(f"{directory}/ports"):
            devices.append(
                {
                    "name": name,
                    "port": int(port),
                    # "4: ACTIVE"
                    "state": (machine.text(f"{directory}/ports/{port}/state") or "").rpartition(" ")[2]
                    or None,
                    "rate": machine.text(f"{directory}/ports/{port}/rate", f"rate of {name} port {port}"),
                    "link_layer": machine.text(f"{directory}/ports/{port}/link_layer"),
                    "interfaces": machine.names(f"{directory}/device/net"),
                }
            )
    return devices
