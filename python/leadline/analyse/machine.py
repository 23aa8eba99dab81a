"""What the verdicts need to know of the machine, picked out of the environment record
(run/observe/environment.py writes it), and of what a single step stood on, out of the step's own facts.

Everything may be unknown: imported results have no environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from leadline.store.records import StepRecord

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
    access: str | None = None
    """The ioengine that reached the target past its mount: then no cache of this kernel lies between."""
    client_cores: float | None = None
    """Processor cores that each client was held to; None where it was free."""
    client_memory_bytes: float | None = None
    """Memory that each client was held to, its page cache included."""

    @property
    def on_block_devices(self) -> bool:
        """Whether bytes of an O_DIRECT request must show at block devices of this machine."""
        return not (self.is_fuse or self.is_network or self.is_memory or self.access)

    @property
    def crosses_network(self) -> bool:
        """Whether what the application moves goes over the NICs of its clients."""
        return self.is_network or self.access is not None

    @property
    def name(self) -> str:
        """Filesystem and way in, for a sentence."""
        kind = self.filesystem or "the target"
        return f"{kind} through {self.access}" if self.access else kind


def read_machine(environment: Mapping[str, Any]) -> Machine:
    """From the environment record; whatever it lacks stays unknown."""
    processor, memory = _part(environment, "processor"), _part(environment, "memory")
    machine = Machine(
        threads=_smallest(processor.get("threads"), processor.get("cgroup_limit_cores")),
        memory_bytes=_smallest(memory.get("total_bytes"), memory.get("cgroup_limit_bytes")),
        is_virtual=bool(processor.get("is_virtual")),
    )
    return _standing_on(machine, _part(environment, "filesystem"))


def machine_under(machine: Machine, record: StepRecord) -> Machine:
    """The machine as this step met it: on its own target, by its own way in, under its own conditions."""
    filesystem, held = _part(record.facts, "filesystem"), _part(record.facts, "site_conditions")
    access = record.facts.get("access")
    if not (filesystem or held or access or "client_cores" in record.cell or "client_memory" in record.cell):
        return machine
    found = replace(
        _standing_on(machine, filesystem) if filesystem else machine,
        access=str(access) if access else None,
        client_cores=_smallest(held.get("client_cores"), record.cell.get("client_cores")),
        client_memory_bytes=_smallest(held.get("client_memory"), record.cell.get("client_memory")),
    )
    return replace(found, is_fuse=False) if access else found


def _standing_on(machine: Machine, filesystem: Mapping[str, Any]) -> Machine:
    kind = filesystem.get("type")
    return replace(
        machine,
        filesystem=kind,
        is_fuse=bool(filesystem.get("is_fuse")),
        is_network=bool(filesystem.get("is_network")),
        is_memory=bool(filesystem.get("is_memory")) or kind in _MEMORY_FILESYSTEMS,
    )


def _part(known: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = known.get(name)
    return part if isinstance(part, Mapping) else {}


def _smallest(*values: Any) -> float | None:
    return min(
        (float(value) for value in values if isinstance(value, int | float) and value > 0), default=None
    )
