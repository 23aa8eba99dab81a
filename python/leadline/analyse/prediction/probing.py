"""Which two cells of each test of a campaign are its probes.

A test here is cells that differ by load alone: one experiment, under one set of all other settings and conditions. What
probes told of one is used for no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from leadline.analyse.prediction.baselines import Baselines
from leadline.analyse.prediction.calibration import choose_probes
from leadline.analyse.prediction.forecasts import Forecaster
from leadline.analyse.prediction.foretell import Planned
from leadline.analyse.prediction.held import load_in, parts_under
from leadline.analyse.prediction.workload import Load
from leadline.spec.campaign_cluster import CampaignCluster
from leadline.store.records import Cell

LOAD_AXES = ("iodepth", "numjobs", "clients", "nrfiles")
FEWEST = 3
"""Cells of a test: with fewer, nothing is left to foretell from two probes."""
Test = tuple[str, frozenset[tuple[str, object]]]


def choose_among(
    cluster: CampaignCluster, baselines: Baselines, planned: Iterable[Planned]
) -> Iterator[Planned]:
    """The light and the heavy probe of each test that has some; raises UserError where a baseline is missing."""
    for alike in tests_of(planned).values():
        by_load = _by_load(alike)
        if len(alike) >= FEWEST:
            load, (_, cell) = next(iter(by_load.items()))
            forecaster = Forecaster(parts_under(cluster, baselines, cell, load))
            for probe in choose_probes(forecaster, list(by_load)) or ():
                yield by_load[probe]


def tests_of(planned: Iterable[Planned]) -> dict[Test, list[Planned]]:
    """Cells that can be foretold, by what they share."""
    found: dict[Test, list[Planned]] = {}
    for experiment, cell in planned:
        if load_in(cell) is not None:
            found.setdefault(test_of(experiment, cell), []).append((experiment, cell))
    return found


def test_of(experiment: str, cell: Cell) -> Test:
    """What a cell shares with those of other loads."""
    return experiment, frozenset(beside_load(cell).items())


def beside_load(cell: Cell) -> Cell:
    """All other settings."""
    return {name: value for name, value in cell.items() if name not in LOAD_AXES}


def _by_load(alike: Iterable[Planned]) -> dict[Load, Planned]:
    """Of cells that load alike, the first."""
    found: dict[Load, Planned] = {}
    for experiment, cell in alike:
        load = load_in(cell)
        if load is not None:
            found.setdefault(load, (experiment, cell))
    return found
