"""Two measured probes of each test -> all its other cells, foretold once more, before they are measured.

Where the probes do not tell enough, nothing is foretold of that test and a note says why: no figure rather than a wrong one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from leadline.analyse.prediction.actuals import check_depth
from leadline.analyse.prediction.baselines import Baselines
from leadline.analyse.prediction.calibration import fit, measured, reached
from leadline.analyse.prediction.forecasts import Forecaster
from leadline.analyse.prediction.foretell import Planned
from leadline.analyse.prediction.held import load_in, parts_under
from leadline.analyse.prediction.notes import notes_on_probes
from leadline.analyse.prediction.paths import Parts
from leadline.analyse.prediction.predictions import Forecast
from leadline.analyse.prediction.probing import beside_load, test_of, tests_of
from leadline.analyse.prediction.stations import Correction
from leadline.analyse.prediction.workload import Load, in_flight
from leadline.analyse.results import CellResult, VerdictName
from leadline.analyse.wording import settings
from leadline.spec.campaign_cluster import CampaignCluster
from leadline.store.prediction import ProbedTest, Recalibrated, StoredCalibration
from leadline.store.records import Cell

NO_MEASUREMENT = {
    VerdictName.IMPOSSIBLE,
    VerdictName.INCOMPLETE,
    VerdictName.NOT_OVERLAPPING,
    VerdictName.SHORT_WINDOW,
}
"""A probe whose rate has one of these does not say what its test does at that load."""
Probe = tuple[Planned, CellResult | None]
"""None where it was not measured, or failed."""


def foretell_again(
    cluster: CampaignCluster,
    baselines: Baselines,
    planned: Sequence[Planned],
    probes: Sequence[Probe],
    made_unix_ns: int,
) -> StoredCalibration:
    """Every cell of the tests that have probes, but for the probes; raises UserError where baselines are missing."""
    Parts(cluster, baselines).check()
    found = []
    for test, alike in tests_of(planned).items():
        own = {_load(cell): (cell, result) for (name, cell), result in probes if test_of(name, cell) == test}
        if own:
            found.append(_Test(cluster, baselines, test[0], own).foretold([cell for _, cell in alike]))
    return StoredCalibration(
        cluster=cluster.name,
        made_unix_ns=made_unix_ns,
        tests=tuple(each.told for each in found if each.told),
        cells=tuple(cell for each in found for cell in each.cells),
        notes=tuple(note for each in found for note in each.notes),
    )


@dataclass(frozen=True)
class _Found:
    """Of one test."""

    notes: tuple[str, ...]
    told: ProbedTest | None = None
    cells: tuple[Recalibrated, ...] = ()


@dataclass(frozen=True)
class _Test:
    """One test with its probes."""

    cluster: CampaignCluster
    baselines: Baselines
    experiment: str
    probes: Mapping[Load, tuple[Cell, CellResult | None]]
    _forecasters: dict[float | None, Forecaster] = field(default_factory=dict)

    def foretold(self, cells: Sequence[Cell]) -> _Found:
        """Its other cells, or a note why not."""
        done = {load: _forecast(result) for load, (_, result) in self.probes.items()}
        actuals = {load: actual for load, actual in done.items() if actual is not None}
        if len(actuals) < 2:
            return _Found((f"{self._name}: a probe gave no figure that holds, so nothing is calibrated.",))
        checked, depth = check_depth(self.cluster, actuals)
        notes = (f"{self._name}: {depth}",) if depth else ()
        light, heavy = sorted(actuals, key=lambda load: in_flight(load, checked))
        if in_flight(light, checked) == in_flight(heavy, checked):
            alike = "both probes keep as many requests in flight, so nothing is calibrated on them."
            return _Found((*notes, f"{self._name}: {alike}"))
        known = replace(self, cluster=self.cluster.model_copy(update={"iodepth": checked.iodepth}))
        return known.calibrated(cells, actuals, (light, heavy), notes)

    def calibrated(
        self,
        cells: Sequence[Cell],
        actuals: Mapping[Load, Forecast],
        probes: tuple[Load, Load],
        notes: tuple[str, ...],
    ) -> _Found:
        """From the lighter and the heavier probe."""
        light, heavy = (self.probes[load][0] for load in probes)
        ends = [
            measured(self._forecaster(cell), load, actuals[load].iops)
            for cell, load in zip((light, heavy), probes, strict=True)
        ]
        correction = fit(*ends)
        met = [self._again(cell, correction).iops for cell in (light, heavy)]
        off = max(abs(found / actuals[load].iops - 1) for found, load in zip(met, probes, strict=True))
        return _Found(
            notes=(*notes, *notes_on_probes(self._name, reached(ends[1]), off)),
            told=ProbedTest(self.experiment, dict(light), dict(heavy), **asdict(correction)),
            cells=tuple(self._again(cell, correction) for cell in cells if cell not in (light, heavy)),
        )

    def _again(self, cell: Cell, correction: Correction) -> Recalibrated:
        found = self._forecaster(cell).queueing(_load(cell), correction)
        return Recalibrated(self.experiment, dict(cell), found.iops, found.mean_ns)

    def _forecaster(self, cell: Cell) -> Forecaster:
        """Of cells that differ by load alone, only what the servers' cores pass on can differ."""
        parts = parts_under(self.cluster, self.baselines, cell, _load(cell))
        return self._forecasters.setdefault(parts.cluster.server_iops, Forecaster(parts))

    @property
    def _name(self) -> str:
        cell, _ = next(iter(self.probes.values()))
        return f"{cell['rw']}, {settings(beside_load(cell))}"


def _load(cell: Cell) -> Load:
    """Of a cell that was chosen as one that has a load."""
    load = load_in(cell)
    assert load is not None
    return load


def _forecast(result: CellResult | None) -> Forecast | None:
    """None where the probe was not measured, or did not measure its test."""
    if result is None or any(verdict.name in NO_MEASUREMENT for verdict in result.spoiled("iops")):
        return None
    rate, mean = result.metrics.get("iops"), result.metrics.get("mean")
    if rate is None or mean is None or rate.value <= 0 or mean.value <= 0:
        return None
    return Forecast(rate.value, mean.value)
