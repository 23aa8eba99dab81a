"""Small records made by hand: what engines would leave behind, every figure chosen by the test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from leadline.store.histogram import Histogram
from leadline.store.manifest import Manifest
from leadline.store.records import (
    Direction,
    JobUse,
    Latency,
    Measurement,
    Scalar,
    Status,
    StepKind,
    StepRecord,
)
from leadline.store.series import Series, SeriesTable

MIB = 1 << 20
GIB = 1 << 30
SECOND_NS = 1_000_000_000


def histogram(
    mean_ns: float = 1e6, samples: int = 200_000, spread: float = 0.1, bins: int = 200
) -> Histogram:
    """A bell of this many samples around the mean."""
    places = np.linspace(-3, 3, bins)
    weights = np.exp(-(places**2) / 2)
    counts = np.maximum(np.round(samples * weights / weights.sum()), 1).astype(np.int64)
    counts[bins // 2] += samples - counts.sum()
    return Histogram(np.round(mean_ns * (1 + spread * places)).astype(np.int64), counts)


def latency(mean_ns: float, samples: int, shape: Histogram | None = None) -> Latency:
    """Of `samples` operations."""
    shape = shape or histogram(mean_ns, samples)
    return Latency(
        shape.total, mean_ns, float(shape.values_ns[0]), float(shape.values_ns[-1]), histogram=shape
    )


def measurement(
    iops: float = 20_000,
    block_size: int = 65_536,
    concurrency: float = 8,
    *,
    seconds: float = 10,
    direction: Direction = Direction.READ,
    job: int = 0,
    host: str = "",
    shape: Histogram | None = None,
    mean_ns: float | None = None,
) -> Measurement:
    """One job that keeps `concurrency` requests in flight: by Little's law its mean latency follows."""
    operations = round(iops * seconds)
    mean = concurrency / iops * 1e9 if mean_ns is None else mean_ns
    return Measurement(
        host,
        job,
        direction,
        operations,
        operations * block_size,
        round(seconds * SECOND_NS),
        latency(mean, operations, shape),
    )


def steady_series(
    value: float, direction: str = "read", samples: int = 40, noise: float = 0.01, seed: int = 1
) -> Series:
    """White noise around a value, a sample every 250 ms."""
    values = value * (1 + noise * np.random.default_rng(seed).standard_normal(samples))
    return Series(direction, "bytes/s", [250_000_000 * (i + 1) for i in range(samples)], values.tolist())


def record(
    *measurements: Measurement,
    ordinal: int = 0,
    repeat: int = 0,
    kind: StepKind = StepKind.CELL,
    experiment: str = "grid",
    cell: Mapping[str, Scalar] | None = None,
    cpu: float = 0.2,
    series: Sequence[Series] | None = None,
    counters: Sequence[Series] = (),
    totals: Mapping[str, float] | None = None,
    facts: Mapping[str, Any] | None = None,
    warnings: tuple[str, ...] = (),
) -> StepRecord:
    """A finished step without anything to object to, unless the test puts it there."""
    size_bytes = sum(part.size_bytes for part in measurements)
    direction = measurements[0].direction if measurements else Direction.READ
    rate = size_bytes * 1e9 / max((part.runtime_ns for part in measurements if part.runtime_ns), default=1)
    return StepRecord(
        ordinal=ordinal,
        kind=kind,
        experiment=experiment,
        cell=dict(CLEAN if cell is None else cell),
        repeat=repeat,
        status=Status.FINISHED,
        command=("fio", "--name=cell"),
        exit_code=0,
        measurements=measurements,
        jobs=tuple(
            JobUse(part.host, part.job, cpu / 2, cpu / 2, 10, part.runtime_ns, 0) for part in measurements
        ),
        throughput=tuple([steady_series(rate, direction)] if series is None else series),
        counters=SeriesTable.group(counters),
        totals={f"disk.vda.{direction}_bytes": float(size_bytes)} if totals is None else totals,
        facts={"dataset_bytes": 64 * GIB, "caches": "dropped"} if facts is None else facts,
        warnings=warnings,
    )


CLEAN: dict[str, Scalar] = {
    "rw": "randread",
    "block_size": 65_536,
    "iodepth": 8,
    "numjobs": 1,
    "ioengine": "io_uring",
    "direct": True,
}

ENVIRONMENT: dict[str, Any] = {
    "processor": {"threads": 4},
    "memory": {"total_bytes": 8 * GIB},
    "filesystem": {"type": "xfs", "is_fuse": False, "is_network": False, "is_memory": False},
}


def failed(
    reason: str = "fio was killed after 60 s", *, ordinal: int = 9, repeat: int = 0, cell: Any = None
) -> StepRecord:
    """A step that gave no figure."""
    return StepRecord(
        ordinal, StepKind.CELL, "grid", dict(CLEAN if cell is None else cell), repeat, Status.FAILED, reason
    )


def manifest(**known: Any) -> Manifest:
    """Of a run on /data."""
    return Manifest("sample", "campaign", "/data", "2026-01-01T00:00:00Z", "0.1.0", **known)
