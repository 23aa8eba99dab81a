"""A lab held to a site's conditions: what cannot be is refused before it is brought up, the rest is set when all of it serves.

Targets know nothing of this. Clients' groups are made first, so that they are undone last: after the mounts, whose processes live
in them. Links, losses and limits of disks are made last, so that neither coming up nor going down is slow. Disks that take their time are
made where the target makes its disks (laboratory.py): they lie below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from leadline.errors import UserError
from leadline.plan.sites import Conditions
from leadline.run.lab.conditions import (
    LOSS_TOOLS,
    DiskLimits,
    LimitedGroup,
    limit,
    lose_packets,
    shape_link,
    throttle,
)
from leadline.run.lab.control_groups import adopt, controller_place, members
from leadline.run.lab.laboratory import Laboratory, LabTarget, Wishes
from leadline.run.lab.mounts import Mount
from leadline.run.lab.namespaces import Wiring
from leadline.run.lab.network import LabHost, network_of
from leadline.run.lab.packages import require
from leadline.run.lab.parts import devices_of, host_number
from leadline.run.lab.processes import Process
from leadline.run.lab.state import Ready, Seat

LIMITS_OF_DISKS = ("disk_read_bandwidth", "disk_write_bandwidth", "disk_read_iops", "disk_write_iops")
OF_SLOW_DISKS = ("disk_channels", "disk_channel_bandwidth")
KINDS: Mapping[str, tuple[str, ...]] = {
    "network": ("link", "packet_loss"),
    "disk": (*LIMITS_OF_DISKS, "disk_latency", *OF_SLOW_DISKS),
    "client": ("client_cores", "client_memory"),
    "server": ("server_cores",),
}
"""What a condition takes hold of; `cannot` of a target has these keys."""


@dataclass(frozen=True)
class Prepared:
    """The groups of the clients, the first client's first; none where clients are free."""

    groups: tuple[LimitedGroup, ...] = ()
    servers: LimitedGroup | None = None
    """Of all servers together; None where they are free."""


def check_conditions(name: str, target: LabTarget, conditions: Conditions) -> None:
    """Raises UserError for what this target cannot be held to, and for values that nothing can be."""
    given = conditions.given()
    cannot: Mapping[str, str] = getattr(target, "cannot", {})
    for kind, keys in KINDS.items():
        for key in keys:
            if key in given and kind in cannot:
                raise UserError(
                    f"{name} cannot be held to {key}: {cannot[kind]}; leave it out, or choose another target"
                )
            if key in given and given[key] <= 0:
                raise UserError(f"{key} is {given[key]:g}; give a value above 0, or leave it out")
    orphan = next((key for key in OF_SLOW_DISKS if key in given and "disk_latency" not in given), None)
    if orphan is not None:
        raise UserError(
            f"{orphan} is given without disk_latency; say how long a request takes there, or leave it out"
        )
    if given.get("packet_loss", 0) >= 100:
        raise UserError(f"packet_loss is {given['packet_loss']:g} %; give less than 100, or cut the link")


def prepare(lab: Laboratory, wishes: Wishes) -> Prepared:
    """Installs what the conditions need, and makes the groups of the clients."""
    conditions = wishes.conditions
    if conditions.packet_loss is not None:
        require(LOSS_TOOLS, lab.journal.tools, lab.tell)
    servers = _group_of_servers(lab, conditions.server_cores)
    if conditions.client_cores is None and conditions.client_memory is None:
        return Prepared(servers=servers)
    names = [f"{lab.state.prefix}-client{number}-limits" for number in range(1, wishes.clients + 1)]
    return Prepared(
        tuple(limit(lab.journal, name, conditions.client_cores, conditions.client_memory) for name in names),
        servers,
    )


def _group_of_servers(lab: Laboratory, cores: float | None) -> LimitedGroup | None:
    """Made before them, so that it goes after them; under version 2 a process cannot be in it and on its leash."""
    if cores is None:
        return None
    if controller_place("cpu").version == 2:
        raise UserError(
            "server_cores needs control groups of version 1 for processors, which this machine has not; leave it out"
        )
    return limit(lab.journal, f"{lab.state.prefix}-servers-limits", cores)


def hold(lab: Laboratory, made: Ready, conditions: Conditions, prepared: Prepared) -> Ready:
    """The same lab under its conditions, which stand in its facts; raises UserError when it has not what they hold."""
    if not conditions.given():
        return made
    made = _limit_clients(lab, made, prepared)
    _limit_servers(lab, prepared.servers)
    made = _hold_disks(lab, made, conditions)
    _hold_links(lab, made, conditions)
    return replace(made, facts={**made.facts, "conditions": conditions.given()})


