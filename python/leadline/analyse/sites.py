"""What the cells of a run stood on: each target with its filesystem, the way in, and the conditions it was held to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leadline.analyse.machine import Machine, machine_under
from leadline.analyse.order import natural
from leadline.analyse.results import CellResult, Site
from leadline.store.records import Status, StepKind, StepRecord


def gather_sites(records: Iterable[StepRecord], machine: Machine) -> tuple[Site, ...]:
    """One for each distinct footing of the finished cells, by target; a failed step may not know what it stood on."""
    found: dict[tuple[Any, ...], Site] = {}
    for record in sorted(records, key=lambda record: record.ordinal):
        if record.kind is StepKind.CELL and record.status is Status.FINISHED:
            site = _site(record, machine)
            key = (site.target, site.machine.name, tuple(sorted(site.conditions.items())))
            found.setdefault(key, site)
    return tuple(sorted(found.values(), key=lambda site: natural(site.target)))


def shared_links(sites: Sequence[Site], cells: Sequence[CellResult]) -> tuple[str, float] | None:
    """What the shaped cables of the clients carry together, in words and bytes per second.

    None where it is not the same for all cells, or where some target is not reached over them.
    """
    links = {site.conditions.get("link") for site in sites if site.machine.crosses_network}
    clients = {cell.cell.get("clients", 1) for cell in cells}
    if len(links) != 1 or len(clients) != 1 or not all(site.machine.crosses_network for site in sites):
        return None
    (link,), (number,) = links, clients
    if link is None or not isinstance(number, int):
        return None
    return ("link of the client" if number == 1 else f"links of {number} clients"), link * number


def _site(record: StepRecord, machine: Machine) -> Site:
    held = record.facts.get("site_conditions")
    conditions = {str(name): value for name, value in held.items()} if isinstance(held, Mapping) else {}
    return Site(str(record.cell.get("target", "")), machine_under(machine, record), conditions)
