"""An object store of a known pace under a filesystem, as a campaign would have measured them: known rates, one collapse, one failure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from leadline.analyse.analysis import analyse
from leadline.analyse.results import Results
from leadline.store.histogram import Histogram
from leadline.store.manifest import Manifest
from leadline.store.object_checks import DOCUMENT, Check, ObjectChecks, checks_text
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

SECOND_NS = 1_000_000_000
OBJECT_BYTES = 1 << 20
LOADS = (1, 2, 4, 8)
REPEATS = 3
GETS_PER_SECOND = {1: 2000, 2: 3900, 4: 4000, 8: 3000}
"""Beyond four in flight it falls."""
PUTS_PER_SECOND = {1: 1000, 2: 1900, 4: 2000, 8: 2010}
LISTS_PER_SECOND = {load: 50 * load for load in LOADS}
NAMED = 100
"""Objects that a listing names."""
READ_BYTES_PER_SECOND = 400 * OBJECT_BYTES


def object_results(parts: bool = False) -> Results:
    """Three repeats of everything, and the checks once; with `parts` also a cell of puts in parts."""
    manifest = Manifest("objects", "campaign", "s3://bucket", "2026-11-21T00:00:00+00:00", "0.1.0")
    return analyse(list(_records(parts)), manifest, {})


def _records(parts: bool) -> Iterator[StepRecord]:
    ordinal = 0
    checks = ObjectChecks(
        "bucket",
        (
            Check("put an object", "passed"),
            Check("special key", "failed", "it is not listed as it was given"),
            Check("change mtime", "not_supported", "objects have none"),
        ),
    )
    yield StepRecord(
        ordinal, StepKind.CELL, "store", {"checks": True}, 0, Status.FINISHED, engine="object", documents={DOCUMENT: checks_text(checks)}
    )  # fmt: skip
    for repeat in range(REPEATS):
        for load in LOADS:
            ordinal += 1
            yield _load(ordinal, repeat, {"object_size": OBJECT_BYTES, "objects": NAMED, "concurrency": load})
        ordinal += 1
        yield _read(ordinal, repeat)
        if parts:
            ordinal += 1
            yield _in_parts(ordinal, repeat)


def _load(ordinal: int, repeat: int, cell: Cell) -> StepRecord:
    load = int(cell["concurrency"])
    kinds = (
        (Direction.OBJECT_PUT, PUTS_PER_SECOND[load], OBJECT_BYTES),
        (Direction.OBJECT_GET, GETS_PER_SECOND[load], OBJECT_BYTES),
        (Direction.OBJECT_LIST, LISTS_PER_SECOND[load], 0),
    )
    failed = {"SlowDown": 7} if load == 8 else {}
    return StepRecord(
        ordinal=ordinal, kind=StepKind.CELL, experiment="store", cell=cell, repeat=repeat, status=Status.FINISHED, engine="object",
        wall_ns=3 * SECOND_NS, jobs=(JobUse("local", 0, 0.1, 0.0, 0, 3 * SECOND_NS, 0),),
        measurements=tuple(_requests(kind, load, rate, size, failed) for kind, rate, size in kinds),
        facts={"phases": [_phase(kind, rate) for kind, rate, _ in kinds]},
    )  # fmt: skip


def _in_parts(ordinal: int, repeat: int) -> StepRecord:
    cell: Cell = {
        "object_size": OBJECT_BYTES,
        "objects": NAMED,
        "concurrency": 1,
        "part_size": OBJECT_BYTES // 4,
    }
    return StepRecord(
        ordinal=ordinal, kind=StepKind.CELL, experiment="store", cell=cell, repeat=repeat, status=Status.FINISHED, engine="object",
        measurements=(_requests(Direction.OBJECT_MULTIPART_PUT, 1, 500, OBJECT_BYTES, {}),), facts={"phases": []},
    )  # fmt: skip


def _requests(kind: Direction, load: int, rate: int, size_bytes: int, failed: dict[str, int]) -> Measurement:
    mean_ns = load * SECOND_NS // rate
    latency = Latency(rate, mean_ns, histogram=Histogram.from_bins({mean_ns: rate}))
    return Measurement("local", 0, kind, rate, rate * size_bytes, SECOND_NS, latency, failed=failed)


def _phase(kind: Direction, rate: int) -> dict[str, Any]:
    listed = rate * NAMED if kind is Direction.OBJECT_LIST else 0
    return {
        "operation": kind, "planned": None, "start_ns": 0, "last_done_ns": SECOND_NS, "user_ns": SECOND_NS // 20,
        "system_ns": SECOND_NS // 20, "listed_objects": listed, "retried": 3 if kind is Direction.OBJECT_PUT else 0,
    }  # fmt: skip


def _read(ordinal: int, repeat: int) -> StepRecord:
    """Of the filesystem that stands on the store."""
    cell: Cell = {
        "rw": "read", "block_size": OBJECT_BYTES, "iodepth": 1, "numjobs": 1, "ioengine": "psync", "direct": False, "size": 1 << 30,
        "nrfiles": 1,
    }  # fmt: skip
    latency = Latency(400, 2.5e6, histogram=Histogram.from_bins({2_500_000: 400}))
    return StepRecord(
        ordinal=ordinal, kind=StepKind.CELL, experiment="files", cell=cell, repeat=repeat, status=Status.FINISHED,
        measurements=(Measurement("local", 0, Direction.READ, 400, READ_BYTES_PER_SECOND, SECOND_NS, latency),),
    )  # fmt: skip
