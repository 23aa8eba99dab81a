"""When each client of a repeat worked, and how much it had moved by any moment.

A client's time is that of its process, which includes the engine's start and its ramp. Its load is the last part of
that: as long as its slowest job says, up to the end. How its bytes are spread over that time is the shape of its own
throughput series, laid over it, so that the origins of the engines' clocks do not matter; without one it is even.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leadline.analyse.attendance import client_facts
from leadline.analyse.merge import Trial
from leadline.store.records import StepRecord
from leadline.store.series import Series


@dataclass(frozen=True)
class Load:
    """One client in one repeat, in the direction of the cell."""

    name: str
    begin_ns: float
    end_ns: float
    amount: int
    """Bytes; operations of a phase of metadata."""
    moments: NDArray[np.float64]
    """Ascending shares of its time, 0 first and 1 last."""
    moved: NDArray[np.float64]
    """The share of its bytes that was moved by each of `moments`."""

    def bytes_until(self, moment_ns: float) -> float:
        """What it had moved by then."""
        length = self.end_ns - self.begin_ns
        place = (moment_ns - self.begin_ns) / length if length > 0 else 1.0
        return self.amount * float(np.interp(place, self.moments, self.moved))


@dataclass(frozen=True)
class Span:
    """The loads of all clients of one repeat on one axis of time."""

    loads: tuple[Load, ...]

    @property
    def begin_ns(self) -> float:
        return min(load.begin_ns for load in self.loads)

    @property
    def end_ns(self) -> float:
        return max(load.end_ns for load in self.loads)

    @property
    def first_end_ns(self) -> float:
        return min(load.end_ns for load in self.loads)

    @property
    def last_begin_ns(self) -> float:
        return max(load.begin_ns for load in self.loads)

    @property
    def common_ns(self) -> float:
        """In which all ran; 0 where they never did."""
        return max(self.first_end_ns - self.last_begin_ns, 0.0)

    @property
    def overlap_share(self) -> float:
        """Of the time from the first begin to the last end."""
        length = self.end_ns - self.begin_ns
        return self.common_ns / length if length > 0 else 1.0

    def bytes_until(self, moment_ns: float) -> float:
        """What all clients had moved by then."""
        return sum(load.bytes_until(moment_ns) for load in self.loads)

    @property
    def common_bytes(self) -> float:
        """What all clients moved inside the common window."""
        if not self.common_ns:
            return 0.0
        return self.bytes_until(self.first_end_ns) - self.bytes_until(self.last_begin_ns)

    def odd_one(self) -> Load:
        """The client without which the others would overlap best; of two, the one that missed more of the whole."""
        return max(
            self.loads, key=lambda load: (Span(self._without(load)).overlap_share, self._missed_ns(load))
        )

    def _missed_ns(self, load: Load) -> float:
        return (load.begin_ns - self.begin_ns) + (self.end_ns - load.end_ns)

    def _without(self, load: Load) -> tuple[Load, ...]:
        return tuple(other for other in self.loads if other is not load) or self.loads


def span_of(trial: Trial) -> Span:
    """From the times that the record holds of its clients; those without are taken to have begun together."""
    names = dict.fromkeys(part.host for part in trial.measurements)
    return Span(tuple(_load(trial, name) for name in names))


def series_of(record: StepRecord, direction: str, name: str) -> Series | None:
    """The client's own throughput over time."""
    wanted = f"{direction}@{name}"
    return next((series for series in record.throughput if series.name == wanted), None)


def _load(trial: Trial, name: str) -> Load:
    record, direction = trial.record, trial.measurements[0].direction
    own = [part for part in trial.measurements if part.host == name]
    runtime_ns = max(part.runtime_ns for part in trial.concurrent if part.host == name)
    # A phase begins for all at a barrier, somewhere inside the time of the process.
    known = {} if direction.is_phase else client_facts(record).get(name, {})
    begin_ns, end_ns = _times(known, runtime_ns)
    moments, moved = _shape(series_of(record, direction, name))
    amount = sum(part.operations if direction.is_phase else part.size_bytes for part in own)
    return Load(name, begin_ns, end_ns, amount, moments, moved)


def _times(known: Mapping[str, Any], runtime_ns: float) -> tuple[float, float]:
    started, ended = known.get("started_ns"), known.get("ended_ns")
    if not isinstance(started, int | float) or not isinstance(ended, int | float) or ended <= started:
        return 0.0, float(runtime_ns)
    return max(float(started), ended - runtime_ns), float(ended)


def _shape(series: Series | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shares of time and of bytes moved; a rate holds since the sample before, the first as long as the usual gap."""
    even = np.array([0.0, 1.0])
    if series is None or len(series.values) < 2 or sum(series.values) <= 0:
        return even, even
    times = np.array(series.times_ns, dtype=np.float64)
    gaps = np.diff(times, prepend=times[0] - float(np.median(np.diff(times))))
    amounts = np.array(series.values) * gaps
    return (
        np.concatenate([[0.0], np.cumsum(gaps) / gaps.sum()]),
        np.concatenate([[0.0], np.cumsum(amounts) / amounts.sum()]),
    )


def spans_of(trials: Sequence[Trial]) -> list[Span]:
    """One a repeat."""
    return [span_of(trial) for trial in trials]
