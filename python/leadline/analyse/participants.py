"""Who took part in a cell: each client's own figures, how well they ran together, what every host's NIC carried.

The part of the vocabulary of results (results.py) that only cells of several clients have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leadline.analyse.results import Estimate


@dataclass(frozen=True)
class ClientResult:
    """One client of a cell, all its repeats merged: its own figures beside the total."""

    name: str
    metrics: Mapping[str, Estimate]
    """By name, as those of the cell; their sum is not the cell's where the clients did not run together."""
    operations: int
    size_bytes: int
    begin_ns: int
    """Its load in the repeat whose clients overlapped least, since the first client's load began."""
    end_ns: int


@dataclass(frozen=True)
class Together:
    """How well the clients of a cell ran at once; rates are of all clients together, from totals over the repeats."""

    clients: int
    """Asked for."""
    first_done_bytes_per_second: float
    """mdtest's first-done: what was moved until the first client was done, over that time."""
    last_done_bytes_per_second: float
    """mdtest's last-done: everything that was moved, until the last client was done."""
    common_bytes_per_second: float
    """Inside the common window, in which all clients ran; 0 where there is none."""
    common_ns: int
    """Length of the common window, mean of the repeats."""
    overlap_share: float
    """Common window over the time from the first begin to the last end; of the worst repeat."""
    release_skew_ns: float | None = None
    """Between the first and the last client's go, the largest of the repeats; None where it was not recorded."""


@dataclass(frozen=True)
class HostUse:
    """What one host did while the cell ran: a client, or a server of a target in the lab."""

    name: str
    is_client: bool
    receive_bytes_per_second: float
    transmit_bytes_per_second: float
    link_share: float | None = None
    """The busier direction over the link that the lab was shaped to; None where it was not shaped."""
    retransmitted_segments: float | None = None
    """TCP segments sent again, a repeat."""
    cpu_busy_share: float | None = None
    """Of all its cores; None where it shares this machine, or was not counted."""
    disk_utilisation: float | None = None
    """Of the busiest disk that carries the directory there."""
    disk_queue_length: float | None = None
