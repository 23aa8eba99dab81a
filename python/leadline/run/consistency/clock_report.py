"""What is made of other hosts' clocks when all is over: records on one clock, what is known of each in numbers, and what cannot be told."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from leadline.run.consistency.clients import ClientLost, Station
from leadline.run.consistency.clock_watch import LONGEST_ERROR_NS, HostClock
from leadline.run.consistency.load_clients import LoadClient
from leadline.run.consistency.shifted_records import put_right

NOT_JUDGED = ("not_exercised",)
"""Verdicts that say nothing a clock could change."""


@dataclass
class ClockReport:
    """The clocks of all hosts that are not this one."""

    clocks: Mapping[str, HostClock] = field(default_factory=dict)
    largest_error_ns: dict[str, int] = field(default_factory=dict)
    """Of a record, by host."""

    def read_again(self) -> None:
        """Once more, now that all is over; a host that is silent by now leaves wide bounds."""
        for clock in self.clocks.values():
            with contextlib.suppress(ClientLost):
                clock.read()

    def put_right(self, clients: Iterable[LoadClient]) -> None:
        """The records of clients on other hosts. Where the clock jumped, each carries the largest error that there is."""
        for client in clients:
            far = client.station.far
            if far is None or client.outcome is None:
                continue
            clock = self.clocks[far.name]
            bounds, doubtful = clock.bounds(), bool(clock.doubt())
            largest_ns = put_right(client.history, lambda there_ns, b=bounds, d=doubtful: _at(b, there_ns, d))  # type: ignore[misc]
            self.largest_error_ns[far.name] = max(largest_ns, self.largest_error_ns.get(far.name, 0))

    @property
    def doubts(self) -> list[str]:
        """Why nothing that depends on clocks can be told; empty where it can."""
        return [doubt for clock in self.clocks.values() if (doubt := clock.doubt())]

    def judged(self, report: Mapping[str, Any]) -> Mapping[str, Any]:
        """The checker's report; undecided altogether where a clock jumped."""
        if not self.doubts:
            return report
        because = "; ".join(self.doubts)
        return {**report, "lines": [_undecided(line, because) for line in report["lines"]]}

    def facts(self) -> dict[str, Any]:
        """JSON-ready, by host."""
        return {name: self._facts_of(clock) for name, clock in self.clocks.items()}

    def notes(self) -> Iterator[str]:
        """What a reader must know."""
        for name, facts in self.facts().items():
            record_ns, delay_ns = facts["largest_record_error_ns"], facts["largest_delay_error_ns"]
            records = (
                f"each record of its clients is known to within {record_ns / 1000:,.0f} us, which the checker allows for"
                if record_ns is not None
                else f"a time of its clients is known to within {delay_ns / 1000:,.0f} us"
            )
            yield (
                f"The clock of {name} was compared with this machine's {facts['readings']} times, shortest round trip "
                f"{facts['shortest_round_trip_ns'] / 1000:,.0f} us: {records}."
            )
        for doubt in self.doubts:
            yield f"Undecided: {doubt}, so that no order between hosts is known; run it again."

    def _facts_of(self, clock: HostClock) -> dict[str, Any]:
        bounds = clock.bounds()
        offset_ns, error_ns = bounds.at(clock.readings[-1].there_last_ns)
        return {
            "readings": len(clock.readings),
            "shortest_round_trip_ns": bounds.shortest_round_trip_ns,
            "offset_ns": offset_ns,
            "error_ns": error_ns,
            "largest_delay_error_ns": clock.largest_error_here_ns,
            "largest_record_error_ns": self.largest_error_ns.get(clock.name),
            "jumped_ns": bounds.jumped_ns,
        }


def clocks_of(stations: Iterable[Station]) -> ClockReport:
    """Of the hosts of these stations."""
    clocks = [station.far.clock for station in stations if station.far]
    return ClockReport({clock.name: clock for clock in clocks if clock is not None})


def _at(bounds: Any, there_ns: int, doubtful: bool) -> tuple[int, int]:
    offset_ns, error_ns = bounds.at(there_ns)
    return offset_ns, LONGEST_ERROR_NS if doubtful else error_ns


def _undecided(line: Mapping[str, Any], because: str) -> Mapping[str, Any]:
    if line["verdict"] in NOT_JUDGED:
        return line
    undecided = line["objects_undecided"] + line["objects_violating"]
    return {
        **line,
        "verdict": "undecided",
        "violating": 0,
        "objects_violating": 0,
        "objects_undecided": undecided,
        "undecided_because": because,
        "least_delay_ns": None,
    }


def hosts_in(stations: Sequence[Station]) -> int:
    """How many machines take part; this one counts where a client is here."""
    return len({station.far.name if station.far else "" for station in stations})
