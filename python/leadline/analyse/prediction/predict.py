"""Baselines and a cluster -> a prediction; with a measured target, actual beside predicted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from leadline.analyse.prediction.actuals import Actuals, check_depth, read_actuals
from leadline.analyse.prediction.baselines import Baselines
from leadline.analyse.prediction.calibration import calibrate, choose_probes
from leadline.analyse.prediction.forecasts import Forecaster, network_share
from leadline.analyse.prediction.notes import notes_on, notes_on_calibrations
from leadline.analyse.prediction.paths import Parts
from leadline.analyse.prediction.predictions import Calibration, PredictedCell, Prediction
from leadline.analyse.prediction.scores import score
from leadline.analyse.prediction.stations import Resource
from leadline.analyse.prediction.workload import Load, in_flight
from leadline.analyse.results import CellResult
from leadline.spec.cluster import Cluster

Surface = tuple[str, int]
"""Test and block size."""


def predict(cluster: Cluster, baselines: Baselines, loads: Sequence[Load]) -> Prediction:
    """Every load, before anything of the target is measured; raises UserError rather than guess."""
    parts = Parts(cluster, baselines)
    parts.check()
    forecaster = Forecaster(parts)
    cells = tuple(_cell(forecaster, load, {}, {}) for load in loads)
    probes = {
        surface: pair
        for surface, alike in _by_surface(loads).items()
        if (pair := choose_probes(forecaster, alike))
    }
    return Prediction(cluster.name, cells, probes, {}, (), tuple(notes_on(parts, cells)))


def predict_against(cluster: Cluster, baselines: Baselines, target: Sequence[CellResult]) -> Prediction:
    """The measured cells of a target, each foretold; two of each test calibrate the second prediction."""
    actuals, passed_over = read_actuals(target)
    parts = Parts(cluster, baselines)
    parts.check()
    cells: list[PredictedCell] = []
    calibrations: dict[Surface, Calibration] = {}
    notes = [f"{passed_over} cells go both ways or moved nothing: not predicted."] if passed_over else []
    for size in sorted({load.block_size for load in actuals}):
        alike = {load: actual for load, actual in actuals.items() if load.block_size == size}
        checked, found = check_depth(cluster, alike)
        forecaster = Forecaster(Parts(checked, baselines))
        calibrations |= dict(_calibrations(forecaster, alike))
        cells += [_cell(forecaster, load, alike, calibrations) for load in alike]
        notes += [found] if found else []
    probes = {surface: calibration.probes for surface, calibration in calibrations.items()}
    notes += [*notes_on_calibrations(calibrations), *notes_on(parts, cells)]
    return Prediction(cluster.name, tuple(cells), probes, calibrations, score(cells), tuple(notes))


def _by_surface(loads: Sequence[Load]) -> dict[Surface, list[Load]]:
    found: dict[Surface, list[Load]] = defaultdict(list)
    for load in loads:
        found[load.test, load.block_size].append(load)
    return found


def _calibrations(forecaster: Forecaster, actuals: Actuals) -> Iterator[tuple[Surface, Calibration]]:
    for surface, alike in _by_surface(list(actuals)).items():
        probes = choose_probes(forecaster, alike)
        if probes is not None:
            iops = actuals[probes[0]].iops, actuals[probes[1]].iops
            yield surface, calibrate(forecaster, probes, iops)


def _cell(
    forecaster: Forecaster, load: Load, actuals: Actuals, calibrations: Mapping[Surface, Calibration]
) -> PredictedCell:
    calibration = calibrations.get((load.test, load.block_size))
    forecasts = {
        "napkin": forecaster.napkin(load),
        "bounds": forecaster.bounds(load),
        "queueing": forecaster.queueing(load),
    }
    if calibration is not None:
        forecasts["calibrated"] = forecaster.queueing(load, calibration.correction)
    iops = forecasts["queueing"].iops
    shares = forecaster.shares(load, iops)
    return PredictedCell(
        load=load,
        in_flight=in_flight(load, forecaster.parts.cluster),
        forecasts=forecasts,
        binding=forecaster.binding(load),
        shares=shares,
        network_share=network_share(shares),
        disk_share=shares[Resource.DISK],
        actual=actuals.get(load),
        is_probe=calibration is not None and load in calibration.probes,
    )
