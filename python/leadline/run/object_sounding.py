"""An object store sounded: the functional checks, then the same requests at doubling concurrency, in rounds.

The first round doubles the requests in flight from one to the cores, and further while that brings anything, to four times the cores. The
later rounds repeat its cells in an order of their own, so that a slow minute does not fall on one cell's repeats alone.
"""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.plan.objects import (
    BIG_CHECK_BYTES,
    LONGEST_CHECKS_SECONDS,
    MARGIN_SECONDS,
    dataset_bytes,
    longest_seconds,
)
from leadline.run.engines import object_store as engine
from leadline.run.object_requests import Answered, ask
from leadline.run.observe.control_groups import read_group_limits
from leadline.run.observe.machine import Machine
from leadline.run.observe.memory import describe_memory
from leadline.run.observe.processor import describe_processor
from leadline.spec.object_store import ObjectStore
from leadline.spec.units import format_size
from leadline.store.records import Cell, Scalar, Status, StepKind, StepRecord

EXPERIMENT = "objbench"
LEAST_GAIN = 1.05
MOST_PER_CORE = 4
PARTS = 4

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Wishes:
    """What is to be measured."""

    big_object_bytes: int
    block_bytes: int
    small_object_bytes: int
    small_objects: int
    part_bytes: int | None
    threads: tuple[int, ...] | None = None
    """Requests in flight; None: doubling."""
    clients: int | None = None
    """Client instances at most; None: one a core."""
    window_seconds: float | None = None
    repeats: int = 3
    retries: int = 0
    seed: int = 0


def check_space(store: ObjectStore, wishes: Wishes) -> None:
    """Where objects are files of this machine; raises UserError when they do not fit."""
    if store.scheme != "fs" or not Path(store.options["root"]).is_dir():
        return
    needed = max(*map(dataset_bytes, shapes(wishes, in_parts=False)), BIG_CHECK_BYTES)
    free = shutil.disk_usage(store.options["root"]).free
    if free < needed * 1.1:
        raise UserError(
            f"{store.shown} has {format_size(free)} free and {format_size(needed)} are written; make room or lower --big-object-size"
        )


def checks(store: ObjectStore, folder: str) -> Sequence[Mapping[str, Any]]:
    """The functional checks: name, result and reason."""
    step = {"workload": "object_checks", "folder": folder, "big_object_bytes": BIG_CHECK_BYTES}
    found: Sequence[Mapping[str, Any]] = ask(store, step, LONGEST_CHECKS_SECONDS + MARGIN_SECONDS).result[
        "checks"
    ]
    return found


def takes_parts(store: ObjectStore, checked: Sequence[Mapping[str, Any]]) -> bool:
    """Whether uploads in parts are worth measuring: files have none, and a store where they failed would fail again."""
    failed = any(check["name"] == "multipart upload" and check["result"] != "passed" for check in checked)
    return store.scheme != "fs" and not failed


