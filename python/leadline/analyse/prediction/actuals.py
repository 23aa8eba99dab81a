"""What was measured of a target, as predictions meet it: loads, what they did, and whether the client kept its depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from leadline.analyse.prediction.baselines import TESTS
from leadline.analyse.prediction.predictions import Forecast
from leadline.analyse.prediction.workload import Load
from leadline.analyse.results import CellResult
from leadline.errors import UserError, did_you_mean
from leadline.spec.cluster import Cluster
from leadline.spec.units import format_size

Actuals = Mapping[Load, Forecast]
ONE_AT_A_TIME = 1.5
"""Requests of each job: fewer in flight than this, and its iodepth is inert."""
KEPT = 0.8


def load_of(cell: CellResult) -> Load | None:
    """None where it is no cell of data that goes one way, as fast as it can."""
    settings = {name: value for name, value in cell.cell.items() if isinstance(value, int)}
    if cell.test not in TESTS or "block_size" not in settings or "rate" in cell.cell:
        return None
    return Load(
        test=cell.test,
        block_size=settings["block_size"],
        iodepth=settings.get("iodepth", 1),
        numjobs=settings.get("numjobs", 1),
        clients=settings.get("clients", 1),
        files=settings.get("nrfiles", 1),
    )


def loads_of(cells: Sequence[CellResult], clients: int) -> list[Load]:
    """The loads of a baseline, for a target that was not measured: in the order of the cells."""
    loads = (load_of(cell) for cell in cells)
    return list(dict.fromkeys(replace(load, clients=clients) for load in loads if load is not None))


def of_target(cells: Sequence[CellResult], name: str | None) -> list[CellResult]:
    """The cells of one target, and by one ioengine; raises UserError where it is not said which."""
    names = sorted({_target(cell) for cell in cells if load_of(cell) is not None})
    if name is not None and name not in names:
        raise UserError(
            f'there is no target "{name}" to predict{did_you_mean(name, names)} (there are: {", ".join(names)})'
        )
    if name is None and len(names) > 1:
        raise UserError(
            f"there are several targets to predict against, {', '.join(names)}; choose one with --target"
        )
    return [cell for cell in cells if name is None or _target(cell) == name]


def _target(cell: CellResult) -> str:
    return str(cell.cell.get("target", cell.experiment))


def read_actuals(cells: Sequence[CellResult]) -> tuple[dict[Load, Forecast], int]:
    """What was measured, by load, and how many cells could not be used; raises UserError where none can."""
    found: dict[Load, Forecast] = {}
    passed_over = 0
    for cell in cells:
        load, rate, mean = load_of(cell), cell.metrics.get("iops"), cell.metrics.get("mean")
        if load is None or rate is None or mean is None or rate.value <= 0 or mean.value <= 0:
            passed_over += 1
        elif load in found:
            raise UserError(
                f"two cells of the target have the same load ({load.test} {format_size(load.block_size)}, iodepth "
                f"{load.iodepth}, {load.numjobs} jobs) and differ otherwise; predict against one of them at a time"
            )
        else:
            found[load] = Forecast(rate.value, mean.value)
    if not found:
        raise UserError(
            "there is nothing to hold the prediction against: no cell there reads or writes blocks of one size; "
            "give a run or grid of fio on the target with --against"
        )
    return found, passed_over


def check_depth(cluster: Cluster, actuals: Actuals) -> tuple[Cluster, str | None]:
    """Little's law on the deepest cell with the fewest jobs: does the client keep its iodepth? What the file says wins."""
    probe = max(actuals, key=lambda load: (load.iodepth, -load.numjobs, -load.clients))
    if "iodepth" in cluster.model_fields_set or probe.iodepth < 2:
        return cluster, None
    jobs = probe.numjobs * probe.clients
    kept = actuals[probe].iops * actuals[probe].mean_ns / 1e9
    found = (
        f"Little's law on one probe ({probe.test} {format_size(probe.block_size)}, iodepth {probe.iodepth} x "
        f"{probe.numjobs} jobs): {kept:.3g} of {probe.iodepth * jobs} requests are in flight"
    )
    if kept < ONE_AT_A_TIME * jobs:
        return cluster.model_copy(update={"iodepth": "inert"}), f"{found}: iodepth is inert, only jobs count."
    if kept < KEPT * probe.iodepth * jobs:
        return cluster, f"{found}: iodepth is kept in part only, which no model here knows; expect too much."
    return cluster, f"{found}: iodepth is kept."
