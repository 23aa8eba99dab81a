"""An experiment on an object store multiplied out: its cells, what lies in the store meanwhile, and how long it may take."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from leadline.errors import UserError
from leadline.plan.assumptions import ASSUMED_BYTES_PER_SECOND, STEP_OVERHEAD_SECONDS
from leadline.plan.scaling import Scaling
from leadline.plan.sites import Stand
from leadline.spec.objects import ALWAYS_MADE, IN_PARTS, OPERATIONS, ObjectExperiment
from leadline.store.records import Cell, Scalar

CHECKS: Cell = {"checks": True}
"""The cell of the functional checks, which are made once on each site."""
BIG_CHECK_BYTES = 256 << 20
"""The large object of the checks."""
CHECKS_SECONDS = 10.0
"""For forecasting only."""
LONGEST_CHECKS_SECONDS = 16 * 60.0
ASSUMED_REQUESTS_PER_SECOND = 500.0
"""Of one request in flight, for forecasting only."""
SLOWEST_BYTES_PER_SECOND = 1 << 20
SLOWEST_REQUESTS_PER_SECOND = 2
MARGIN_SECONDS = 120.0


def is_of_checks(cell: Cell) -> bool:
    """Whether it asks what a store can do, and for no rate."""
    return bool(cell.get("checks"))


def expand_objects(
    experiment: ObjectExperiment, scaling: Scaling, stand: Stand
) -> Iterator[dict[str, Scalar]]:
    """Every cell, in the order in which the axes are listed; combinations that cannot be are left out.

    Raises UserError where none is left, and for parts where objects are files.
    """
    if experiment.part_size is not None and any(experiment.part_size) and stand.site.directory:
        raise UserError(
            f'experiment "{experiment.name}" has `part_size`, and objects in the directory {stand.site.directory} are files, which have '
            "no parts; take it out there"
        )
    if experiment.checks:
        yield dict(CHECKS)
    cells = [cell for cell in map(dict, _combinations(experiment)) if _can_be(cell)]
    if not cells:
        raise UserError(
            f'experiment "{experiment.name}" has no cell that can be: a `part_size` must be below its `object_size`, and `instances` must '
            "divide its `concurrency`"
        )
    objects = _scaled(experiment, scaling)
    yield from ({**cell, "objects": objects} for cell in cells)


def _combinations(experiment: ObjectExperiment) -> Iterator[dict[str, Scalar]]:
    axes = (
        experiment.object_size, experiment.part_size or (None,), experiment.concurrency,
        experiment.instances or (None,), experiment.clients or (None,),
    )  # fmt: skip
    for object_size, part_size, concurrency, instances, clients in product(*axes):
        cell: dict[str, Scalar | None] = {
            "object_size": object_size, "objects": experiment.objects, "part_size": part_size, "concurrency": concurrency,
            "instances": instances, "clients": clients, "window": experiment.runtime, "retries": experiment.retries or None,
        }  # fmt: skip
        made = operations_made(experiment.operations, part_size is not None)
        if made != operations_made(OPERATIONS, part_size is not None):
            cell["operations"] = ",".join(made)
        yield {name: value for name, value in cell.items() if value is not None}


def operations_made(asked: tuple[str, ...], in_parts: bool) -> tuple[str, ...]:
    """In the order of an object's life: what is asked for, and what makes objects and removes them."""
    known = IN_PARTS if in_parts else OPERATIONS
    return tuple(name for name in known if name in asked or name in ALWAYS_MADE)


def operations_of(cell: Cell) -> tuple[str, ...]:
    """Of a cell."""
    asked = tuple(str(cell["operations"]).split(",")) if "operations" in cell else OPERATIONS
    return operations_made(asked, "part_size" in cell)


def _can_be(cell: Cell) -> bool:
    parted = int(cell.get("part_size", 0)) < int(cell["object_size"])
    return parted and not int(cell["concurrency"]) % int(cell.get("instances", 1))


def _scaled(experiment: ObjectExperiment, scaling: Scaling) -> int:
    """Fewer objects, of the same size, and never fewer than are in flight at most: all cells have the same."""
    objects = experiment.objects
    fewer = max(int(objects * scaling.scale), *experiment.concurrency) if scaling.scale != 1 else objects
    scaling.note("objects", f"{objects:,}", f"{fewer:,}")
    return fewer


def dataset_bytes(cell: Cell) -> int:
    """What lies in the store at most."""
    if is_of_checks(cell):
        return BIG_CHECK_BYTES
    return int(cell["object_size"]) * int(cell["objects"]) * int(cell.get("clients", 1))


def expected_seconds(cell: Cell) -> float:
    """Of one step."""
    if is_of_checks(cell):
        return CHECKS_SECONDS
    kinds = operations_of(cell)
    requests = int(cell["objects"]) / ASSUMED_REQUESTS_PER_SECOND / int(cell["concurrency"])
    moved = dataset_bytes(cell) / ASSUMED_BYTES_PER_SECOND
    once = moved + requests
    if "window" not in cell:
        return len(kinds) * requests + (1 + ("get" in kinds)) * moved + STEP_OVERHEAD_SECONDS
    return (len(kinds) - 1) * float(cell["window"]) + once + STEP_OVERHEAD_SECONDS


def longest_seconds(cell: Cell) -> float:
    """After which a step is given up: a store at the pace of a slow modem line is not measured."""
    if is_of_checks(cell):
        return LONGEST_CHECKS_SECONDS + MARGIN_SECONDS
    moved = 2 * dataset_bytes(cell) / SLOWEST_BYTES_PER_SECOND
    requests = 5 * int(cell["objects"]) / SLOWEST_REQUESTS_PER_SECOND
    return MARGIN_SECONDS + moved + requests + 4 * float(cell.get("window", 0))
