"""How figures read in sentences: three significant digits and always a unit. Report and answers share it.

Bandwidths and sizes are binary (KiB, MiB, GiB: as in fio's summary), latencies scale from ns to s.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from leadline.analyse.conditions import condition
from leadline.spec.settings import SETTINGS, TARGET_OPTION
from leadline.store.records import Cell, Direction, Scalar

if TYPE_CHECKING:
    from leadline.analyse.results import CellResult

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))
_COUNTS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
_PLURAL = {
    "numjobs": ("job", "jobs"),
    "nrfiles": ("file a job", "files a job"),
    "clients": ("client", "clients"),
    "storage_nodes": ("storage node", "storage nodes"),
    "concurrency": ("request in flight", "requests in flight"),
    "instances": ("client instance", "client instances"),
    "objects": ("object", "objects"),
}
FULL_PATH = "full path"


def digits(value: float) -> str:
    """Three significant digits without an exponent: 0.0123, 1.23, 12.3, 123, 1,230."""
    if not math.isfinite(value):
        return "unknown"
    if value == 0:
        return "0"
    rounded = float(f"{value:.3g}")
    places = max(2 - math.floor(math.log10(abs(rounded))), 0)
    return f"{rounded:,.{places}f}"


def size(size_bytes: float) -> str:
    """ "4 KiB", "1.5 GiB": whole binary sizes without decimals."""
    scaled, unit = _binary(size_bytes)
    return f"{scaled:.0f} {unit}" if scaled == int(scaled) else f"{digits(scaled)} {unit}"


def bandwidth(bandwidth_bytes_per_second: float) -> str:
    """ "3.21 GiB/s"."""
    scaled, unit = _binary(bandwidth_bytes_per_second)
    return f"{digits(scaled)} {unit}/s"


def iops(operations_per_second: float) -> str:
    """ "842k IOPS", "99.5 IOPS"."""
    return f"{count(operations_per_second)} IOPS"


def operations(operations_per_second: float) -> str:
    """ "84.2k ops/s": what is done to names is no I/O."""
    return f"{count(operations_per_second)} ops/s"


def count(value: float) -> str:
    """ "842k", "1.2M", "512": large counts shortened to three digits."""
    for factor, letter in _COUNTS:
        if abs(value) >= factor * 0.9995:
            return f"{digits(value / factor)}{letter}"
    return digits(value) if value % 1 else f"{value:.0f}"


def latency(latency_ns: float) -> str:
    """ "812 us", "1.20 ms", "3.10 s"."""
    for factor, unit in _TIMES:
        if abs(latency_ns) >= factor * 0.9995:
            return f"{digits(latency_ns / factor)} {unit}"
    return f"{digits(latency_ns)} ns"


def seconds(duration_ns: float) -> str:
    """A duration given in ns, in seconds: "9.87 s"."""
    return f"{digits(duration_ns / 1e9)} s"


def percent(share: float) -> str:
    """A share 0..1 as "43 %", with one decimal below 10 %."""
    value = share * 100
    return f"{value:.1f} %" if 0 < abs(value) < 9.95 else f"{value:,.0f} %"


def metric(name: str, value: float) -> str:
    """A metric of a cell (results.METRICS) in its own unit."""
    if name == "bandwidth":
        return bandwidth(value)
    return iops(value) if name == "iops" else latency(value)


def figure(cell: CellResult, name: str, value: float) -> str:
    """A metric of this cell in its own unit."""
    return operations(value) if name == "iops" and cell.direction.is_phase else metric(name, value)


def throughput(cell: CellResult, value: float) -> str:
    """A throughput of this cell: bytes where bytes moved, else operations."""
    return figure(cell, cell.throughput_metric, value)


def way(cell: Cell, direction: Direction) -> str:
    """How names were given and calls were made, which no figure of metadata goes without: "full path", "full path, io_uring".

    Trees are always made and removed by full paths, one call at a time.
    """
    if direction.is_of_objects:  # each has its one name
        return ""
    return FULL_PATH if direction.is_of_trees else way_asked(cell)


def way_asked(cell: Cell) -> str:
    """The way of a cell's items; its trees have their own."""
    naming = str(cell.get("naming", "full_path"))
    words = {"full_path": FULL_PATH, "directory_relative": "directory-relative"}.get(naming, naming)
    driver = str(cell.get("driver", "calls"))
    return words if driver == "calls" else f"{words}, {driver}"


