"""Asks a host for its CLOCK_MONOTONIC before, after and five times a second during a sounding, by a client that does nothing else."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from leadline.run.consistency.clients import Client, ClientLost
from leadline.run.consistency.clocks import ClockBounds, Reading

EVERY_SECONDS = 0.2
"""Between readings the bounds widen: by 50 us half way."""
ENDS_QUESTIONS, BETWEEN_QUESTIONS = 20, 4
"""Of each reading the exchange with the shortest round trip counts; before and after there is time for more."""
LATEST_READINGS = 50
"""They tell the time while it runs; what is older adds nothing then."""
LONGEST_ERROR_NS = 2**32 - 1
"""What a record has room for."""

Ask = Callable[[], Reading]


def asking(client: Client) -> Ask:
    """Asks that client's host; it makes no call there."""

    def ask() -> Reading:
        asked_ns = time.monotonic_ns()
        reply = client.do([])
        return Reading(asked_ns, reply.started_ns, reply.ended_ns, time.monotonic_ns())

    return ask


@dataclass
class HostClock:
    """One host's clock; read by a thread from `start` to `close`. A host that falls silent leaves wide bounds, which is the truth."""

    name: str
    ask: Ask
    readings: list[Reading] = field(default_factory=list)
    largest_error_here_ns: int = 0
    """Of the times that `here` told."""
    _asking: threading.Lock = field(default_factory=threading.Lock)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None
    _known: tuple[int, ClockBounds] | None = None

    def start(self) -> None:
        """Reads once, thoroughly, and goes on by itself; raises ClientLost."""
        self.read(ENDS_QUESTIONS)
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def read(self, questions: int = ENDS_QUESTIONS) -> None:
        """One reading, the best of so many questions; raises ClientLost."""
        with self._asking:
            asked = [self.ask() for _ in range(questions)]
            self.readings.append(min(asked, key=lambda reading: reading.round_trip_ns))

    def bounds(self) -> ClockBounds:
        """By all readings so far."""
        return ClockBounds(tuple(self.readings))

    def here(self, there_ns: int) -> int:
        """A time of that host on our clock, by the latest readings."""
        offset_ns, error_ns = self._latest().at(there_ns)
        self.largest_error_here_ns = max(self.largest_error_here_ns, error_ns)
        return there_ns + offset_ns

    def _latest(self) -> ClockBounds:
        known, count = self._known, len(self.readings)
        if known is None or known[0] != count:
            known = self._known = count, ClockBounds(self.readings[max(0, count - LATEST_READINGS) : count])
        return known[1]

    def doubt(self) -> str:
        """Why no order across hosts can be told; empty where it can."""
        jumped_ns = self.bounds().jumped_ns
        return f"the clock of {self.name} jumped by at least {jumped_ns / 1e6:.3g} ms" if jumped_ns else ""

    def close(self) -> None:
        """No more readings."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(EVERY_SECONDS):
            try:
                self.read(BETWEEN_QUESTIONS)
            except ClientLost:
                return
