"""Actual beside predicted: what a run foretold of its cells, and what came.

Only what was stored before its cells were measured is a prediction; anything else is said to be none and is not scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from leadline.store.prediction import PREDICTION, Foretold, StoredPrediction
from leadline.store.records import Cell, StepKind, StepRecord

if TYPE_CHECKING:
    from leadline.analyse.results import CellResult

MODEL = "queueing"
"""The one that is shown; the others stand beside it in the document."""


@dataclass(frozen=True)
class Beside:
    """One cell."""

    foretold: Foretold
    actual: CellResult | None
    """None where it was not measured, or failed."""

    @property
    def predicted_bytes_per_second(self) -> float:
        """Throughput."""
        return self.foretold.iops[MODEL] * self.foretold.block_size

    @property
    def predicted_mean_ns(self) -> float:
        """Latency."""
        return self.foretold.mean_ns[MODEL]

    @property
    def actual_iops(self) -> float | None:
        """None where nothing was done."""
        rate = self.actual.metrics.get("iops") if self.actual else None
        return rate.value if rate is not None and rate.value > 0 else None

    @property
    def actual_mean_ns(self) -> float | None:
        """None where it is not known."""
        mean = self.actual.metrics.get("mean") if self.actual else None
        return mean.value if mean is not None and mean.value > 0 else None

    @property
    def over_actual(self) -> float | None:
        """Predicted over actual throughput."""
        return self.foretold.iops[MODEL] / self.actual_iops if self.actual_iops else None

    @property
    def relief(self) -> tuple[str, float, str] | None:
        """The part that binds, how many times what was measured twice of it would give at most, and what binds then."""
        if self.foretold.relief is None or not self.actual_iops:
            return None
        part, iops, then = self.foretold.relief
        return part, iops / self.actual_iops, then


@dataclass(frozen=True)
class Foretelling:
    """One cluster, foretold."""

    cluster: str
    baselines: tuple[str, ...]
    made_unix_ns: int
    is_before: bool
    """Whether it was stored before the first of its cells began."""
    notes: tuple[str, ...]
    cells: tuple[Beside, ...]

    def median_error(self, of: str = "actual") -> float | None:
        """Median of |predicted / actual - 1| of the throughput, or of |actual / predicted - 1|; None where nothing was measured."""
        ratios = [each.over_actual for each in self.cells if each.over_actual is not None]
        errors = [abs(ratio - 1) if of == "actual" else abs(1 / ratio - 1) for ratio in ratios]
        return median(errors) if errors else None


def gather_predictions(records: Sequence[StepRecord], cells: Sequence[CellResult]) -> tuple[Foretelling, ...]:
    """One for each prediction that the run holds, in the order in which they were made."""
    by_place = {(cell.experiment, _key(cell.cell)): cell for cell in cells}
    return tuple(
        _beside(stored, record, by_place, _first_of(stored, records))
        for record in records
        for stored in _stored(record)
    )


def _beside(
    stored: StoredPrediction,
    record: StepRecord,
    by_place: dict[tuple[str, frozenset[tuple[str, object]]], CellResult],
    first: StepRecord | None,
) -> Foretelling:
    ended_ns = record.started_unix_ns + record.wall_ns
    is_before = first is None or (record.ordinal < first.ordinal and ended_ns <= first.started_unix_ns)
    return Foretelling(
        cluster=stored.cluster,
        baselines=stored.baselines,
        made_unix_ns=stored.made_unix_ns,
        is_before=is_before,
        notes=stored.notes,
        cells=tuple(Beside(each, by_place.get((each.experiment, _key(each.cell)))) for each in stored.cells),
    )


def _stored(record: StepRecord) -> Iterator[StoredPrediction]:
    if record.kind is StepKind.PREDICTION and PREDICTION in record.documents:
        yield StoredPrediction.of_text(record.documents[PREDICTION])


def _first_of(stored: StoredPrediction, records: Iterable[StepRecord]) -> StepRecord | None:
    """The first measured cell that it foretells; also a failed one may have told something."""
    wanted = {(each.experiment, _key(each.cell)) for each in stored.cells}
    measured = (
        record
        for record in records
        if record.kind in (StepKind.CELL, StepKind.NOISE) and (record.experiment, _key(record.cell)) in wanted
    )
    return min(measured, key=lambda record: record.started_unix_ns, default=None)


def _key(cell: Cell) -> frozenset[tuple[str, object]]:
    return frozenset(cell.items())
