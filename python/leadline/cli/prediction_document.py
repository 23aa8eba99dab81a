"""A prediction as JSON: everything that the tables show and what they leave out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from leadline.analyse.prediction.predictions import Forecast, PredictedCell, Prediction
from leadline.analyse.prediction.reality import RealityCheck


def as_json(prediction: Prediction) -> dict[str, Any]:
    """Rates per second, latencies in nanoseconds, bandwidths in bytes per second, shares 0..1."""
    return {
        "cluster": prediction.cluster,
        "notes": list(prediction.notes),
        "probes": [
            {"test": test, "block_size": block, "light": asdict(light), "heavy": asdict(heavy)}
            for (test, block), (light, heavy) in prediction.probes.items()
        ],
        "calibrations": [
            {
                "test": test,
                "block_size": block,
                **asdict(calibration.correction),
                "probes": [asdict(load) for load in calibration.probes],
            }
            for (test, block), calibration in prediction.calibrations.items()
        ],
        "scores": [asdict(score) for score in prediction.scores],
        "cells": [_cell(cell) for cell in prediction.cells],
    }


def reality_as_json(checks: Sequence[RealityCheck]) -> list[dict[str, Any]]:
    """As they were printed, in bytes per second, and as shares 0..1."""
    return [
        {
            **asdict(check),
            "network_share": check.network_share,
            "sequential_share": check.sequential_share,
            "random_share": check.random_share,
        }
        for check in checks
    ]


def _cell(cell: PredictedCell) -> dict[str, Any]:
    return {
        **asdict(cell.load),
        "in_flight": cell.in_flight,
        "binding": cell.binding,
        "network_share": cell.network_share,
        "disk_share": cell.disk_share,
        "shares": dict(cell.shares),
        "is_probe": cell.is_probe,
        "predicted": {name: _forecast(each, cell) for name, each in cell.forecasts.items()},
        "actual": _forecast(cell.actual, cell) if cell.actual else None,
    }


def _forecast(forecast: Forecast, cell: PredictedCell) -> dict[str, float]:
    return {
        "iops": forecast.iops,
        "bandwidth_bytes_per_second": forecast.iops * cell.load.block_size,
        "mean_latency_ns": forecast.mean_ns,
    }