def shapes(wishes: Wishes, in_parts: bool) -> list[dict[str, Scalar]]:
    """Small objects, big ones, and big ones in parts."""
    window: dict[str, Scalar] = {} if wishes.window_seconds is None else {"window": wishes.window_seconds}
    small = {"object_size": wishes.small_object_bytes, "objects": wishes.small_objects}
    big = {"object_size": wishes.block_bytes, "objects": -(-wishes.big_object_bytes // wishes.block_bytes)}
    found = [small, big]
    if in_parts and wishes.part_bytes and wishes.big_object_bytes >= PARTS * wishes.part_bytes:
        size = PARTS * wishes.part_bytes
        found.append(
            {"object_size": size, "objects": wishes.big_object_bytes // size, "part_size": wishes.part_bytes}
        )
    return [{**shape, **window} for shape in found]


class Sounder:
    """Carries the cells out and keeps what came of them."""

    def __init__(self, store: ObjectStore, folder: str, wishes: Wishes, tell: Tell) -> None:
        self.records: list[StepRecord] = []
        self._store, self._folder, self._wishes, self._tell = store, folder, wishes, tell
        self._cores = len(os.sched_getaffinity(0))

    def sound(self, in_parts: bool) -> Sequence[StepRecord]:
        """Every cell, `repeats` times; raises UserError when the store cannot be used at all, and Interrupted."""
        cells = [cell for shape in shapes(self._wishes, in_parts) for cell in self._first_round(shape)]
        order = random.Random(self._wishes.seed)
        for repeat in range(1, self._wishes.repeats):
            shuffled = list(cells)
            order.shuffle(shuffled)
            for cell in shuffled:
                self._perform(cell, repeat)
        return self.records

    def _first_round(self, shape: Mapping[str, Scalar]) -> Iterator[Cell]:
        before: StepRecord | None = None
        for concurrency in self._levels():
            cell: Cell = {**shape, "concurrency": concurrency}
            record = self._perform(cell, 0)
            yield cell
            if self._is_enough(concurrency, before, record):
                return
            before = record

    def _levels(self) -> Iterator[int]:
        if self._wishes.threads is not None:
            yield from self._wishes.threads
            return
        concurrency = 1
        while concurrency <= MOST_PER_CORE * self._cores:
            yield concurrency
            concurrency *= 2

    def _is_enough(self, concurrency: int, before: StepRecord | None, now: StepRecord) -> bool:
        """Beyond the cores, once no kind of request gains anything."""
        if self._wishes.threads is not None or before is None or concurrency <= self._cores:
            return False
        earlier, later = rates(before), rates(now)
        return not any(later[name] > LEAST_GAIN * earlier[name] for name in later if earlier.get(name))

    def _perform(self, cell: Cell, repeat: int) -> StepRecord:
        self._tell(
            f"round {repeat + 1}: objects of {int(cell['object_size']):,} bytes, {cell['concurrency']} in flight"
        )
        ordinal = len(self.records)
        most = self._wishes.clients or self._cores
        fields = engine.step_of(
            {**cell, "retries": self._wishes.retries}, self._folder, most, self._wishes.seed + ordinal
        )
        started, begin = time.time_ns(), time.monotonic_ns()
        answered = ask(self._store, fields, longest_seconds(cell))
        wall_ns = time.monotonic_ns() - begin
        record = record_of(answered, cell, repeat, ordinal)
        self.records.append(replace(record, started_unix_ns=started, wall_ns=wall_ns))
        return self.records[-1]


def record_of(answered: Answered, cell: Cell, repeat: int, ordinal: int) -> StepRecord:
    """What a step left behind, in the words of the store."""
    result = answered.result
    fault = engine.fault(result)
    return StepRecord(
        ordinal=ordinal, kind=StepKind.CELL, experiment=EXPERIMENT, cell=cell, repeat=repeat, engine="object store",
        status=Status.FAILED if fault else Status.FINISHED, reason=fault,
        measurements=tuple(engine.measurements(result)), jobs=engine.jobs(result), throughput=engine.series(result),
        warnings=tuple(dict.fromkeys(engine.warnings(result))),
        facts={**engine.facts(result), "engine_cpu_seconds": answered.completed.cpu_seconds},
    )  # fmt: skip


def rates(record: StepRecord) -> dict[str, float]:
    """Requests a second, by kind; removing is no reason to go on."""
    found: dict[str, float] = {}
    for name in {part.direction for part in record.measurements}:
        parts = [part for part in record.measurements if part.direction is name]
        longest = max(part.runtime_ns for part in parts)
        if longest and not name.endswith("delete"):
            found[name] = sum(part.operations for part in parts) * 1e9 / longest
    return found


def environment() -> dict[str, Any]:
    """Of this machine, what verdicts on the client need."""
    machine = Machine()
    limits = read_group_limits(machine)
    return {"processor": describe_processor(machine, limits), "memory": describe_memory(machine, limits)}
