"""Runs and foreign results alike, as cells: what `leadline predict` takes baselines and targets from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from leadline.analyse.analysis import analyse
from leadline.analyse.prediction.actuals import loads_of, of_target
from leadline.analyse.prediction.baselines import read_baselines
from leadline.analyse.prediction.predict import predict, predict_against
from leadline.analyse.prediction.predictions import Prediction
from leadline.analyse.results import CellResult, Results
from leadline.cli.analysing import analysed
from leadline.errors import UserError
from leadline.importers import import_paths
from leadline.spec.load_cluster import load_cluster

MANIFEST = "manifest.json"


def foretell(
    baselines: Iterable[Path], cluster_file: Path, against: tuple[Path, ...], target: str | None
) -> Prediction:
    """From the paths that the user named; raises UserError."""
    cluster = load_cluster(cluster_file).cluster
    measured = cells_of(baselines)
    if against:
        return predict_against(cluster, read_baselines(measured), of_target(cells_of(against), target))
    if target is not None:
        raise UserError("--target chooses among what --against holds; give that too, or leave it out")
    return predict(cluster, read_baselines(measured), loads_of(measured, cluster.clients))


def cells_of(paths: Iterable[Path]) -> list[CellResult]:
    """The cells of several runs or importable files and trees; raises UserError."""
    return [cell for path in paths for cell in _results(path).cells]


def _results(path: Path) -> Results:
    if not path.exists():
        raise UserError(f"{path} does not exist; name a run or a file that `leadline import` reads")
    if (path / MANIFEST).is_file():
        return analysed(path)
    manifest, records = import_paths([path])
    return analyse(records, manifest, {})