def failures(failed: Mapping[str, int]) -> str:
    """ "1,200 ENOSPC and 3 EIO": by errno, the commonest first."""
    return listed(f"{times:,} {name}" for name, times in sorted(failed.items(), key=lambda one: -one[1]))


def interval(name: str, low: float | None, high: float | None, cell: CellResult | None = None) -> str:
    """ "[3.10 GiB/s, 3.30 GiB/s]"; empty where there is none; an open end is said so."""
    if low is None and high is None:
        return ""
    in_words = partial(metric, name) if cell is None else partial(figure, cell, name)
    lower = "unknown" if low is None else in_words(low)
    return f"[{lower}, {'beyond the data' if high is None else in_words(high)}]"


def setting(name: str, value: Scalar) -> str:
    """One setting of a cell as words: "4 KiB", "iodepth 8", "2 jobs", "direct", "io_uring"."""
    if name in _PLURAL and isinstance(value, int):
        return f"{value} {_PLURAL[name][value != 1]}"
    if name == "direct":
        return "direct" if is_set(value) else "buffered"
    if name == "read_percentage":
        return f"{value} % reads"
    if name.startswith(TARGET_OPTION):
        option = name.removeprefix(TARGET_OPTION)
        return f"{option} {('off', 'on')[value]}" if isinstance(value, bool) else f"{option} {value}"
    held = condition(name, value)
    if held is not None:
        return held
    known = SETTINGS.get(name)
    if known is not None and known.kind == "flag":
        return known.label if is_set(value) else f"no {known.label}"
    if isinstance(value, str) and (known is None or known.kind == "word"):
        return value
    if (known is not None and known.kind == "size") or name == "message_size":
        words = size(float(value))
        return words if name == "block_size" else f"{known.label if known else 'message size'} {words}"
    unit = " s" if known is not None and known.kind == "duration" else ""
    return f"{known.label if known else name.replace('_', ' ')} {value}{unit}"


def load(name: str, value: Scalar) -> str:
    """A setting of metadata: jobs are called ranks there, as mdtest does."""
    return setting(name, value).replace("job", "rank") if name == "numjobs" else setting(name, value)


def is_set(value: object) -> bool:
    """Whether a flag is on, however the source wrote it."""
    return value in (True, 1, "1", "true", "yes")


_ORDER = (
    "target", "storage_nodes", "block_size", "message_size", "iodepth", "numjobs", "clients", "ioengine", "direct",
)  # fmt: skip


def settings(cell: Cell, names: Iterable[str] | None = None) -> str:
    """The named settings that the cell has, in a fixed order: "4 KiB, iodepth 8, 2 jobs, io_uring".

    Without names those that are always worth a word, and the target's options: which knob it was.
    """
    wanted = {*_ORDER, *target_options(cell)} if names is None else set(names)
    ordered = [name for name in _ORDER if name in wanted] + sorted(wanted - set(_ORDER))
    words = [setting(name, cell[name]) for name in ordered if name in cell]
    return ", ".join(dict.fromkeys(words))  # the target "nfs" by the ioengine "nfs"


def target_options(cell: Cell) -> list[str]:
    """The settings of a cell that are options of its target: mount and format options that were an axis."""
    return [name for name in cell if name.startswith(TARGET_OPTION)]


def listed(words: Iterable[str]) -> str:
    """ "a, b and c"."""
    parts = list(words)
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1]))) if parts else ""


def _binary(value: float) -> tuple[float, str]:
    scaled, place = float(value), 0
    while abs(scaled) >= 1023.5 and place < len(_BINARY) - 1:
        scaled, place = scaled / 1024, place + 1
    return scaled, _BINARY[place]
