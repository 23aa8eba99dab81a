"""Scenarios whose truth is known: only what a throttle really held back is counted, reads and writes of one target apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from leadline.analyse.analysis import analyse
from leadline.analyse.bottleneck import Bound
from leadline.analyse.confusion import Scenario, scenarios
from leadline.analyse.prediction.beside import Beside, Foretelling
from leadline.analyse.results import CellResult, Results
from leadline.store.prediction import Foretold
from leadline.store.records import Direction

from .samples import ENVIRONMENT, manifest, measurement, record

CELL: dict[str, Any] = {"block_size": 65_536, "iodepth": 8, "numjobs": 1}
LINK = {"link": 125e6}


def found(free: float, held: float, test: str = "randwrite") -> Scenario:
    """One cell behind a link, and the same load with nothing held back."""
    direction = Direction.WRITE if "write" in test else Direction.READ
    steps = [
        record(
            measurement(rate, direction=direction),
            ordinal=number,
            cell={"rw": test, **CELL, **own},
            facts={"site_conditions": own},
        )
        for number, (rate, own) in enumerate([(free, {}), (held, LINK)])
    ]
    results = analyse(steps, manifest(), ENVIRONMENT)
    (scenario,) = scenarios(foretold(results, next(cell for cell in results.cells if "link" in cell.cell)))
    return scenario


def foretold(results: Results, cell: CellResult) -> Results:
    said = Foretold(
        cell.experiment, dict(cell.cell), 65_536, {"queueing": 3_000.0}, {"queueing": 1.0}, "client NIC", {}, 0.0, 0.0
    )  # fmt: skip
    return replace(results, predictions=(Foretelling("farm", ("disk",), 0, True, (), (Beside(said, cell),)),))


@pytest.mark.parametrize("test", ["randread", "randwrite"])
def test_reads_and_writes_behind_one_throttle_are_two_scenarios(test: str) -> None:
    scenario = found(20_000, 2_000, test)
    assert scenario.test == test and scenario.truth is Bound.NETWORK and scenario.by_model is Bound.NETWORK
    assert scenario.over_actual == pytest.approx(1.5)


def test_a_throttle_that_leaves_nearly_all_of_the_free_rate_has_not_bitten() -> None:
    assert found(20_000, 2_000).bites is True
    assert found(20_000, 18_000).bites is False