def disk_limits(conditions: Conditions) -> DiskLimits | None:
    """None where disks are free."""
    limits = DiskLimits(
        *(_whole(getattr(conditions, key)) for key in LIMITS_OF_DISKS)
    )  # the fields stand in the same order
    return None if limits == DiskLimits() else limits


def _whole(value: float | None) -> int | None:
    return None if value is None else max(1, round(value))


def _limit_clients(lab: Laboratory, made: Ready, prepared: Prepared) -> Ready:
    """The load of each client is put into its groups by whoever starts it; what mounts for it moves in now."""
    if not prepared.groups:
        return made
    seats = made.clients or (Seat("", made.directory),)
    if len(seats) > len(prepared.groups):
        raise UserError(f"{lab.state.name} has more clients than were asked for, and cannot limit them")
    limited = zip(seats, prepared.groups, strict=False)
    return replace(made, clients=tuple(_limit_client(lab, seat, group) for seat, group in limited))


def _limit_client(lab: Laboratory, seat: Seat, group: LimitedGroup) -> Seat:
    leashes = _leashes(lab, seat)
    if group.version == 2 and leashes:  # a process is in one group only, and its leash has to stay it
        group.hold(Path(leashes[0]))
        return replace(seat, groups=(leashes[0],))
    adopt(lambda: [pid for leash in leashes for pid in members(Path(leash))], group.paths)
    return replace(seat, groups=group.paths)


def _limit_servers(lab: Laboratory, group: LimitedGroup | None) -> None:
    """They move in with all that they have forked, once they serve."""
    if group is None:
        return
    leashes = _leashes_of_servers(lab)
    if not leashes:
        raise UserError(f"{lab.state.name} has no servers of its own to hold to server_cores; leave it out")
    adopt(lambda: [pid for leash in leashes for pid in members(Path(leash))], group.paths)


def _leashes_of_servers(lab: Laboratory) -> list[str]:
    started = [entry.resource for entry in lab.journal.entries() if entry.number in lab.servers.values()]
    return [path for each in started if isinstance(each, Process) for path in each.groups[:1]]


def _leashes(lab: Laboratory, seat: Seat) -> list[str]:
    """Of what works for a client: the process behind its mount, and what was started on its host."""
    host = host_number(seat)
    groups: list[str] = []
    for resource in (entry.resource for entry in lab.journal.entries()):
        mounts = isinstance(resource, Mount) and _holds(resource, seat)
        started = isinstance(resource, Process) and host is not None and lab.parts.get(resource.name) == host
        if isinstance(resource, Mount | Process) and (mounts or started):
            groups.extend(resource.groups[:1])
    return groups


def _holds(mount: Mount, seat: Seat) -> bool:
    return "://" not in seat.directory and Path(seat.directory).is_relative_to(mount.point)


def _hold_disks(lab: Laboratory, made: Ready, conditions: Conditions) -> Ready:
    """Limits are set; disks that take their time were made so, if there are any."""
    if not set(KINDS["disk"]) & set(conditions.given()):
        return made
    devices, limits = devices_of(made.facts), disk_limits(conditions)
    if not devices:
        raise UserError(
            f"{lab.state.name} keeps its data in a directory and has no disk of its own to slow down; leave the disk_ settings out"
        )
    if limits is None:
        return made
    leashes = _leashes_of_servers(lab)
    seats = made.clients or (Seat("", made.directory),)
    homes = leashes or [path for seat in seats for path in seat.groups]
    groups = throttle(lab.journal, f"{lab.state.prefix}-disks", devices, limits, homes)
    if not groups:
        return made
    return replace(made, clients=tuple(replace(seat, groups=(*seat.groups, *groups)) for seat in seats))


def _hold_links(lab: Laboratory, made: Ready, conditions: Conditions) -> None:
    hosts = hosts_of(lab)
    if not hosts and (conditions.link is not None or conditions.packet_loss is not None):
        raise UserError(f"{lab.state.name} has no hosts and so no links; leave link and packet_loss out")
    for host in hosts:
        if conditions.link is not None:
            shape_link(lab.journal, host, round(conditions.link * 8))
        if conditions.packet_loss is not None:
            lose_packets(lab.journal, host, conditions.packet_loss)


def hosts_of(lab: Laboratory) -> tuple[LabHost, ...]:
    """All hosts of the lab's network; none where there is no network."""
    wired = [entry.resource for entry in lab.journal.entries() if isinstance(entry.resource, Wiring)]
    return network_of(lab.state.prefix, len(wired[0].hosts)).hosts if wired else ()
