"""What any tool that measures a network says of one message size, in one vocabulary: the parsers beside this file fill it in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Flow:
    """Messages that went one way."""

    size_bytes: int
    runtime_ns: int
    operations: int
    """Messages; where the tool counts bytes only, bytes over the size of a message."""


@dataclass(frozen=True)
class NetworkFigures:
    """Of one test of one message size, as the tool stated it."""

    sent: Flow | None = None
    """From the client to the server; of a latency test the messages both ways, and no bytes: one in flight fills no network."""
    received: Flow | None = None
    """From the server to the client, where both ways were measured at once."""
    round_trips: int = 0
    """Of a latency test."""
    mean_ns: float | None = None
    """Half a round trip."""
    percentiles_ns: Mapping[str, float] = field(default_factory=dict)
    """{"0.5": ns} as stated, of half a round trip."""
    retransmitted_segments: int | None = None
    """TCP segments sent again, where the tool says."""
