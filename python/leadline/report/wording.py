"""What the report adds to analyse/wording.py: one unit for a whole axis or column, and labels for metrics and counters.

Unit scaling only; nothing is computed from measurements.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from leadline.analyse import wording
from leadline.analyse.conditions import condition_value
from leadline.analyse.results import CellResult
from leadline.spec.settings import SETTINGS, TARGET_OPTION
from leadline.store.records import Cell, Scalar


@dataclass(frozen=True)
class Unit:
    """`size` is what one of this unit is in the base unit (bytes per second, operations per second, nanoseconds)."""

    symbol: str
    size: float


SCALES: dict[str, tuple[Unit, ...]] = {
    "bandwidth": (
        Unit("B/s", 1),
        Unit("KiB/s", 2**10),
        Unit("MiB/s", 2**20),
        Unit("GiB/s", 2**30),
        Unit("TiB/s", 2**40),
    ),
    "rate": (Unit("IOPS", 1), Unit("k IOPS", 1e3), Unit("M IOPS", 1e6)),
    "operations": (Unit("ops/s", 1), Unit("k ops/s", 1e3), Unit("M ops/s", 1e6)),
    "latency": (Unit("ns", 1), Unit("us", 1e3), Unit("ms", 1e6), Unit("s", 1e9)),
    "share": (Unit("%", 0.01),),
    "size": (Unit("B", 1), Unit("KiB", 2**10), Unit("MiB", 2**20), Unit("GiB", 2**30), Unit("TiB", 2**40)),
    "events": (Unit("/s", 1), Unit("k/s", 1e3), Unit("M/s", 1e6)),
    "cores": (Unit("cores", 1),),
    "count": (Unit("", 1),),
}
"""Ascending: a figure is written in the largest unit of its scale that is not larger than itself. templates/data.js does the same."""

METRIC_LABELS = {
    "bandwidth": "bandwidth",
    "iops": "IOPS",
    "mean": "mean latency",
    "p50": "p50 latency",
    "p90": "p90 latency",
    "p99": "p99 latency",
    "p99.9": "p99.9 latency",
}

RESOURCES: dict[str, tuple[str, str]] = {
    "cpu_busy_share": ("CPU busy", "share"),
    "cpu_iowait_share": ("CPU waiting for I/O", "share"),
    "cpu_steal_share": ("CPU stolen", "share"),
    "engine_cpu_cores": ("load generator CPU", "cores"),
    "kernel_cpu_cores": ("kernel CPU in the calls", "cores"),
    "disk_read_bytes_per_second": ("disk read", "bandwidth"),
    "disk_write_bytes_per_second": ("disk write", "bandwidth"),
    "disk_utilisation": ("disk busy", "share"),
    "disk_queue_length": ("disk queue", "count"),
    "fuse_waiting_requests": ("FUSE queue", "count"),
    "fuse_waiting_requests_max": ("FUSE queue, most", "count"),
    "fuse_max_background": ("FUSE max_background", "count"),
    "fuse_congestion_threshold": ("FUSE congestion threshold", "count"),
    "dirty_bytes_max": ("dirty pages, most", "size"),
    "memory_available_bytes_min": ("memory available, least", "size"),
    "context_switches_per_second": ("context switches", "events"),
    "nic_receive_bytes_per_second": ("NIC receive", "bandwidth"),
    "nic_transmit_bytes_per_second": ("NIC transmit", "bandwidth"),
    "nic_share": ("bytes at the clients' NICs for each byte moved", "count"),
    "tcp_retransmitted_segments_per_second": ("TCP segments sent again", "events"),
    "retransmitted_segments": ("TCP segments sent again, a repeat", "count"),
    "client_cpu_seconds": ("CPU seconds of the client, all repeats", "count"),
    "client_instances": ("client instances", "count"),
    "listed_objects": ("objects that listings named, all repeats", "count"),
    "retried_requests": ("requests made again, all repeats", "count"),
}
"""Resource key of a cell -> label and scale, in the order of the columns."""


ALWAYS_NAMED = ("block_size", "iodepth", "numjobs")
IN_TEST = ("rw", "test")
"""What the name of the test says already."""


def scale_of(metric: str) -> str:
    """The name of the metric's scale: all metrics but the first two are latencies."""
    return {"bandwidth": "bandwidth", "iops": "rate"}.get(metric, "latency")


def scale_among(metric: str, cells: Sequence[CellResult]) -> str:
    """The scale of a metric of these cells: what is done to names is no I/O."""
    having = [cell for cell in cells if metric in cell.metrics]
    named = metric == "iops" and bool(having) and all(cell.direction.is_phase for cell in having)
    return "operations" if named else scale_of(metric)


def label_among(metric: str, cells: Sequence[CellResult]) -> str:
    """The label of a metric of these cells."""
    return "operations/s" if scale_among(metric, cells) == "operations" else METRIC_LABELS[metric]


def unit_for(scale: str, values: Iterable[float]) -> Unit:
    """One unit for a whole axis or column: that of the largest value, for latencies, which span decades, of the middle."""
    sizes = [abs(value) for value in values if value]
    largest = max(sizes, default=0.0)
    judged = math.sqrt(min(sizes) * largest) if sizes and scale == "latency" else largest
    fitting = [unit for unit in SCALES[scale] if unit.size <= judged]
    return fitting[-1] if fitting else SCALES[scale][0]


def measure(scale: str, value: float, unit: Unit | None = None) -> str:
    """A figure with its unit, e.g. "1.23 GiB/s"; `unit` None takes the one that fits the figure."""
    chosen = unit or unit_for(scale, [value])
    return f"{wording.digits(value / chosen.size)} {chosen.symbol}".rstrip()


def setting_label(name: str) -> str:
    """The label of a setting, or its bare name where it is passed through to the engine."""
    own = name.removeprefix(TARGET_OPTION)
    return SETTINGS[name].label if name in SETTINGS else own.replace("_", " ")


def setting_value(name: str, value: Scalar) -> str:
    """A setting's value below its label: 4096 -> "4 KiB", 30 -> "30 s", True -> "yes"."""
    held = condition_value(name, value)
    if held is not None:
        return held
    kind = SETTINGS[name].kind if name in SETTINGS else "word"
    if isinstance(value, bool) or kind == "flag":
        return "yes" if wording.is_set(value) else "no"
    if kind == "size" and isinstance(value, (int, float)):
        return wording.size(value)
    return f"{value} s" if kind == "duration" else str(value)


def setting_phrase(name: str, value: Scalar) -> str:
    """A setting that explains itself in a list: "4 KiB", "io_uring", "8 jobs", "iodepth 4"."""
    return wording.setting(name, value)


def cell_phrase(cell: Mapping[str, Scalar], names: Iterable[str] | None = None) -> str:
    """These settings of a cell in one phrase; all of them by default."""
    return wording.settings(cell, list(cell) if names is None else names)


def target_options(cell: Cell) -> str:
    """The options of the target that were an axis, in words; empty where there are none."""
    return wording.settings(cell, wording.target_options(cell))


def naming_settings(cells: Sequence[CellResult]) -> list[str]:
    """What tells cells apart, beside their test: settings that vary, and those that readers look for anyway."""
    values: dict[str, set[Scalar | None]] = {}
    for name in dict.fromkeys(name for cell in cells for name in cell.cell):
        values[name] = {cell.cell.get(name) for cell in cells}
    return [
        name
        for name, taken in values.items()
        if name not in IN_TEST and (len(taken) > 1 or name in ALWAYS_NAMED)
    ]
