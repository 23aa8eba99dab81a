"""Small records of several clients, made by hand: who ran when, what each moved, what its NIC carried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leadline.store.records import Direction, Measurement, Scalar, StepRecord
from leadline.store.series import Series

from .samples import CLEAN, GIB, SECOND_NS, measurement, record

NETWORK = {"type": "nfs4", "is_fuse": False, "is_network": True, "is_memory": False}
FUSE = {"type": "fuse.glusterfs", "is_fuse": True, "is_network": True, "is_memory": False}
IOPS = 1_000
BLOCK = 65_536


def client(name: str, *, seconds: float = 10, iops: float = IOPS, **known: Any) -> Measurement:
    """What one client moved with one job of iodepth 8."""
    return measurement(iops=iops, seconds=seconds, host=name, **known)


def together(
    *parts: Measurement,
    windows: Mapping[str, tuple[float, float]] | None = None,
    machines: Mapping[str, str] | None = None,
    cell: Mapping[str, Scalar] | None = None,
    series: tuple[Series, ...] = (),
    facts: Mapping[str, Any] | None = None,
    **known: Any,
) -> StepRecord:
    """A step of these clients; `windows` are begin and end of their processes in seconds."""
    started = {part.host: (0.0, part.runtime_ns / SECOND_NS) for part in parts} | dict(windows or {})
    entries = [
        {
            "name": name,
            "host": (machines or {}).get(name, "local"),
            "started_ns": begin * SECOND_NS,
            "ended_ns": end * SECOND_NS,
        }
        for name, (begin, end) in started.items()
    ]
    asked = {**CLEAN, "clients": len(started), **(cell or {})}
    told = {"dataset_bytes": 64 * GIB, "caches": "dropped", "clients": entries, **(facts or {})}
    return record(*parts, cell=asked, facts=told, series=series, **known)


def nics(shares: Mapping[str, float], parts: tuple[Measurement, ...], servers: int = 1) -> dict[str, float]:
    """Totals in which each client's NIC carried this share of its bytes, in the direction of its data."""
    totals: dict[str, float] = {}
    for part in parts:
        if part.host in shares:
            reads = part.direction is Direction.READ
            data, rest = shares[part.host] * part.size_bytes, 0.01 * part.size_bytes
            totals[f"host.{part.host}.nic.v0.receive_bytes"] = data if reads else rest
            totals[f"host.{part.host}.nic.v0.transmit_bytes"] = rest if reads else data
            totals[f"host.{part.host}.nic.lo.receive_bytes"] = 1e12  # a loopback is no network
    for number in range(servers):
        totals[f"host.server{number + 1}.nic.v0.receive_bytes"] = 0.0
        totals[f"host.server{number + 1}.nic.v0.transmit_bytes"] = 0.0
    return totals
