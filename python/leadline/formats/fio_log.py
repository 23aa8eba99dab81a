"""fio's bandwidth logs of several jobs -> one Series a direction: throughput over time of all jobs together.

A line is "time_ms, KiB/s, direction, block size, offset[, priority]" (fio HOWTO, "Log File Formats"): the
mean since the job's line before. The logs of several jobs do not tick at the same millisecond, so they cannot
be added line by line: each is turned into bytes moved until then, and the sum is read off on one grid. No
byte is lost or counted twice.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from leadline.formats.fields import FormatError, shown
from leadline.store.records import Direction
from leadline.store.series import Series

DIRECTIONS = {0: Direction.READ, 1: Direction.WRITE, 2: Direction.TRIM}
"""fio's data directions; others (3 = sync) move no data."""

MOST_POINTS = 100_000
"""A finer grid than this is made coarser: a log of per-I/O lines can span days."""

LOG_LINE = re.compile(r"\d{1,15}, \d{1,18}, [0-4], \d{1,12}")
"""How a line of any log of fio begins (bw, iops, lat ...)."""

LONGEST_MS = 10 * 365 * 86_400_000
LARGEST_RATE_KIB = 2.0**53

Samples = list[tuple[int, float]]
Floats = NDArray[np.float64]


def parse(texts: Iterable[str]) -> tuple[Series, ...]:
    """The logs of all jobs of a step, one text each, as Series "read", "write", "trim" in bytes a second."""
    logs: dict[Direction, list[Samples]] = defaultdict(list)
    for text in texts:
        for direction, samples in _samples(text).items():
            logs[direction].append(samples)
    return tuple(_sum(direction, logs[direction]) for direction in Direction if direction in logs)


def _samples(text: str) -> dict[Direction, Samples]:
    """(time_ms, KiB/s) of one job, by direction, times ascending."""
    found: dict[Direction, Samples] = defaultdict(list)
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            time_ms, rate, direction = _line(line)
        except ValueError:
            if number == len(lines) and not text.endswith("\n"):
                break  # fio was killed while it wrote this line
            raise FormatError(f"line {number} of the bandwidth log is not fio's: {shown(line)}") from None
        if direction in DIRECTIONS:
            found[DIRECTIONS[direction]].append((time_ms, rate))
    return {direction: _one_a_moment(samples) for direction, samples in found.items()}


def _line(line: str) -> tuple[int, float, int]:
    """Raises ValueError when it is not a line of a log."""
    fields = [field.strip() for field in line.split(",")]
    if len(fields) < 4:
        raise ValueError("too few fields")
    time_ms, rate, direction = int(fields[0]), float(fields[1]), int(fields[2])
    if not (0 <= time_ms <= LONGEST_MS and 0 <= rate <= LARGEST_RATE_KIB):
        raise ValueError("out of range")
    return time_ms, rate, direction


def _one_a_moment(samples: Samples) -> Samples:
    """Lines of one millisecond (per-I/O logs) become their mean: a second one would last no time."""
    moments = groupby(sorted(samples), key=lambda sample: sample[0])
    return [(time_ms, float(np.mean([rate for _, rate in group]))) for time_ms, group in moments]


def _sum(direction: Direction, logs: list[Samples]) -> Series:
    """All jobs on one grid."""
    tick_ms = _tick_ms(logs)
    moved = [_bytes_until(samples, tick_ms) for samples in logs]
    first_ms = min(times[0] for times, _ in moved)
    last_ms = max(times[-1] for times, _ in moved)
    step_ms = max(tick_ms, (last_ms - first_ms) / MOST_POINTS)
    points = max(1, round((last_ms - first_ms) / step_ms))
    # The last point takes in what is left over, half a step at most: a sliver would be a rate of noise.
    grid_ms = np.append(first_ms + step_ms * np.arange(points), last_ms)
    together = np.sum([np.interp(grid_ms, times, amounts) for times, amounts in moved], axis=0)
    rates = np.diff(together) / (np.diff(grid_ms) / 1000)
    times_ns = [int(time_ms * 1e6) for time_ms in grid_ms[1:]]
    return Series(str(direction), "B/s", times_ns, [float(rate) for rate in rates])


def _tick_ms(logs: list[Samples]) -> float:
    """How far apart lines usually are; a second where no job has two."""
    gaps = [later[0] - earlier[0] for samples in logs for earlier, later in pairwise(samples)]
    return float(np.median(gaps)) if gaps else 1000.0


def _bytes_until(samples: Samples, tick_ms: float) -> tuple[Floats, Floats]:
    """Moments in ms and the bytes moved until then.

    The first line stands for one usual tick before it, not for the time since the start, which may be a ramp.
    """
    table = np.array(samples, dtype=np.float64)
    begin_ms = max(0.0, table[0, 0] - tick_ms) if table[0, 0] > 0 else -tick_ms
    times_ms = np.concatenate([[begin_ms], table[:, 0]])
    amounts = table[:, 1] * 1024 * np.diff(times_ms) / 1000
    return times_ms, np.concatenate([[0.0], np.cumsum(amounts)])
