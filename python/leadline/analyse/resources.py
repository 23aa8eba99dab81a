"""Resource use beside a cell, from the counters of its repeats: read by attribution and verdicts."""

from __future__ import annotations

from collections.abc import Mapping

from leadline.analyse.counter_rules import RULES, of_counters, phase_window
from leadline.analyse.fuse_queues import summarise_fuse_queues
from leadline.analyse.host_loads import summarise_clients_elsewhere
from leadline.analyse.merge import Trials
from leadline.analyse.phases import phase_facts
from leadline.store.records import Direction, StepRecord


def summarise_resources(trials: Trials) -> dict[str, float]:
    """By the keys of CellResult.resources; what was not sampled is absent."""
    repeats = [
        of_counters(trial.record.counters, phase_window(trial.record, trials.direction))
        for trial in trials.trials
    ]
    found: dict[str, float] = {}
    for name, (key, _, _, over_repeats) in RULES.items():
        values = [repeat[name] for repeat in repeats if name in repeat]
        if values:
            found[key] = over_repeats(values)
    found |= summarise_clients_elsewhere(trials)
    found |= summarise_fuse_queues(trials)
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
