"""The environment record: what the machine is, written once a run, and what of it could not be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from leadline.run.observe.block_devices import describe_block_devices
from leadline.run.observe.clock import describe_time
from leadline.run.observe.control_groups import read_group_limits
from leadline.run.observe.filesystem import describe_filesystem
from leadline.run.observe.kernel import describe_kernel
from leadline.run.observe.machine import Machine
from leadline.run.observe.memory import describe_memory
from leadline.run.observe.network_interfaces import describe_network
from leadline.run.observe.processor import describe_processor
from leadline.run.observe.versions import describe_versions


def record_environment(directory: Path, root: Path = Path("/"), fio: str = "fio") -> dict[str, Any]:
    """JSON-ready facts about the machine and the directory to be measured; what is missing never raises."""
    machine = Machine(root)
    limits = read_group_limits(machine)
    if machine.is_live:
        directory = directory.absolute()
    return {
        "processor": describe_processor(machine, limits),
        "memory": describe_memory(machine, limits),
        "kernel": describe_kernel(machine),
        "cgroup_versions": list(limits.versions),
        "filesystem": describe_filesystem(machine, directory),
        "block_devices": describe_block_devices(machine, directory),
        "network": describe_network(machine),
        "versions": describe_versions(machine, fio),
        "time": describe_time(machine),
        "unreadable": machine.unreadable,
    }
