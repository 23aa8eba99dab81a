"""Actual beside simulated, and beside what the queueing model says from the same parts: how far off is either?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from leadline.analyse.prediction.actuals import Actuals
from leadline.analyse.prediction.baselines import Baselines
from leadline.analyse.prediction.forecasts import Forecaster
from leadline.analyse.prediction.paths import Parts
from leadline.analyse.prediction.predictions import Forecast
from leadline.analyse.prediction.scores import METRICS, ratio
from leadline.analyse.prediction.workload import Load, in_flight, offered
from leadline.analyse.simulation.findings import Finding
from leadline.analyse.simulation.loads import MeasuredLoad

SIMULATED, MODELLED = "simulated", "queueing model"


@dataclass(frozen=True)
class BesideActual:
    """One measured cell."""

    load: Load
    in_flight: int
    said: Mapping[str, Forecast]
    """By SIMULATED, and by MODELLED where there is a baseline of a disk to reckon with."""
    actual: Forecast
    binding: str
    """Of the simulation."""
    doubts: tuple[str, ...] = ()

    def ratio(self, who: str, metric: str) -> float:
        """What was said over what was measured."""
        return ratio(self.said[who], self.actual, metric)


@dataclass(frozen=True)
class MedianError:
    """How far off one of them was, over the cells of one test."""

    test: str
    block_size: int
    metric: str
    """"throughput" or "latency"."""
    who: str
    cells: int
    over_actual: float
    """Median of |said / actual - 1|."""
    over_said: float
    """Median of |actual / said - 1|, which punishes what is too low."""
    tilt: float
    """Median of said / actual: above 1 is too high."""


def beside_actual(
    measured: Sequence[tuple[MeasuredLoad, Sequence[Finding]]], actuals: Actuals, known: Baselines
) -> list[BesideActual]:
    """In the order of the loads; findings are those of each load's scenarios. Without a baseline of a disk there is no model."""
    modelled = _modelled([each for each, _ in measured], known) if known.disks else {}
    return [_beside(each, findings, actuals, modelled) for each, findings in measured]


def _modelled(measured: Sequence[MeasuredLoad], known: Baselines) -> dict[Load, Forecast]:
    """What `leadline predict` says of the same loads; loads know their clients, so clusters differ in the depth they keep."""
    forecasters = {each.cluster.iodepth: Forecaster(Parts(each.cluster, known)) for each in measured}
    return {each.load: forecasters[each.cluster.iodepth].queueing(each.load) for each in measured}


def _beside(
    measured: MeasuredLoad, findings: Sequence[Finding], actuals: Actuals, modelled: Mapping[Load, Forecast]
) -> BesideActual:
    load = measured.load
    iops = fmean(finding.iops for finding in findings)
    said = {SIMULATED: Forecast.of(iops, offered(load, measured.cluster))}
    if load in modelled:
        said[MODELLED] = modelled[load]
    typical = min(findings, key=lambda finding: abs(finding.iops - iops))
    doubts = dict.fromkeys(doubt for finding in findings for doubt in finding.doubts)
    flying = in_flight(load, measured.cluster)
    return BesideActual(load, flying, said, actuals[load], typical.binding, tuple(doubts))


def median_errors(cells: Sequence[BesideActual]) -> list[MedianError]:
    """By test, block size and metric; both who say something of them."""
    by_test: dict[tuple[str, int], list[BesideActual]] = {}
    for cell in cells:
        by_test.setdefault((cell.load.test, cell.load.block_size), []).append(cell)
    return [error for (test, block), alike in by_test.items() for error in _errors(test, block, alike)]


def _errors(test: str, block: int, alike: Sequence[BesideActual]) -> Iterator[MedianError]:
    for metric in METRICS:
        for who in (SIMULATED, MODELLED):
            ratios = [cell.ratio(who, metric) for cell in alike if who in cell.said]
            if ratios:
                yield MedianError(
                    test, block, metric, who, len(ratios),
                    median(abs(each - 1) for each in ratios),
                    median(abs(1 / each - 1) for each in ratios),
                    median(ratios),
                )  # fmt: skip
