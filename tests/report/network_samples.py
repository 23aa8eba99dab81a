"""A network of a known floor and bandwidth, as two tools would have measured it."""

from __future__ import annotations

from leadline.analyse.analysis import analyse
from leadline.analyse.results import Results
from leadline.store.histogram import Histogram
from leadline.store.manifest import Manifest
from leadline.store.records import Cell, Direction, Latency, Measurement, Status, StepKind, StepRecord

FLOOR_NS, BYTES_PER_SECOND = 20_000, 1.25e9
SIZES = (64, 4096, 65_536, 1 << 20)
SECOND_NS = 1_000_000_000


def network_results() -> Results:
    """Three repeats of everything; 7 segments sent again in each stream."""
    records: list[StepRecord] = []
    for repeat in range(3):
        for size in SIZES:
            records.append(_record(len(records), repeat, size, "leadline", "latency", _latency(size)))
            for tool in ("leadline", "iperf3"):
                records.append(_record(len(records), repeat, size, tool, "one way", _stream(size, repeat)))
    manifest = Manifest("network", "campaign", "/", "2026-11-21T00:00:00+00:00", "0.1.0")
    return analyse(records, manifest, {})


def _record(ordinal: int, repeat: int, size: int, tool: str, test: str, part: Measurement) -> StepRecord:
    cell: Cell = {"tool": tool, "test": test, "message_size": size, "ramp": 0.1, "runtime": 1.0}
    return StepRecord(
        ordinal=ordinal, kind=StepKind.CELL, experiment=f"network, {test}", cell=cell, repeat=repeat, status=Status.FINISHED,
        engine="network", wall_ns=SECOND_NS, measurements=(part,), facts={"retransmitted_segments": 7 if test == "one way" else 0},
    )  # fmt: skip


def _latency(size: int) -> Measurement:
    mean_ns = round(FLOOR_NS + size / BYTES_PER_SECOND * 1e9)
    trips = SECOND_NS // mean_ns // 2
    latency = Latency(trips, mean_ns, histogram=Histogram.from_bins({mean_ns: trips}))
    return Measurement("a", 0, Direction.SEND, 2 * trips, 0, SECOND_NS, latency)


def _stream(size: int, repeat: int) -> Measurement:
    moved = round(BYTES_PER_SECOND * size / (size + 1000) * (1 + repeat % 2 / 100))
    return Measurement("b", 0, Direction.SEND, moved // size, moved, SECOND_NS, Latency(0, 0.0))
