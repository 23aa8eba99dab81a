"""Published grids, {rw: {iodepth: {numjobs: {bandwidth_gb, iops, latency_us, percentiles}}}} -> stated rates.

The form in which the raw results behind the "3FS Performance Journal", part 3 (Henry Zhu, 2025), are
published. `bandwidth_gb` is GiB/s, latencies are microseconds. What else is known stands in the file's name:
BLOCKSIZE_FILESYSTEM_ENGINE_MACHINE_NODES.json. Rates and percentiles only, no counts: a record holds one
second at the stated rates and says so (stated_rates_only): totals give the rates, n is not taken for real.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from leadline.formats.fields import LARGEST_INTEGER, Fields, FormatError, shown
from leadline.formats.fio_options import size_of
from leadline.formats.percentiles import fraction_name
from leadline.importers.sources import Source
from leadline.store.records import Direction, Latency, Measurement, Status, StepKind, StepRecord

MARK = '"bandwidth_gb"'
NAME = re.compile(r"(\d{1,9}[kmg]?)_(.+)_([a-z0-9]+)_([A-Za-z0-9.\-]+)_(\d{1,6})", re.IGNORECASE)
DIRECTIONS = {
    "read": Direction.READ,
    "randread": Direction.READ,
    "write": Direction.WRITE,
    "randwrite": Direction.WRITE,
}
ENGINES = {"iouring": "io_uring"}
"""fio's own spelling of the engines that file names shorten."""

STATED_SECONDS = 1000
"""A grid states rates, not totals: they are kept as totals over so long that rounding to whole operations is lost in them."""


@dataclass(frozen=True)
class GridName:
    """What the name of a grid file tells."""

    block_size_bytes: int
    filesystem: str
    ioengine: str
    machine: str
    nodes: int

    @property
    def target(self) -> str:
        """Block size and engine are axes of the cells; the rest says what was measured."""
        return f"{self.filesystem} on {self.nodes} x {self.machine}"


@dataclass(frozen=True)
class GridLoad:
    """The three keys that lead to a cell."""

    test: str
    iodepth: int
    numjobs: int


def recognise(source: Source) -> bool:
    """By a key that nothing else writes."""
    return MARK in source.text


def read(source: Source) -> Iterable[StepRecord]:
    """One record a cell, in the order of rising load."""
    name = _parse_name(source.path)
    return [
        replace(_record(name, load, cell, str(source.path)), ordinal=ordinal)
        for ordinal, (load, cell) in enumerate(_cells(source.fields))
    ]


def _parse_name(path: Path) -> GridName:
    found = NAME.fullmatch(path.name.split(".")[0])
    if not found:
        raise FormatError(
            "it is a grid, but its name does not tell block size and engine; "
            "call it BLOCKSIZE_FILESYSTEM_ENGINE_MACHINE_NODES.json, e.g. 4k_ssd_xfs_libaio_xl170_1.json"
        )
    block, filesystem, engine, machine, nodes = found.groups()
    return GridName(size_of(block) or 0, filesystem, ENGINES.get(engine, engine), machine, int(nodes))


def _cells(grid: Fields) -> Iterator[tuple[GridLoad, Fields]]:
    """In the order of rising load."""
    for test in grid.values:
        if test not in DIRECTIONS:
            raise FormatError(f"{shown(test)} is not a test of a grid ({', '.join(DIRECTIONS)})")
        by_iodepth = grid.section(test)
        for iodepth in sorted(by_iodepth.values, key=lambda key: _load(by_iodepth, key)):
            by_numjobs = by_iodepth.section(iodepth)
            for numjobs in sorted(by_numjobs.values, key=lambda key: _load(by_numjobs, key)):
                yield GridLoad(test, int(iodepth), int(numjobs)), by_numjobs.section(numjobs)


def _load(level: Fields, key: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,8}", key, re.ASCII):
        raise FormatError(f"{level.path} has an entry {shown(key)}, but its keys are an iodepth or numjobs")
    return int(key)


def _record(name: GridName, load: GridLoad, cell: Fields, where: str) -> StepRecord:
    moved_bytes = round(cell.number("bandwidth_gb") * 1024**3 * STATED_SECONDS)
    if moved_bytes > LARGEST_INTEGER:
        raise FormatError(
            f"{cell.place('bandwidth_gb')} is {shown(cell.values['bandwidth_gb'])}, beyond any device"
        )
    operations = round(cell.number("iops") * STATED_SECONDS)
    return StepRecord(
        ordinal=0,
        kind=StepKind.CELL,
        experiment=name.target,
        cell={
            "rw": load.test,
            "block_size": name.block_size_bytes,
            "iodepth": load.iodepth,
            "numjobs": load.numjobs,
            "ioengine": name.ioengine,
            "target": name.target,  # a setting like any other: cells of two systems are never alike
        },
        repeat=0,
        status=Status.FINISHED,
        measurements=(
            Measurement(
                host="local",
                job=0,
                direction=DIRECTIONS[load.test],
                operations=operations,
                size_bytes=moved_bytes,
                runtime_ns=STATED_SECONDS * 1_000_000_000,
                latency=_latency(cell, operations),
            ),
        ),
        facts={
            "imported": True,
            "stated_rates_only": True,
            "source": where,
            "filesystem": name.filesystem,
            "machine": name.machine,
            "nodes": name.nodes,
        },
    )


def _latency(cell: Fields, operations: int) -> Latency:
    percentiles = cell.section("percentiles")
    stated = {
        fraction_name(float(key[1:])): percentiles.number(key) * 1000
        for key in percentiles.values
        if re.fullmatch(r"p\d\d(\.\d{1,6})?", key, re.ASCII)
    }
    return Latency(count=operations, mean_ns=cell.number("latency_us") * 1000, stated_percentiles_ns=stated)
