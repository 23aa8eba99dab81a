"""The kernel and those of its settings that change what a storage benchmark sees.

The command line is not recorded whole: it may hold secrets of the site, and only its mitigations matter here.
"""

from __future__ import annotations

import re
from typing import Any

from leadline.run.observe.machine import Machine, chosen

SETTINGS = (
    "vm.dirty_ratio",
    "vm.dirty_background_ratio",
    "vm.dirty_bytes",
    "vm.dirty_background_bytes",
    "vm.dirty_expire_centisecs",
    "vm.dirty_writeback_centisecs",
    "vm.swappiness",
    "vm.vfs_cache_pressure",
    "fs.aio-max-nr",
    "fs.aio-nr",
    "fs.file-max",
    "kernel.pid_max",
    "net.core.rmem_max",
    "net.core.wmem_max",
)
VULNERABILITIES = "/sys/devices/system/cpu/vulnerabilities"


def describe_kernel(machine: Machine) -> dict[str, Any]:
    """JSON-ready facts; a fact that cannot be read is None."""
    return {
        "release": machine.text("/proc/sys/kernel/osrelease", "kernel release"),
        "build": machine.text("/proc/sys/kernel/version"),
        "mitigations": _mitigations(machine),
        "settings": {name: _setting(machine, name) for name in SETTINGS},
        "transparent_hugepages": chosen(
            machine.text("/sys/kernel/mm/transparent_hugepage/enabled", "transparent hugepages")
        ),
        # The setting is newer than io_uring itself (6.6): without it nothing is disabled by sysctl.
        "io_uring_disabled": machine.integer("/proc/sys/kernel/io_uring_disabled", "io_uring_disabled"),
        "tcp_congestion_control": machine.text("/proc/sys/net/ipv4/tcp_congestion_control"),
        "limits": read_limits(machine),
    }


def read_limits(machine: Machine) -> dict[str, int | None]:
    """Soft limits of this process, which engines inherit; None is unlimited."""
    limits: dict[str, int | None] = {}
    wanted = {
        "Max open files": "open_files",
        "Max locked memory": "locked_memory_bytes",
        "Max processes": "processes",
    }
    for line in (machine.text("/proc/self/limits", "process limits") or "").splitlines():
        columns = re.split(r"\s{2,}", line)
        if columns[0] in wanted and len(columns) > 1:
            limits[wanted[columns[0]]] = int(columns[1]) if columns[1].isdigit() else None
    return limits


def _setting(machine: Machine, name: str) -> int | None:
    first, _, rest = name.partition(".")
    return machine.integer(f"/proc/sys/{first}/{rest.replace('.', '/')}", name)


def _mitigations(machine: Machine) -> dict[str, Any]:
    """What was asked for at boot, and how each known vulnerability stands."""
    command_line = machine.text("/proc/cmdline", "mitigations asked for at boot") or ""
    known = machine.names(VULNERABILITIES)
    states = {name: machine.text(f"{VULNERABILITIES}/{name}") or "" for name in known}
    asked_for = re.compile(r"mitigations=|nospectre|nopti|pti=")
    return {
        "asked_for": [word for word in command_line.split() if asked_for.match(word)],
        "active": sorted(name for name, state in states.items() if state.startswith("Mitigation")),
        "vulnerable": sorted(name for name, state in states.items() if "Vulnerable" in state),
    }
