"""Memory: how much can hold cached data, which decides whether a dataset can be measured at all."""

from __future__ import annotations

from typing import Any

from leadline.run.observe.control_groups import GroupLimits
from leadline.run.observe.machine import Machine


def read_meminfo(machine: Machine, what: str | None = None) -> dict[str, int]:
    """/proc/meminfo with its kB (which are KiB) as bytes; plain counts stay as they are."""
    found: dict[str, int] = {}
    for key, value in machine.fields("/proc/meminfo", what).items():
        number, _, unit = value.partition(" ")
        if number.isdigit():
            found[key] = int(number) * (1024 if unit == "kB" else 1)
    return found


def describe_memory(machine: Machine, limits: GroupLimits) -> dict[str, Any]:
    """JSON-ready facts; a fact that cannot be read is None."""
    meminfo = read_meminfo(machine, "memory size")
    return {
        "total_bytes": meminfo.get("MemTotal"),
        "available_bytes": meminfo.get("MemAvailable"),
        "dirty_bytes": meminfo.get("Dirty"),
        "swap_total_bytes": meminfo.get("SwapTotal"),
        "swap_free_bytes": meminfo.get("SwapFree"),
        "hugepages_total": meminfo.get("HugePages_Total"),
        "hugepages_free": meminfo.get("HugePages_Free"),
        "hugepage_size_bytes": meminfo.get("Hugepagesize"),
        "cgroup_limit_bytes": limits.memory_bytes,
    }
