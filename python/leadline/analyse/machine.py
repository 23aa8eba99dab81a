"""What the verdicts need to know of the machine, picked out of the environment record
(run/observe/environment.py writes it).

Everything may be unknown: imported results have no environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_MEMORY_FILESYSTEMS = {"tmpfs", "ramfs"}


@dataclass(frozen=True)
class Machine:
    """The client, as far as it bounds what a figure can mean; None = unknown."""

    threads: float | None = None
    """Hardware threads that may be used at once: what there is, within the control group's limit."""
    memory_bytes: float | None = None
    """Memory that can hold cached data, within the control group's limit."""
    filesystem: str | None = None
    is_fuse: bool = False
    is_network: bool = False
    is_memory: bool = False
    is_virtual: bool = False

    @property
    def on_block_devices(self) -> bool:
        """Whether bytes of an O_DIRECT request must show at block devices of this machine."""
        return not (self.is_fuse or self.is_network or self.is_memory)


def read_machine(environment: Mapping[str, Any]) -> Machine:
    """From the environment record; whatever it lacks stays unknown."""
    processor, memory = _part(environment, "processor"), _part(environment, "memory")
    filesystem = _part(environment, "filesystem")
    kind = filesystem.get("type")
    return Machine(
        threads=_smallest(processor.get("threads"), processor.get("cgroup_limit_cores")),
        memory_bytes=_smallest(memory.get("total_bytes"), memory.get("cgroup_limit_bytes")),
        filesystem=kind,
        is_fuse=bool(filesystem.get("is_fuse")),
        is_network=bool(filesystem.get("is_network")),
        is_memory=bool(filesystem.get("is_memory")) or kind in _MEMORY_FILESYSTEMS,
        is_virtual=bool(processor.get("is_virtual")),
    )


def _part(environment: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = environment.get(name)
    return part if isinstance(part, Mapping) else {}


def _smallest(*values: Any) -> float | None:
    return min(
        (float(value) for value in values if isinstance(value, int | float) and value > 0), default=None
    )
