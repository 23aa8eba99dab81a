"""What the page knows of cells with several clients: one entry a cell, with every client and every host that was counted.

Figures stand in the units of payload.py (MiB/s, us), times in seconds; templates/clients.js reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leadline.analyse.participants import ClientResult, HostUse, Together
from leadline.analyse.results import CellResult
from leadline.report.columns import rounded

MIB = 2.0**20
CLIENT_METRICS = ("bandwidth", "iops", "mean", "p99")
_SIZES = {"bandwidth": MIB, "iops": 1.0, "mean": 1e3, "p99": 1e3}


def participant_entries(cells: Sequence[CellResult]) -> list[dict[str, Any]]:
    """Of the cells that had several clients or hosts of their own; `cell` is their number."""
    return [
        {"cell": number, "together": together_entry(cell.together), **parts(cell)}
        for number, cell in enumerate(cells)
        if cell.clients or cell.hosts
    ]


def parts(cell: CellResult) -> dict[str, Any]:
    """Clients with their figures, and all hosts with what their NICs carried."""
    return {
        "clients": [client_entry(client) for client in cell.clients],
        "hosts": [host_entry(use) for use in cell.hosts],
    }


def together_entry(together: Together | None) -> dict[str, Any] | None:
    """How the clients ran at once."""
    if together is None:
        return None
    skew = together.release_skew_ns
    return {
        "clients": together.clients,
        "first_done": rounded(together.first_done_bytes_per_second / MIB),
        "last_done": rounded(together.last_done_bytes_per_second / MIB),
        "common": rounded(together.common_bytes_per_second / MIB),
        "common_seconds": rounded(together.common_ns / 1e9),
        "overlap": rounded(together.overlap_share),
        "skew_us": None if skew is None else rounded(skew / 1e3),
    }


def client_entry(client: ClientResult) -> dict[str, Any]:
    """One client: when it ran, and value, low end, high end and n of each figure."""
    figures = {
        name: [
            rounded(one.value / _SIZES[name]),
            *(None if end is None else rounded(end / _SIZES[name]) for end in (one.low, one.high)),
            one.n,
        ]
        for name in CLIENT_METRICS
        if (one := client.metrics.get(name)) is not None
    }
    window = [rounded(client.begin_ns / 1e9), rounded(client.end_ns / 1e9)]
    return {"name": client.name, "window": window, **figures}


def host_entry(use: HostUse) -> dict[str, Any]:
    """One host's NICs; its CPU and disk where it is a machine of its own."""
    return {
        "name": use.name,
        "client": use.is_client,
        "receive": rounded(use.receive_bytes_per_second / MIB),
        "transmit": rounded(use.transmit_bytes_per_second / MIB),
        "link": rounded(use.link_share),
        "again": rounded(use.retransmitted_segments),
        "cpu": rounded(use.cpu_busy_share),
        "disk": rounded(use.disk_utilisation),
        "queue": rounded(use.disk_queue_length),
    }
