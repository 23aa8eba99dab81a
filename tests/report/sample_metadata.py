"""Made-up records of the metadata engine, analysed for real: a tree over processes and one over iodepth, with every verdict.

Rates follow a saturating curve, latencies follow from Little's law; nothing here was measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from leadline.analyse.analysis import analyse
from leadline.analyse.results import Results
from leadline.store.histogram import Histogram
from leadline.store.manifest import Manifest
from leadline.store.records import (
    Cell,
    Direction,
    JobUse,
    Latency,
    Measurement,
    Status,
    StepKind,
    StepRecord,
)
from leadline.store.series import Series

SECOND_NS = 1_000_000_000
RATES = {
    Direction.TREE_CREATE: 300,
    Direction.DIRECTORY_CREATE: 6_000,
    Direction.DIRECTORY_STAT: 40_000,
    Direction.DIRECTORY_RENAME: 4_000,
    Direction.DIRECTORY_REMOVE: 5_000,
    Direction.FILE_CREATE: 5_500,
    Direction.FILE_STAT: 38_000,
    Direction.FILE_READ: 9_000,
    Direction.FILE_REMOVE: 5_200,
    Direction.TREE_REMOVE: 250,
}
"""At one process and depth 1."""
WIDE: Cell = {
    "depth": 2,
    "branching_factor": 3,
    "items_per_directory": 1_000,
    "unique_trees": True,
    "naming": "full_path",
    "driver": "calls",
    "iodepth": 1,
    "numjobs": 1,
}
FUSE = {"type": "fuse.juicefs", "is_fuse": True, "is_network": False, "is_memory": False}


def grown(rate: float, load: float) -> float:
    """Saturates at about six times the rate of load 1."""
    return rate * load / (1 + (load - 1) / 6)


def measured(
    direction: Direction, rate: float, ranks: int, iodepth: int, failed: Mapping[str, int]
) -> list[Measurement]:
    """One a rank; the later ones are done a little later."""
    found = []
    for rank in range(ranks):
        seconds = 4 * (1 - 0.02 * (ranks - 1 - rank) / ranks)
        operations = round(rate * 4 / ranks)
        mean_ns = iodepth * seconds * 1e9 / operations
        places = np.linspace(0.5, 2.5, 40)
        counts = np.maximum((operations * np.exp(-(places**2)) / 12).astype(np.int64), 1)
        shape = Histogram((mean_ns * places).astype(np.int64), counts)
        latency = Latency(
            shape.total, mean_ns, float(shape.values_ns[0]), float(shape.values_ns[-1]), histogram=shape
        )
        found.append(
            Measurement(
                "local", rank, direction, operations, 0, round(seconds * 1e9), latency,
                failed=failed if rank == 0 else {},
            )
        )  # fmt: skip
    return found


def step(
    ordinal: int,
    experiment: str,
    cell: Cell,
    repeat: int,
    factor: Mapping[Direction, float],
    failed: Mapping[Direction, Mapping[str, int]],
    facts: Mapping[str, Any],
    operations: Sequence[Direction] = tuple(RATES),
) -> StepRecord:
    """All phases of one repeat."""
    ranks, iodepth = int(cell["numjobs"]), int(cell["iodepth"])
    parts, listed, series = [], [], []
    for place, direction in enumerate(operations):
        load = 1 if direction in (Direction.TREE_CREATE, Direction.TREE_REMOVE) else ranks * iodepth
        rate = grown(RATES[direction], load) * factor.get(direction, 1.0) * (1 + 0.004 * repeat)
        own = measured(direction, rate, ranks, iodepth if load > 1 else 1, failed.get(direction, {}))
        parts += own
        counted = sum(part.operations for part in own)
        listed.append(
            {
                "operation": str(direction),
                "planned": counted + sum(failed.get(direction, {}).values()),
                "start_ns": place * 4 * SECOND_NS,
                "first_done_ns": min(part.runtime_ns for part in own),
                "last_done_ns": max(part.runtime_ns for part in own),
                "requests": {"FUSE lookup": 40 if direction is Direction.DIRECTORY_STAT else 2 * counted},
            }
        )
        series.append(
            Series(str(direction), "1/s", [SECOND_NS // 4 * (at + 1) for at in range(16)], [rate] * 16)
        )
    jobs = tuple(
        JobUse("local", rank, 0.05, 0.3, 0, 4 * len(operations) * SECOND_NS, 0) for rank in range(ranks)
    )
    return StepRecord(
        ordinal, StepKind.CELL, experiment, cell, repeat, Status.FINISHED, engine="metadata",
        wall_ns=4 * len(operations) * SECOND_NS, command=("leadline-engine", "run", "step.json"), exit_code=0,
        measurements=tuple(parts), jobs=jobs, throughput=tuple(series), facts={"phases": listed, **facts},
    )  # fmt: skip


def metadata_run(name: str = "3fs metadata") -> Results:
    """A tree over 1 to 8 processes with a cached stat, failures and a trend; the same over iodepth in io_uring."""
    records: list[StepRecord] = []
    for jobs in (1, 2, 4, 8):
        for repeat in range(4):
            slowing = {Direction.FILE_CREATE: (1.0, 0.6, 0.4, 0.3)[repeat]} if jobs == 4 else {}
            failed = {Direction.FILE_REMOVE: {"ENOENT": 3}} if jobs == 8 else {}
            cell = {**WIDE, "numjobs": jobs}
            records.append(step(len(records), "wide", cell, repeat, slowing, failed, {"filesystem": FUSE}))
    for iodepth in (1, 2, 4, 8, 16, 32):
        cell = {**WIDE, "driver": "io_uring", "iodepth": iodepth}
        records += [
            step(len(records) + repeat, "depth", cell, repeat, {}, {}, {"filesystem": FUSE})
            for repeat in range(2)
        ]
    environment = {"processor": {"threads": 4}, "memory": {"total_bytes": 2**33}, "filesystem": FUSE}
    manifest = Manifest(name, "campaign", "/mnt/juice", "2026-01-01T00:00:00Z", "0.1.0")
    return analyse(records, manifest, environment)


def named_targets() -> Results:
    """Creates on two targets, one of which is worlds apart."""
    records = [
        step(at, "names", {**WIDE, "target": target}, 0, {Direction.FILE_CREATE: factor}, {}, {}, [Direction.FILE_CREATE])
        for at, (target, factor) in enumerate({"nfs": 1.0, "ext4": 20.0}.items())
    ]  # fmt: skip
    return analyse(records, Manifest("names", "campaign", "/", "2026-01-01T00:00:00Z", "0.1.0"), {})
