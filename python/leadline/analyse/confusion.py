"""How often what binds is named right: cells of which one thing alone was held back, so that the truth is known.

A throttle that did not bite proves nothing: what it held must be well below what the same load reached with nothing held back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from leadline.analyse.bottleneck import Bound, Named, named_by_counters, named_by_model
from leadline.analyse.prediction.beside import Beside
from leadline.analyse.results import CellResult, Results
from leadline.store.records import Cell

HELD: Mapping[str, Bound] = {
    "link": Bound.NETWORK,
    "disk_read_bandwidth": Bound.DISK,
    "disk_write_bandwidth": Bound.DISK,
    "disk_read_iops": Bound.DISK,
    "disk_write_iops": Bound.DISK,
    "client_cores": Bound.CLIENT_CPU,
    "server_cores": Bound.SERVER_CPU,
}
TAKES_TIME = "disk_latency"
"""Whether such a disk binds depends on how much is in flight: nothing is known beforehand."""
BITES = 0.8
"""Of what came with nothing held back: above it a throttle has not shown that it binds."""


@dataclass(frozen=True)
class Scenario:
    """One cell whose truth is known."""

    name: str
    test: str
    truth: Bound
    bites: bool | None
    """Whether the throttle is below what the others allow; None where there is nothing to compare with."""
    counters: Named | None
    model: str
    """The part that the model expected to bind; empty where it foretold nothing."""
    over_actual: float | None
    """Predicted over actual throughput."""
    share_of_free: float | None

    @property
    def by_counters(self) -> Bound | None:
        """As counters name it."""
        return self.counters.bound if self.counters else None

    @property
    def by_model(self) -> Bound | None:
        """As the model named it beforehand."""
        return named_by_model(self.model) if self.model else None


def scenarios(results: Results) -> list[Scenario]:
    """Of every cell that was foretold and measured, and of which at most one thing was held back."""
    return [
        _scenario(each, results)
        for made in results.predictions
        if made.is_before
        for each in made.cells
        if each.actual is not None and truth_of(each.foretold.cell) is not None
    ]


def truth_of(cell: Cell) -> Bound | None:
    """None where several things were held back, or where disks take their time."""
    if TAKES_TIME in cell:
        return None
    held = [bound for name, bound in HELD.items() if name in cell]
    if not held:
        return Bound.LATENCY
    return held[0] if len(held) == 1 else None


def matrix(found: Sequence[tuple[Bound, Bound | None]]) -> dict[Bound, Counter[Bound | None]]:
    """Truth -> how often each was named; None: nothing was."""
    rows: dict[Bound, Counter[Bound | None]] = {bound: Counter() for bound in Bound}
    for truth, named in found:
        rows[truth][named] += 1
    return {truth: counts for truth, counts in rows.items() if counts}


def right_share(found: Sequence[tuple[Bound, Bound | None]]) -> float | None:
    """None where there is nothing to judge."""
    return sum(truth is named for truth, named in found) / len(found) if found else None


def _scenario(each: Beside, results: Results) -> Scenario:
    cell = each.actual
    assert cell is not None
    truth = truth_of(cell.cell)
    assert truth is not None
    free = max((rate for rate in _free_rates(cell, results)), default=None)
    share = each.actual_iops / free if free and each.actual_iops else None
    return Scenario(
        name=str(cell.cell.get("target", cell.experiment)),
        test=cell.test,
        truth=truth,
        bites=True if truth is Bound.LATENCY else (None if share is None else share <= BITES),
        counters=named_by_counters(cell, results),
        model=each.foretold.binding,
        over_actual=each.over_actual,
        share_of_free=share,
    )


def _free_rates(cell: CellResult, results: Results) -> Iterator[float]:
    """Of the same load on the same filesystem with nothing held back."""
    for other in results.cells:
        rate = other.metrics.get("iops")
        alike = all(other.cell.get(name) == value for name, value in _load(cell).items())
        if (
            rate
            and alike
            and _system(other, results) == _system(cell, results)
            and not {*HELD, TAKES_TIME} & set(other.cell)
        ):
            yield rate.value


def _load(cell: CellResult) -> dict[str, object]:
    names = ("rw", "block_size", "iodepth", "numjobs", "clients", "ioengine")
    return {name: cell.cell[name] for name in names if name in cell.cell}


def _system(cell: CellResult, results: Results) -> str:
    """The lab's name for what it stands on: labels differ from condition to condition."""
    wanted = cell.cell.get("target")
    for target in results.manifest.campaign.get("target", ()):
        if wanted in (target.get("label"), target.get("name")):
            return str(target.get("name"))
    return str(wanted)
