"""Actual beside predicted: what a run foretold of its cells, and what came.

Only what was stored before its cells were measured is a prediction; anything else is said to be none and is not scored.
What was calibrated on probes is held to the same, for the cells that are no probes (gathered.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from leadline.analyse.prediction.predictions import Score
from leadline.store.prediction import Foretold, ProbedTest

if TYPE_CHECKING:
    from leadline.analyse.results import CellResult

MODEL, PROBED = "queueing", "calibrated"
"""The one that is shown, and the one that has seen two probes; their rivals stand beside them in the medians."""


@dataclass(frozen=True)
class Beside:
    """One cell."""

    foretold: Foretold
    """Also by the calibrated model, where two probes told enough and the cell is none of them."""
    actual: CellResult | None
    """None where it was not measured, or failed."""
    is_probe: bool = False

    @property
    def predicted_bytes_per_second(self) -> float:
        """Throughput."""
        return self.foretold.iops[MODEL] * self.foretold.block_size

    @property
    def predicted_mean_ns(self) -> float:
        """Latency."""
        return self.foretold.mean_ns[MODEL]

    @property
    def probed_bytes_per_second(self) -> float | None:
        """Throughput, with two probes; None where there is no such prediction."""
        rate = self.foretold.iops.get(PROBED)
        return rate * self.foretold.block_size if rate is not None else None

    @property
    def probed_mean_ns(self) -> float | None:
        """Latency, with two probes."""
        return self.foretold.mean_ns.get(PROBED)

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
        return self.over_actual_by(MODEL)

    def over_actual_by(self, model: str) -> float | None:
        """The same of any model; None where it foretold nothing or nothing came."""
        rate = self.foretold.iops.get(model)
        return rate / self.actual_iops if rate is not None and self.actual_iops else None

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
    tests: tuple[ProbedTest, ...] = ()
    """What two probes of each told."""
    probe_notes: tuple[str, ...] = ()
    """What to know of that, and why others told nothing."""
    scores: tuple[Score, ...] = ()
    """Every model, for reads and writes apart, throughput and latency; empty where it is no prediction."""

    def median_error(self, of: str = "actual", model: str = MODEL, where: str | None = None) -> float | None:
        """Median of |predicted / actual - 1| of a model's throughput, or of |actual / predicted - 1|; None where nothing was measured.

        `where` takes only the cells that this other model foretold, too.
        """
        ratios = [
            ratio
            for each in self.cells
            if (ratio := each.over_actual_by(model)) is not None
            and (where is None or where in each.foretold.iops)
        ]
        errors = [abs(ratio - 1) if of == "actual" else abs(1 / ratio - 1) for ratio in ratios]
        return median(errors) if errors else None

    @property
    def probed(self) -> int:
        """Measured cells that the calibrated model foretold."""
        return sum(each.over_actual_by(PROBED) is not None for each in self.cells)
