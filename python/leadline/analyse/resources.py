"""Resource use beside a cell, from the counters of its repeats: read by attribution and verdicts.

Counter names are those of run/observe/counters.py. Samples average over the window, devices add up, cores
are taken together; levels that hurt at their extreme (dirty pages, free memory) keep the extreme.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leadline.analyse.merge import Trials
from leadline.analyse.phases import phase_facts
from leadline.store.records import Direction, StepRecord
from leadline.store.series import SeriesTable

Rule = Callable[[Sequence[float]], float]
Reduction = Callable[..., Any]
"""Of numpy, along an axis."""


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


# Counter without its device -> key in CellResult.resources, over the samples, over devices, over repeats.
_RULES: dict[str, tuple[str, Reduction, Rule, Rule]] = {
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


def summarise_resources(trials: Trials) -> dict[str, float]:
    """By the keys of CellResult.resources; what was not sampled is absent."""
    repeats = [
        _of_counters(trial.record.counters, phase_window(trial.record, trials.direction))
        for trial in trials.trials
    ]
    found: dict[str, float] = {}
    for name, (key, _, _, over_repeats) in _RULES.items():
        values = [repeat[name] for repeat in repeats if name in repeat]
        if values:
            found[key] = over_repeats(values)
    cores, kernel_cores = engine_cpu_cores(trials), kernel_cpu_cores(trials)
    found |= {} if cores is None else {"engine_cpu_cores": cores}
    return found if kernel_cores is None else {**found, "kernel_cpu_cores": kernel_cores}


def engine_cpu_cores(trials: Trials) -> float | None:
    """Cores that all jobs together kept busy, mean of the repeats; None where it was not recorded.

    Of metadata in user mode only: what the kernel does in the calls is the filesystem's work. Of objects both: sending is the
    client's.
    """
    return _mean_known([_cores(trial.record, trials.direction) for trial in trials.trials])


def kernel_cpu_cores(trials: Trials) -> float | None:
    """Cores that the calls of a phase of metadata kept busy in the kernel; None for data, and where it was not recorded."""
    if not trials.direction.is_phase:
        return None
    return _mean_known([_phase_cores(trial.record, trials.direction, "system") for trial in trials.trials])


def _mean_known(repeats: list[float | None]) -> float | None:
    known = [cores for cores in repeats if cores is not None]
    return sum(known) / len(known) if known else None


def _phase_cores(record: StepRecord, direction: Direction, mode: str) -> float | None:
    """In the phase itself where its ranks were asked, else over all phases of the step; `mode` is "user" or "system"."""
    fact = phase_facts(record, direction)
    spent_ns, length_ns = fact.get(f"{mode}_ns"), fact.get("last_done_ns")
    if isinstance(spent_ns, int | float) and isinstance(length_ns, int | float) and length_ns > 0:
        return spent_ns / length_ns
    return sum(getattr(job, f"{mode}_cpu_share") for job in record.jobs) if record.jobs else None


def _cores(record: StepRecord, direction: Direction) -> float | None:
    """As the jobs report it, else the processor time of the engine over the step's wall time."""
    if direction.is_of_objects:
        user, system = (_phase_cores(record, direction, mode) for mode in ("user", "system"))
        return None if user is None or system is None else user + system
    if direction.is_phase:
        return _phase_cores(record, direction, "user")
    if record.jobs:
        return sum([job.user_cpu_share + job.system_cpu_share for job in record.jobs])
    spent_seconds = record.facts.get("engine_cpu_seconds")
    return spent_seconds * 1e9 / record.wall_ns if spent_seconds is not None and record.wall_ns else None


def device_share(trials: Trials) -> float | None:
    """Bytes at the block devices over bytes of the application, in the cell's direction; None where no
    device was counted.

    A stacked device (md, dm) counts beside its members, which errs towards belief.
    """
    moved = at_devices = 0.0
    for trial in trials.trials:
        counted = _device_bytes(trial.record.totals, trials.direction)
        if counted is not None:
            moved += trial.size_bytes
            at_devices += counted
    return at_devices / moved if moved else None


def _device_bytes(totals: Mapping[str, float], direction: str) -> float | None:
    ending = f".{direction}_bytes"
    counted = [value for name, value in totals.items() if name.startswith("disk.") and name.endswith(ending)]
    return sum(counted) if counted else None


def phase_window(record: StepRecord, direction: Direction) -> tuple[float, float] | None:
    """From when to when a phase ran, on the clock of the counters; None for data, and where it is not known.

    The first phase is taken to begin with the step: the start of the engine lies before it, in milliseconds.
    """
    fact = phase_facts(record, direction)
    start_ns, length_ns = fact.get("start_ns"), fact.get("last_done_ns")
    if not isinstance(start_ns, int | float) or not isinstance(length_ns, int | float):
        return None
    return float(start_ns), float(start_ns + length_ns)


def _of_counters(
    counters: Iterable[SeriesTable], window: tuple[float, float] | None = None
) -> dict[str, float]:
    """One repeat's counters by their name without the device: inside the window, where it is long enough to hold samples."""
    gathered: dict[str, list[float]] = {}
    for table in counters:
        wanted = _wanted(table.names) if table.times_ns.size else ()
        values = table.values[:, _samples_in(table, window)]
        levels = {rule: rule(values, axis=1).tolist() for rule in {rule for _, _, rule in wanted}}
        for row, name, rule in wanted:
            gathered.setdefault(name, []).append(levels[rule][row])
    return {name: _RULES[name][2](values) for name, values in gathered.items()}


def _samples_in(table: SeriesTable, window: tuple[float, float] | None) -> NDArray[np.bool_] | slice:
    """A sample stands for the time before it: the first one inside the window speaks for what came before, too."""
    if window is None:
        return slice(None)
    inside = (table.times_ns > window[0]) & (table.times_ns <= window[1])
    inside[np.argmax(inside)] = False
    return inside if inside.sum() >= FEWEST_SAMPLES else slice(None)


@lru_cache(maxsize=4096)
def _wanted(names: tuple[str, ...]) -> tuple[tuple[int, str, Reduction], ...]:
    """(row, name without the device, rule over the samples) of the counters that are summed up."""
    found = ((row, _without_device(name)) for row, name in enumerate(names))
    return tuple((row, name, _RULES[name][1]) for row, name in found if name is not None)


def _without_device(name: str) -> str | None:
    """ "disk.vda.read_bytes_per_second" -> "disk.read_bytes_per_second"; None for what is not summed up."""
    owner, _, rest = name.partition(".")
    device, _, quantity = rest.rpartition(".")
    if owner in _OF_MANY or (owner == "cpu" and device == "all"):
        name = f"{owner}.{quantity}"
    return name if name in _RULES else None
