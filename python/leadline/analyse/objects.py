"""Cells on object stores: the same estimates and verdicts as for everything else, and what only requests to a store have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leadline.analyse.object_use import CPU_SECONDS, INSTANCES, LISTED, RETRIED
from leadline.analyse.results import CellResult, Curve
from leadline.store.records import Cell, Direction

READING_ORDER = (
    Direction.OBJECT_PUT,
    Direction.OBJECT_MULTIPART_PUT,
    Direction.OBJECT_GET,
    Direction.OBJECT_HEAD,
    Direction.OBJECT_LIST,
    Direction.OBJECT_DELETE,
)
LOAD = ("concurrency", "instances", "clients")
"""What differs between the cells of one table."""


@dataclass(frozen=True)
class ObjectCell:
    """One kind of request, for objects of one size, at one concurrency."""

    result: CellResult
    object_size_bytes: int
    part_size_bytes: int | None
    objects_per_second: float | None
    """Of listings the objects that they named."""
    cpu_seconds: float
    """Processor time of the client, over all repeats."""
    instances: int
    """Client instances, of one client."""
    retried: int

    @property
    def requests_per_cpu_second(self) -> float | None:
        """What a second of the client's processor is good for."""
        return self.result.operations / self.cpu_seconds if self.cpu_seconds > 0 else None


@dataclass(frozen=True)
class ObjectGroup:
    """Cells that differ in the kind of request and in the load only: one table, one picture."""

    run: str
    experiment: str
    settings: Cell
    """What they share."""
    cells: tuple[ObjectCell, ...]
    """By kind of request, then by load."""

    @property
    def directions(self) -> list[Direction]:
        """The kinds of requests, in the order in which they are read."""
        return list(dict.fromkeys(cell.result.direction for cell in self.cells))


def object_cells(cells: Sequence[CellResult]) -> list[ObjectCell]:
    """Those of object stores in reading order: by size, kind of request and concurrency."""
    return sorted((_object_cell(cell) for cell in cells if cell.direction.is_of_objects), key=_place)


def object_groups(cells: Sequence[CellResult]) -> list[ObjectGroup]:
    """Site by site and size by size, in the order of the cells; nothing where no store was measured."""
    groups: dict[tuple[object, ...], list[CellResult]] = {}
    for cell in cells:
        if cell.direction.is_of_objects:
            shared = frozenset(_shared(cell.cell).items())
            groups.setdefault((cell.run, cell.experiment, shared), []).append(cell)
    return [
        ObjectGroup(
            members[0].run, members[0].experiment, _shared(members[0].cell), tuple(object_cells(members))
        )
        for members in groups.values()
    ]


def best_of(group: ObjectGroup, direction: Direction) -> ObjectCell | None:
    """The valid cell with most throughput, else the best doubtful one."""
    having = [
        cell for cell in group.cells if cell.result.direction is direction and cell.result.rate is not None
    ]
    valid = [cell for cell in having if cell.result.valid(cell.result.throughput_metric)]
    return max(valid or having, key=_throughput, default=None)


def curve_of(group: ObjectGroup, direction: Direction, curves: Sequence[Curve]) -> list[Curve]:
    """The lines over load of one kind of request."""
    own = {id(cell.result) for cell in group.cells if cell.result.direction is direction}
    return [curve for curve in curves if any(id(cell) in own for cell in curve.cells)]


def _throughput(cell: ObjectCell) -> float:
    return cell.result.rate.value if cell.result.rate else 0.0


def _shared(cell: Cell) -> Cell:
    return {name: value for name, value in cell.items() if name not in LOAD}


def _place(cell: ObjectCell) -> tuple[object, ...]:
    kind = READING_ORDER.index(cell.result.direction)
    load = (cell.result.concurrency, cell.instances)
    return cell.part_size_bytes or 0, cell.object_size_bytes, kind, load


def _object_cell(cell: CellResult) -> ObjectCell:
    used, rate, part = cell.resources, cell.metrics.get("iops"), cell.cell.get("part_size")
    of_listings = cell.direction is Direction.OBJECT_LIST and cell.operations
    each = used.get(LISTED, 0.0) / cell.operations if of_listings else 1.0
    return ObjectCell(
        result=cell,
        object_size_bytes=int(cell.cell["object_size"]),
        part_size_bytes=int(part) if part else None,
        objects_per_second=rate.value * each if rate else None,
        cpu_seconds=used.get(CPU_SECONDS, 0.0),
        instances=int(used.get(INSTANCES, 1)),
        retried=int(used.get(RETRIED, 0)),
    )
