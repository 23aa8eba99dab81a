"""Bytes at the NICs of the hosts that took part: a cross-check of what the application says, and each host's use.

Counters of hosts are named `host.<name>.nic.<interface>.receive_bytes` (store/records.py). They run over the whole
step: the bytes of a ramp count too, so a comparison with the application's bytes errs towards belief. What is busy before the
ramp and after the window (files opened, what drains) would make rates too high; no rate is higher than the counters' busiest sample.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leadline.analyse.attendance import by_number, everyone
from leadline.analyse.host_loads import host_loads
from leadline.analyse.merge import Trial, Trials
from leadline.analyse.participants import HostUse
from leadline.store.records import Direction, StepRecord

HONEST_NIC_SHARE = 0.9
"""At least this share of the application's bytes must show at the NICs of its clients (protocols only add to them)."""
AMPLIFIED = 1.3
"""Above this it is no protocol overhead: the client moves more than the application asks for (replicas, readahead)."""

_WAYS = {
    Direction.READ: "receive",
    Direction.WRITE: "transmit",
    Direction.TRIM: "transmit",
    Direction.SEND: "transmit",
    Direction.RECEIVE: "transmit",
}
_RECEIVED, _SENT = "receive_bytes", "transmit_bytes"
_SENT_AGAIN = "tcp.retransmitted_segments"
_RATE = "_per_second"
"""What the name of a total has behind it as the name of a series."""


def client_nic_share(trials: Trials) -> float | None:
    """Bytes at the clients' NICs over bytes of the application, in the cell's direction.

    None unless every client of every repeat was counted: the rest would not speak for all; and None for what is done to names.
    """
    moved = at_nics = 0.0
    for trial in trials.trials:
        counted = _at_clients(trial.record, _WAYS[trials.direction]) if trials.direction in _WAYS else None
        if counted is None:
            return None
        moved, at_nics = moved + trial.size_bytes, at_nics + counted
    return at_nics / moved if moved else None


def summarise_nics(trials: Trials, hosts: Sequence[HostUse]) -> dict[str, float]:
    """Entries of CellResult.resources: where clients have NICs of their own, this machine's say nothing of the load."""
    uses = [use for use in hosts if use.is_client]
    if not uses:
        return {}
    share = client_nic_share(trials)
    found = {
        "nic_receive_bytes_per_second": sum(use.receive_bytes_per_second for use in uses),
        "nic_transmit_bytes_per_second": sum(use.transmit_bytes_per_second for use in uses),
    }
    return found if share is None else {**found, "nic_share": share}


def has_servers(trials: Trials) -> bool:
    """Whether hosts beside the clients were counted: the servers of a target in the lab."""
    return any(not use.is_client for use in host_uses(trials))


def host_uses(trials: Trials) -> tuple[HostUse, ...]:
    """Every host whose NICs were counted, clients first; means over the repeats."""
    by_host: dict[str, list[dict[str, float]]] = {}
    for trial in trials.trials:
        for name, rates in _rates(trial).items():
            by_host.setdefault(name, []).append(rates)
    clients = {name for trial in trials.trials for name in everyone(trial.record)}
    link = shaped_link(trials.first)
    loads = host_loads(trials)
    uses = [
        _use(name, name in clients or name in loads, repeats, link, loads.get(name, {}))
        for name, repeats in by_host.items()
    ]
    return tuple(sorted(uses, key=lambda use: (not use.is_client, by_number(use.name))))


def _at_clients(record: StepRecord, way: str) -> float | None:
    by_host = _host_bytes(record.totals)
    counted = [by_host.get(name, {}).get(f"{way}_bytes") for name in everyone(record)]
    known = [amount for amount in counted if amount is not None]
    return sum(known) if known and len(known) == len(counted) else None


def _host_bytes(totals: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By host: bytes received and sent over all its NICs but the loopback, segments sent again. Numbers, or arrays of them."""
    found: dict[str, dict[str, Any]] = {}
    for host, quantity, amount in _of_hosts(totals):
        counts = found.setdefault(host, {})
        counts[quantity] = counts.get(quantity, 0.0) + amount
    return {host: counts for host, counts in found.items() if _RECEIVED in counts or _SENT in counts}


def _of_hosts(totals: Mapping[str, Any]) -> Iterable[tuple[str, str, Any]]:
    """(host, quantity, amount); a host's name may have dots of its own."""
    for name, amount in totals.items():
        if not name.startswith("host."):
            continue
        host, found, rest = name.removeprefix("host.").partition(".nic.")
        interface, _, quantity = rest.rpartition(".")
        if found and interface != "lo" and quantity in (_RECEIVED, _SENT):
            yield host, quantity, amount
        elif name.endswith(f".{_SENT_AGAIN}"):
            yield name.removeprefix("host.").removesuffix(f".{_SENT_AGAIN}"), _SENT_AGAIN, amount


def _rates(trial: Trial) -> dict[str, dict[str, float]]:
    """By host, bytes a second over the time in which there was load, the ramp included."""
    seconds = trial.load_ns / 1e9 + _ramp_seconds(trial.record)
    if seconds <= 0:
        return {}
    busiest = _busiest_samples(trial.record)
    return {
        host: {
            name: amount
            if name == _SENT_AGAIN
            else min(amount / seconds, busiest.get(host, {}).get(name, math.inf))
            for name, amount in {_RECEIVED: 0.0, _SENT: 0.0, **counts}.items()
        }
        for host, counts in _host_bytes(trial.record.totals).items()
    }


def _busiest_samples(record: StepRecord) -> dict[str, dict[str, float]]:
    """By host, the highest rates that its counters saw; empty without series."""
    series = {
        name.removesuffix(_RATE): values
        for table in record.counters
        for name, values in zip(table.names, table.values, strict=True)
        if name.startswith("host.") and values.size
    }
    return {
        host: {name: float(rates.max()) for name, rates in counts.items()}
        for host, counts in _host_bytes(series).items()
    }


def _ramp_seconds(record: StepRecord) -> float:
    ramp = record.cell.get("ramp", 0.0)
    return float(ramp) if isinstance(ramp, int | float) else 0.0


def _use(
    name: str,
    is_client: bool,
    repeats: list[dict[str, float]],
    link: float | None,
    load: Mapping[str, float],
) -> HostUse:
    received, sent = (_mean(repeats, quantity) or 0.0 for quantity in (_RECEIVED, _SENT))
    busier = max(received, sent)
    return HostUse(
        name=name,
        is_client=is_client,
        receive_bytes_per_second=received,
        transmit_bytes_per_second=sent,
        link_share=busier / link if link else None,
        retransmitted_segments=_mean(repeats, _SENT_AGAIN),
        cpu_busy_share=load.get("cpu_busy_share"),
        disk_utilisation=load.get("disk_utilisation"),
        disk_queue_length=load.get("disk_queue_length"),
    )


def _mean(repeats: list[dict[str, float]], quantity: str) -> float | None:
    values = [counts[quantity] for counts in repeats if quantity in counts]
    return sum(values) / len(values) if values else None


def shaped_link(record: StepRecord) -> float | None:
    """Bytes per second each way of every host's cable, where the lab shaped it."""
    held = record.facts.get("site_conditions")
    link = held.get("link") if isinstance(held, Mapping) else None
    link = record.cell.get("link") if link is None else link
    return float(link) if isinstance(link, int | float) and link > 0 else None
