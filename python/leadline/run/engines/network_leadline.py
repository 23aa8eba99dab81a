"""leadline's own messages over TCP (crates/leadline-workloads/src/network): every round trip in a histogram, streams counted where
they arrive, retransmits of the very connection.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from leadline.run.engines.engine_process import invocation_of, result_of
from leadline.run.engines.network_tool import Exchange
from leadline.run.seams import Completed, Invocation, Outcome
from leadline.store.histogram import Histogram
from leadline.store.records import Direction, JobUse, Latency, Measurement
from leadline.store.series import Series

TESTS = {"latency": "latency", "one way": "one_way", "both ways": "both_ways"}


def invocation_of_side(exchange: Exchange, role: str, scratch: Path, timeout_seconds: float) -> Invocation:
    """Writes the engine's step of this side and calls it."""
    document = {
        "workload": "network",
        "role": role,
        "address": exchange.address,
        "port": 0,
        "test": TESTS[exchange.test],
        "message_size_bytes": exchange.message_size_bytes,
        "ramp_ns": round(exchange.ramp_seconds * 1e9),
        "runtime_ns": round(exchange.runtime_seconds * 1e9),
        "external_barriers": True,
    }
    return invocation_of(document, scratch, timeout_seconds)


def outcome_of(exchange: Exchange, role: str, completed: Completed) -> Outcome:
    """The round trips that it made, or the stream that it received."""
    document, reason = result_of(completed)
    raw = {"engine.json": completed.stdout.encode()}
    if document is None:
        return Outcome(reason=reason, raw=raw)
    return Outcome(
        measurements=tuple(_measurements(document, exchange, role)),
        jobs=(_use(document, exchange),),
        throughput=tuple(_series(document, role)),
        raw=raw,
        facts={
            "retransmitted_segments": document["retransmitted_segments"] or 0,
            "retransmits_of": "the connection",
        },
    )


def _measurements(document: Mapping[str, Any], exchange: Exchange, role: str) -> Iterable[Measurement]:
    size, runtime_ns = exchange.message_size_bytes, document["runtime_ns"]
    if document["latency"]:
        messages = 2 * document["round_trips"]
        latency = _latency(document["latency"])
        yield Measurement("", 0, Direction.SEND, messages, 0, runtime_ns, latency)
    if document["received"]:
        received = document["received"]["bytes"]
        yield Measurement("", 0, _way(role), received // size, received, runtime_ns, Latency(0, 0.0))


def _way(role: str) -> Direction:
    """What the server received was sent by the one that asked."""
    return Direction.SEND if role == "server" else Direction.RECEIVE


def _latency(document: Mapping[str, Any]) -> Latency:
    return Latency(
        count=document["count"], mean_ns=document["mean_ns"] or 0.0, min_ns=document["min_ns"], max_ns=document["max_ns"],
        standard_deviation_ns=document["stddev_ns"], histogram=Histogram.from_bins(dict(document["bins"])),
    )  # fmt: skip


def _use(document: Mapping[str, Any], exchange: Exchange) -> JobUse:
    """Processor time runs over the ramp as well, so it is laid over both."""
    ran_ns = document["runtime_ns"] or round(exchange.runtime_seconds * 1e9)
    whole_ns = ran_ns + round(exchange.ramp_seconds * 1e9)
    shares = [document[key] / whole_ns for key in ("user_ns", "system_ns")]
    return JobUse("", 0, shares[0], shares[1], 0, ran_ns, 0)


def _series(document: Mapping[str, Any], role: str) -> Iterable[Series]:
    if document["received"]:
        counts = [(each["end_ns"], each["bytes"]) for each in document["received"]["series"]]
        yield _rates(_way(role), counts, "B/s")
    elif document["series"]:
        trips = [(each["end_ns"], 2 * each["round_trips"]) for each in document["series"]]
        yield _rates(Direction.SEND, trips, "1/s")


def _rates(direction: Direction, counts: list[tuple[int, int]], unit: str) -> Series:
    ends = [end_ns for end_ns, _ in counts]
    widths = [max(end - start, 1) for start, end in zip([0, *ends], ends, strict=False)]
    rates = [count * 1e9 / width for (_, count), width in zip(counts, widths, strict=True)]
    return Series(str(direction), unit, ends, rates)
