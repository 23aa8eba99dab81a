"""How counters beside a step become one figure each: over the samples, over devices, over repeats.

Counter names are those of run/observe/counters.py. Samples average over the window, devices add up, cores
are taken together; levels that hurt at their extreme (dirty pages, free memory) keep the extreme.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leadline.analyse.phases import phase_facts
from leadline.store.records import Direction, StepRecord
from leadline.store.series import SeriesTable

Rule = Callable[[Sequence[float]], float]
Reduction = Callable[..., Any]
"""Of numpy, along an axis."""


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


# Counter without its device -> key in CellResult.resources, over the samples, over devices, over repeats.
RULES: dict[str, tuple[str, Reduction, Rule, Rule]] = {
    "cpu.busy_share": ("cpu_busy_share", np.mean, _mean, _mean),
    "cpu.iowait_share": ("cpu_iowait_share", np.mean, _mean, _mean),
    "cpu.steal_share": ("cpu_steal_share", np.mean, _mean, _mean),
    "engine.busy_cores": ("engine_cpu_cores", np.mean, sum, _mean),
    "disk.read_bytes_per_second": ("disk_read_bytes_per_second", np.mean, sum, _mean),
    "disk.write_bytes_per_second": ("disk_write_bytes_per_second", np.mean, sum, _mean),
    "disk.utilisation_share": ("disk_utilisation", np.mean, max, _mean),
    "disk.queue_length": ("disk_queue_length", np.mean, sum, _mean),
    "memory.dirty_bytes": ("dirty_bytes_max", np.max, max, max),
    "memory.available_bytes": ("memory_available_bytes_min", np.min, min, min),
    "kernel.context_switches_per_second": ("context_switches_per_second", np.mean, sum, _mean),
    "nic.receive_bytes_per_second": ("nic_receive_bytes_per_second", np.mean, sum, _mean),
    "nic.transmit_bytes_per_second": ("nic_transmit_bytes_per_second", np.mean, sum, _mean),
    "tcp.retransmitted_segments_per_second": ("tcp_retransmitted_segments_per_second", np.mean, sum, _mean),
    "pressure.io.some_share": ("io_pressure_share", np.mean, _mean, _mean),
}
_OF_MANY = ("disk", "nic")
FEWEST_SAMPLES = 2
"""A phase with fewer whole samples of its own is given those of the step."""


def phase_window(record: StepRecord, direction: Direction) -> tuple[float, float] | None:
    """From when to when a phase ran, on the clock of the counters; None for data, and where it is not known.

    The first phase is taken to begin with the step: the start of the engine lies before it, in milliseconds.
    """
    fact = phase_facts(record, direction)
    start_ns, length_ns = fact.get("start_ns"), fact.get("last_done_ns")
    if not isinstance(start_ns, int | float) or not isinstance(length_ns, int | float):
        return None
    return float(start_ns), float(start_ns + length_ns)


def of_counters(
    counters: Iterable[SeriesTable], window: tuple[float, float] | None = None, prefix: str = ""
) -> dict[str, float]:
    """One repeat's counters by their name without the device: inside the window, where it is long enough to hold samples.

    `prefix` is what the names of another machine's counters begin with."""
    gathered: dict[str, list[float]] = {}
    for table in counters:
        wanted = _wanted(table.names, prefix) if table.times_ns.size else ()
        values = table.values[:, _samples_in(table, window)]
        levels = {rule: rule(values, axis=1).tolist() for rule in {rule for _, _, rule in wanted}}
        for row, name, rule in wanted:
            gathered.setdefault(name, []).append(levels[rule][row])
    return {name: RULES[name][2](values) for name, values in gathered.items()}


def _samples_in(table: SeriesTable, window: tuple[float, float] | None) -> NDArray[np.bool_] | slice:
    """A sample stands for the time before it: the first one inside the window speaks for what came before, too."""
    if window is None:
        return slice(None)
    inside = (table.times_ns > window[0]) & (table.times_ns <= window[1])
    inside[np.argmax(inside)] = False
    return inside if inside.sum() >= FEWEST_SAMPLES else slice(None)


@lru_cache(maxsize=4096)
def _wanted(names: tuple[str, ...], prefix: str) -> tuple[tuple[int, str, Reduction], ...]:
    """(row, name without the device, rule over the samples) of the counters that are summed up."""
    found = (
        (row, _without_device(name.removeprefix(prefix)))
        for row, name in enumerate(names)
        if name.startswith(prefix)
    )
    return tuple((row, name, RULES[name][1]) for row, name in found if name is not None)


def _without_device(name: str) -> str | None:
    """ "disk.vda.read_bytes_per_second" -> "disk.read_bytes_per_second"; None for what is not summed up."""
    owner, _, rest = name.partition(".")
    device, _, quantity = rest.rpartition(".")
    if owner in _OF_MANY or (owner == "cpu" and device == "all"):
        name = f"{owner}.{quantity}"
    return name if name in RULES else None
