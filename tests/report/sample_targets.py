"""A made-up run of five network filesystems with three clients each, stored and analysed like a real one.

Nothing here was measured. What a report must show is put in: one target that answers from its clients' caches, one client
that begins late, one that is missing, a step that failed, links shaped to 1 Gb/s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count, product
from pathlib import Path
from typing import Any

import numpy as np

from leadline.analyse.analysis import analyse
from leadline.analyse.results import Results
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
from leadline.store.run_folder import RunFolder
from leadline.store.series import Series, SeriesTable

LINK = 125_000_000.0
CLIENTS = ("client1", "client2", "client3")
DEPTHS = (1, 8, 32)
TESTS = ("randread", "randwrite")
BLOCK = 65_536
SECONDS = 5.0
SECOND_NS = 1_000_000_000

TARGETS: dict[str, dict[str, Any]] = {
    "cephfs": {"peak": 2100, "base_ms": 2.4, "type": "fuse.ceph-fuse", "fuse": True},
    "glusterfs": {"peak": 3300, "base_ms": 1.3, "type": "fuse.glusterfs", "fuse": True},
    "juicefs": {"peak": 9000, "base_ms": 0.4, "type": "fuse.juicefs", "fuse": True},
    "moosefs": {"peak": 4200, "base_ms": 0.9, "type": "fuse.mfs", "fuse": True},
    "nfs": {"peak": 5200, "base_ms": 0.6, "type": "nfs", "fuse": False, "access": "nfs", "ioengine": "nfs"},
}
"""Peak in operations per second of 64 KiB over all clients, latency of a lone operation."""

ENVIRONMENT: dict[str, Any] = {
    "processor": {"model": "made up", "threads": 8},
    "memory": {"total_bytes": 16 << 30},
    "filesystem": {"type": "ext4", "is_fuse": False, "is_network": False, "is_memory": False},
    "kernel": {"release": "6.1.0"},
}


def stored(folder: Path) -> Path:
    """The run in a folder, as a conductor leaves it."""
    run = RunFolder.create(folder, manifest())
    run.save_environment(ENVIRONMENT)
    for record in records():
        run.save(record)
    run.close()
    return folder


def side_by_side(label: str = "side by side", rename: Mapping[str, str] | None = None) -> Results:
    """The same run, analysed without a folder between; `rename` gives targets and clients other names."""
    found = [renamed(record, rename) if rename else record for record in records()]
    return analyse(found, manifest(), ENVIRONMENT, label)


def renamed(record: StepRecord, names: Mapping[str, str]) -> StepRecord:
    """The same step under other names."""
    target = str(record.cell["target"])
    clients = [
        {**one, "name": names.get(one["name"], one["name"])} for one in record.facts.get("clients", ())
    ]
    return replace(
        record,
        cell={**record.cell, "target": names.get(target, target)},
        measurements=tuple(replace(one, host=names.get(one.host, one.host)) for one in record.measurements),
        jobs=tuple(replace(one, host=names.get(one.host, one.host)) for one in record.jobs),
        facts={**record.facts, "clients": clients},
    )


def manifest() -> Manifest:
    return Manifest("side by side", "campaign", "/run/leadline-lab", "2026-03-04T09:12:44Z", "0.1.0", seed=7)


def records() -> Iterator[StepRecord]:
    """5 targets x 3 iodepths x 2 tests x 3 repeats; the order of the plan is that of the loop."""
    random, ordinals = np.random.default_rng(11), count()
    for target, test, depth, repeat in product(TARGETS, TESTS, DEPTHS, range(3)):
        ordinal = next(ordinals)
        if (target, test, depth, repeat) == ("cephfs", "randwrite", 32, 2):
            yield failure(ordinal, target, test, depth, repeat)
        else:
            yield step(ordinal, target, test, depth, repeat, random)


def settings(target: str, test: str, depth: int) -> dict[str, Scalar]:
    engine = TARGETS[target].get("ioengine", "libaio")
    return {
        "target": target, "rw": test, "block_size": BLOCK, "iodepth": depth, "numjobs": 1, "clients": 3,
        "ioengine": engine, "direct": True, "runtime": SECONDS, "link": LINK,
    }  # fmt: skip


def step(
    ordinal: int, target: str, test: str, depth: int, repeat: int, random: np.random.Generator
) -> StepRecord:
    known = TARGETS[target]
    cached = target == "juicefs" and test == "randread"
    peak = known["peak"] * (1 if test == "randread" else 0.45) * random.normal(1, 0.015)
    concurrency = 3 * depth
    total = concurrency / (known["base_ms"] / 1e3 + concurrency / peak)
    missing = target == "glusterfs" and test == "randwrite" and depth == 32 and repeat == 1
    late = target == "moosefs" and test == "randread" and depth == 32 and repeat == 2
    names = CLIENTS[:2] if missing else CLIENTS
    shares = dict(zip(CLIENTS, (0.36, 0.33, 0.31), strict=True))
    parts = {
        name: part(name, test, total * shares[name], depth, late and name == "client3") for name in names
    }
    begun = {name: 1.4 if late and name == "client3" else 0.02 * place for place, name in enumerate(CLIENTS)}
    windows = [
        {"name": name, "host": "local", "started_ns": 0.0, "ended_ns": (begun[name] + SECONDS + 0.3) * 1e9}
        for name in CLIENTS
    ]
    moved = {name: one.size_bytes for name, one in parts.items()}
    return StepRecord(
        ordinal=ordinal, kind=StepKind.CELL, experiment="one workload", cell=settings(target, test, depth),
        repeat=repeat, status=Status.FINISHED, command=("fio", f"--name={target}"), exit_code=0, wall_ns=6 * SECOND_NS,
        measurements=tuple(parts.values()),
        jobs=tuple(JobUse(name, 0, 0.06, 0.12, 900, one.runtime_ns, 0) for name, one in parts.items()),
        throughput=tuple(series(test, parts, random)),
        counters=SeriesTable.group(counters(target, sum(moved.values()))),
        totals=totals(target, test, moved, cached),
        facts={
            "direct": True, "caches": "dropped", "dataset_bytes": 2 << 30, "clients": windows,
            "release_skew_ns": 180_000 + 10_000 * repeat, "site_conditions": {"link": LINK},
            "filesystem": {"type": known["type"], "is_fuse": known["fuse"], "is_network": True, "is_memory": False},
            **({"access": known["access"]} if "access" in known else {}),
        },
    )  # fmt: skip


def part(name: str, test: str, iops: float, depth: int, short: bool) -> Measurement:
    operations, mean_ns = round(iops * SECONDS), depth / iops * 1e9
    spread = np.exp(np.linspace(-1.2, 2.2, 160))
    weights = np.exp(-(np.linspace(-2.2, 4.0, 160) ** 2) / 2)
    counts = np.maximum(np.round(operations * weights / weights.sum()), 1).astype(np.int64)
    values = np.round(spread * mean_ns / (spread * weights).sum() * weights.sum()).astype(np.int64)
    shape = Histogram(values, counts)
    direction = Direction.READ if test == "randread" else Direction.WRITE
    latency = Latency(operations, mean_ns, float(values[0]), float(values[-1]), histogram=shape)
    return Measurement(
        name, 0, direction, operations, operations * BLOCK, round(SECONDS * SECOND_NS), latency
    )


def series(test: str, parts: dict[str, Measurement], random: np.random.Generator) -> Iterator[Series]:
    direction = "read" if test == "randread" else "write"
    times = [125_000_000 * (n + 1) for n in range(40)]
    own = {name: one.size_bytes / SECONDS * random.normal(1, 0.02, 40) for name, one in parts.items()}
    yield Series(direction, "bytes/s", times, sum(own.values()).tolist())  # type: ignore[union-attr]
    for name, values in own.items():
        yield Series(f"{direction}@{name}", "bytes/s", times, values.tolist())


def counters(target: str, moved: float) -> list[Series]:
    times = [SECOND_NS * (n + 1) for n in range(5)]
    busy = min(0.95, 0.25 + moved / SECONDS / 4e8 * (0.9 if target == "cephfs" else 0.6))
    return [
        Series("cpu.all.busy_share", "share", times, [busy] * 5),
        Series("disk.vda.utilisation_share", "share", times, [0.41] * 5),
    ]


def totals(target: str, test: str, moved: dict[str, int], cached: bool) -> dict[str, float]:
    """At the NICs: a little more than the application moved; three times as much where a client writes all replicas."""
    reads, factor = test == "randread", 3.05 if target == "glusterfs" and test == "randwrite" else 1.04
    found: dict[str, float] = {"disk.vda.read_bytes": 0.0, "disk.vda.write_bytes": 0.0}
    found |= {
        f"disk.vda.{'read' if reads else 'write'}_bytes": sum(moved.values()) * (0.03 if cached else 1.0)
    }
    for name, amount in moved.items():
        data, rest = amount * (0.03 if cached else factor), amount * 0.01
        found[f"host.{name}.nic.v0.receive_bytes"] = data if reads else rest
        found[f"host.{name}.nic.v0.transmit_bytes"] = rest if reads else data
        found[f"host.{name}.tcp.retransmitted_segments"] = 4.0 if target == "cephfs" else 0.0
    servers = 3
    for number in range(servers):
        data = sum(moved.values()) * (0.03 if cached else factor) / servers
        found[f"host.server{number + 1}.nic.v0.transmit_bytes"] = data if reads else data * 0.01
        found[f"host.server{number + 1}.nic.v0.receive_bytes"] = data * 0.01 if reads else data
    return found


def failure(ordinal: int, target: str, test: str, depth: int, repeat: int) -> StepRecord:
    return StepRecord(
        ordinal, StepKind.CELL, "one workload", settings(target, test, depth), repeat, Status.FAILED,
        "the mount of client2 is gone", facts={"site_conditions": {"link": LINK}},
    )  # fmt: skip
