"""What cells are judged by: the generator's ceiling, memory copy, noise floor, device latency, stated limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from leadline.analyse.disks import limits_of_sheets
from leadline.analyse.machine import Machine, machine_under
from leadline.analyse.merge import Trials, gather_trials
from leadline.analyse.resources import device_share
from leadline.analyse.results import NoiseOf, Reference, noise_key
from leadline.store.manifest import Manifest
from leadline.store.records import Direction, StepKind, StepRecord

HONEST_DEVICE_SHARE = 0.9
"""At least this share of the application's bytes must show at the block devices below it."""


FEWEST_OPERATIONS = 1_000
"""A phase of a dozen directories is over before it can say how much the machine differs from itself."""


def measure_reference(
    records: Sequence[StepRecord], cells: Sequence[Trials], manifest: Manifest, machine: Machine
) -> Reference:
    """From the reference steps of the run and from cells that are confirmed at the devices."""
    memory_copy, memory_jobs = _memory_copy(gather_trials(records, StepKind.MEMORY))
    alike = gather_trials(records, StepKind.NOISE)
    noise = _noise(alike)
    return Reference(
        ceiling_iops=_ceiling(gather_trials(records, StepKind.CEILING)),
        memory_copy_bytes_per_second=memory_copy,
        memory_copy_jobs=memory_jobs,
        noise_floor=max(noise.values(), default=None),
        noise_repeats=max((len(group.trials) for group in alike), default=0),
        noise_floors=noise,
        limits=limits_of_sheets(records, manifest, machine)
        | {name: float(value) for name, value in manifest.limits.items() if value > 0},
        device_read_floors_ns=_device_read_floors(cells, machine),
    )


def _ceiling(groups: Sequence[Trials]) -> float | None:
    """The most operations per second that one job of the generator reached."""
    return max(
        (trial.iops / group.jobs for group in groups for trial in group.trials if trial.iops), default=None
    )


def _memory_copy(groups: Sequence[Trials]) -> tuple[float | None, int]:
    """The fastest memory copy and how many jobs made it."""
    measured = [(trial.bandwidth_bytes_per_second, group.jobs) for group in groups for trial in group.trials]
    best = max(measured, default=(0.0, 1))
    return (best[0], best[1]) if best[0] > 0 else (None, 1)


def _noise(groups: Sequence[Trials]) -> dict[NoiseOf, float]:
    """By site and operation, the largest relative difference of an A/A repeat from the median."""
    found: dict[NoiseOf, float] = {}
    for group in groups:
        values = [trial.throughput for trial in group.trials]
        middle = median(values)
        enough = min(trial.operations for trial in group.trials) >= FEWEST_OPERATIONS
        if len(values) > 1 and middle > 0 and (enough or not group.direction.is_phase):
            difference = max(abs(value / middle - 1) for value in values)
            key = noise_key(group.cell, group.direction)
            found[key] = max(difference, found.get(key, 0.0))
    return found


def _device_read_floors(cells: Sequence[Trials], machine: Machine) -> dict[str, float]:
    """By target, the fastest answer to any O_DIRECT read whose bytes showed at the devices; disks differ."""
    floors: dict[str, float] = {}
    for trials in cells:
        if trials.direct and trials.direction is Direction.READ and _is_confirmed(trials, machine):
            target = str(trials.cell.get("target", ""))
            answers = [part.latency.min_ns for part in trials.measurements if part.latency.min_ns]
            floors |= {target: min(*answers, floors.get(target, math.inf))} if answers else {}
    return floors


def _is_confirmed(trials: Trials, machine: Machine) -> bool:
    share = device_share(trials) if machine_under(machine, trials.first).on_block_devices else None
    return share is not None and share >= HONEST_DEVICE_SHARE
