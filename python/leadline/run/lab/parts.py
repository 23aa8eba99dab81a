"""The parts of a lab that is up, by the names that people and faults use: hosts, servers, disks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from leadline.errors import UserError, did_you_mean
from leadline.run.lab.journal import Journal
from leadline.run.lab.mounts import Mount
from leadline.run.lab.namespaces import FOLDER
from leadline.run.lab.network import LabHost, network_of
from leadline.run.lab.processes import Process
from leadline.run.lab.state import LabState, Ready, Seat, known_labs, lab_state

Part = TypeVar("Part")
SERVERS = "servers"
"""All of them together, as counters name them."""


@dataclass(frozen=True)
class Parts:
    """What can be broken."""

    hosts: Mapping[str, LabHost]
    """Part that it plays -> host; one host may play several."""
    servers: Mapping[str, str]
    """Name -> entry in the journal."""
    disks: Mapping[str, Path]
    """`disk1` ... -> mount point; a server's name stands for the disk of its host."""

    def host(self, name: str) -> LabHost:
        """Raises UserError for a name that no host has."""
        return _named(self.hosts, name, "host")

    def server(self, name: str) -> str:
        """Raises UserError for a name that no server has."""
        return _named(self.servers, name, "server")

    def disk(self, name: str) -> Path:
        """Raises UserError for a name that no disk has."""
        own = self.hosts.get(name)
        if own is not None and f"disk{own.number}" in self.disks and name in self.servers:
            return self.disks[f"disk{own.number}"]
        return _named(self.disks, name, "disk")


def ready_lab(name: str) -> tuple[LabState, Ready]:
    """A lab that is up, whoever works with it; raises UserError for any other."""
    state = lab_state(name)
    ready = Ready.read(state.ready)
    if ready is None:
        there = [each.name for each in known_labs()]
        up = f"up are: {', '.join(there)}" if there else "no lab is up"
        raise UserError(f"{name} is not up{did_you_mean(name, there)} ({up})")
    return state, ready


def parts_of(state: LabState, ready: Ready) -> Parts:
    """Of a lab that is up, also while another process works with it."""
    hosts = network_of(state.prefix, max(ready.hosts.values())).hosts if ready.hosts else ()
    return Parts(
        {name: hosts[number - 1] for name, number in ready.hosts.items()},
        ready.servers,
        _disks(Journal(state.journal), ready),
    )


def host_number(seat: Seat) -> int | None:
    """Of the lab's host that a client sits on; None for a client on this machine itself."""
    found = re.search(r"-h(\d+)$", seat.namespace)
    return int(found[1]) if found else None


def client_hosts(seats: Sequence[Seat]) -> dict[str, int]:
    """`client1` ... -> the number of its host."""
    numbers = {f"client{place}": host_number(seat) for place, seat in enumerate(seats, 1)}
    return {name: number for name, number in numbers.items() if number is not None}


def counted_namespaces(state: LabState, ready: Ready) -> dict[str, str]:
    """A name for each host with a part -> the path of its network namespace, for counters; clients' names come first."""
    named = sorted(ready.hosts.items(), key=lambda each: (not each[0].startswith("client"), each[1]))
    by_number: dict[int, str] = {}
    for name, number in named:
        by_number.setdefault(number, name)
    return {name: str(FOLDER / f"{state.prefix}-h{number}") for number, name in by_number.items()}


def processor_groups(state: LabState, ready: Ready) -> dict[str, tuple[str, ...]]:
    """`servers` and each client -> the leashes of its processes, for counters."""
    entries = {entry.number: entry.resource for entry in Journal(state.journal).entries()}
    started = [entries.get(number) for number in ready.servers.values()]
    servers = tuple(each.groups[0] for each in started if isinstance(each, Process) and each.groups)
    found = {SERVERS: servers} if servers else {}
    for place, seat in enumerate(ready.clients, 1):
        mounts = [each for each in entries.values() if isinstance(each, Mount) and _mounted_for(each, seat)]
        found[f"client{place}"] = tuple(each.groups[0] for each in mounts if each.groups)
    return found


def _mounted_for(mount: Mount, seat: Seat) -> bool:
    return "://" not in seat.directory and Path(seat.directory).is_relative_to(mount.point)


def devices_of(facts: Mapping[str, Any]) -> list[Path]:
    """The block devices that a lab stores on, and that are its own."""
    return [Path(device) for device in facts.get("disks", [facts["device"]] if "device" in facts else [])]


def _disks(journal: Journal, ready: Ready) -> dict[str, Path]:
    mounts = [each.resource for each in journal.entries() if isinstance(each.resource, Mount)]
    points = {mount.source: Path(mount.point) for mount in mounts if mount.source}
    return {
        f"disk{place}": points[each]
        for place, each in enumerate(map(str, devices_of(ready.facts)), 1)
        if each in points
    }


def _named(parts: Mapping[str, Part], name: str, kind: str) -> Part:
    if name not in parts:
        known = f"it has: {', '.join(sorted(parts))}" if parts else "it has none"
        raise UserError(f'the lab has no {kind} "{name}"{did_you_mean(name, parts)} ({known})')
    return parts[name]
