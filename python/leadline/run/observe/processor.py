"""The processor: what it is, how it is laid out, what clocks it and how much of it we may use."""

from __future__ import annotations

import re
from typing import Any

from leadline.run.observe.control_groups import GroupLimits
from leadline.run.observe.machine import Machine, cpu_count

CPU = "/sys/devices/system/cpu"
HYPERVISOR_PRODUCTS = re.compile(r"qemu|kvm|vmware|virtual|xen|ec2|google compute|openstack", re.IGNORECASE)


def describe_processor(machine: Machine, limits: GroupLimits) -> dict[str, Any]:
    """JSON-ready facts; a fact that cannot be read is None."""
    entries = _cpuinfo(machine)
    first = entries[0] if entries else {}
    model = first.get("model name") or first.get("cpu model") or first.get("Processor")
    if model is None:
        machine.note("processor model", "/proc/cpuinfo names none (usual on ARM).")
    return {
        "model": model,
        "architecture": machine.text("/proc/sys/kernel/arch", "processor architecture"),
        **_layout(machine, entries),
        **_clock(machine, entries),
        "smt": machine.text(f"{CPU}/smt/control"),
        **_hypervisor(machine, first),
        "numa_nodes": _numa_nodes(machine),
        "allowed_cpus": machine.fields("/proc/self/status").get("Cpus_allowed_list"),
        "cgroup_limit_cores": limits.cpu_cores,
    }


def _cpuinfo(machine: Machine) -> list[dict[str, str]]:
    """/proc/cpuinfo as one dictionary a thread."""
    text = machine.text("/proc/cpuinfo", "processor description") or ""
    entries = [
        {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in block.splitlines())}
        for block in re.split(r"\n\s*\n", text)
    ]
    return [entry for entry in entries if "processor" in entry]


def _threads(machine: Machine) -> list[str]:
    return sorted(
        (name for name in machine.names(CPU) if re.fullmatch(r"cpu\d+", name)), key=lambda name: int(name[3:])
    )


def _layout(machine: Machine, entries: list[dict[str, str]]) -> dict[str, int | None]:
    """What is online: from sysfs, which every architecture fills, else from cpuinfo."""
    places = [
        (package, core)
        for name in _threads(machine)
        if (package := machine.text(f"{CPU}/{name}/topology/physical_package_id")) is not None
        and (core := machine.text(f"{CPU}/{name}/topology/core_id")) is not None
    ] or [(e["physical id"], e["core id"]) for e in entries if "physical id" in e and "core id" in e]
    if not places:
        why = "neither sysfs nor /proc/cpuinfo tells how the threads are laid out."
        machine.note("sockets and cores", why)
    return {
        "sockets": len({package for package, _ in places}) or None,
        "cores": len(set(places)) or None,
        "threads": len(entries) or len(places) or None,
    }


def _clock(machine: Machine, entries: list[dict[str, str]]) -> dict[str, Any]:
    now = [float(entry["cpu MHz"]) for entry in entries if "cpu MHz" in entry]
    governors = {
        governor
        for name in _threads(machine)
        if (governor := machine.text(f"{CPU}/{name}/cpufreq/scaling_governor")) is not None
    }
    if not governors:
        machine.note("CPU governor", f"{CPU}/cpu0/cpufreq does not exist (usual in a virtual machine).")
    maximum_khz = machine.integer(f"{CPU}/cpu0/cpufreq/cpuinfo_max_freq", "highest CPU clock")
    return {
        "clock_now_lowest_mhz": min(now, default=None),
        "clock_now_highest_mhz": max(now, default=None),
        "clock_maximum_mhz": None if maximum_khz is None else maximum_khz / 1000,
        "governors": sorted(governors),
        "driver": machine.text(f"{CPU}/cpu0/cpufreq/scaling_driver"),
    }


def _hypervisor(machine: Machine, first: dict[str, str]) -> dict[str, Any]:
    """The flag is set by every x86 hypervisor; elsewhere only the firmware's vendor hints at one."""
    product = " ".join(
        filter(None, (machine.text(f"/sys/class/dmi/id/{key}") for key in ("sys_vendor", "product_name")))
    )
    flagged = "hypervisor" in first.get("flags", "").split()
    known = HYPERVISOR_PRODUCTS.search(product)
    return {
        "is_virtual": flagged or (known is not None and "metal" not in product),
        "hypervisor": machine.text("/sys/hypervisor/type"),
        "product": product or None,
    }


def _numa_nodes(machine: Machine) -> list[dict[str, Any]]:
    nodes = []
    for name in machine.names("/sys/devices/system/node"):
        if re.fullmatch(r"node\d+", name):
            directory = f"/sys/devices/system/node/{name}"
            cpus = machine.text(f"{directory}/cpulist") or ""
            total = re.search(r"MemTotal:\s*(\d+) kB", machine.text(f"{directory}/meminfo") or "")
            nodes.append(
                {
                    "node": int(name[4:]),
                    "cpus": cpus,
                    "threads": cpu_count(cpus),
                    "memory_bytes": int(total[1]) * 1024 if total else None,
                }
            )
    return sorted(nodes, key=lambda node: int(node["node"]))
