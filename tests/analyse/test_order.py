"""The order in which cells are read: targets as the campaign lists them, and where nobody lists them, 5 s before 30 s."""

from __future__ import annotations

from typing import Any

from leadline.analyse.analysis import analyse
from leadline.analyse.order import natural

from .samples import ENVIRONMENT, measurement, record
from .samples import manifest as manifest_of

TARGETS = ("30 s", "5 s", "100 s")


def order(campaign: dict[str, Any]) -> list[Any]:
    cell = {"rw": "randread", "block_size": 4096, "iodepth": 1, "numjobs": 1}
    steps = [
        record(measurement(), cell={**cell, "target": target}, ordinal=place)
        for place, target in enumerate(TARGETS)
    ]
    found = analyse(steps, manifest_of(campaign=campaign), ENVIRONMENT)
    assert [site.target for site in found.sites] == ["5 s", "30 s", "100 s"]
    return [cell.cell["target"] for cell in found.cells]


def test_numbers_in_names_are_read_as_numbers() -> None:
    assert order({}) == ["5 s", "30 s", "100 s"]
    assert sorted(["v10", "v9.5", "v9"], key=natural) == ["v9", "v9.5", "v10"]


def test_targets_come_as_the_campaign_lists_them() -> None:
    listed: list[dict[str, Any]] = [{"label": "100 s", "name": "nfs"}, {"name": "5 s"}, {"directory": "30 s"}]
    assert order({"target": listed}) == ["100 s", "5 s", "30 s"]
