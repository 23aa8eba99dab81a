"""Which simulated points make a line, which lines share a picture, and what binds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leadline.analyse.prediction.stations import Resource
from leadline.analyse.simulation.curves import pictures
from leadline.analyse.simulation.findings import Finding
from leadline.analyse.simulation.scenarios import Scenario
from leadline.report.figures.simulation_figure import NOTHING, SHAPES, throughput_figure

from .cluster_files import scenarios

CALM = {"storage_disk": (0.4, 0.5), "client_nic_in": (0.2, 0.2)}


def finding(
    scenario: Scenario, uses: Mapping[str, tuple[float, float]] = CALM, rate: float = 1000.0
) -> Finding:
    resources = [
        {"name": name, "count": 4, "mean_utilisation": mean, "highest_utilisation": highest, "carried": 1}
        for name, (mean, highest) in uses.items()
    ]
    outcome: dict[str, Any] = {
        "bytes_per_second": rate * 2**20,
        "operations_per_second": rate,
        "operations": 10_000,
        "failed_operations": 0,
        "first_half_share": 0.5,
        "latency": {"mean_ns": 1e6, "bins": [[1_000_000, 99], [5_000_000, 1]]},
        "resources": resources,
    }
    return Finding(scenario, outcome)


def drawn(simulation: Mapping[str, Any]) -> list[tuple[str, str, list[str]]]:
    found = pictures([finding(scenario) for scenario in scenarios(simulation)])
    return [(each.axis, each.title, [curve.label for curve in each.curves]) for each in found]


def test_each_axis_of_numbers_has_a_picture_and_the_other_makes_the_lines() -> None:
    assert drawn({"storage_nodes": [5, 10], "iodepth": [1, 8, 64]}) == [
        ("storage_nodes", "", ["iodepth 1", "iodepth 8", "iodepth 64"]),
        ("iodepth", "", ["5 nodes", "10 nodes"]),
    ]


def test_tests_have_pictures_of_their_own() -> None:
    found = drawn({"rw": ["read", "write"], "iodepth": [1, 8]})
    assert [title for _, title, _ in found] == ["read", "write"]


def test_trouble_stands_beside_what_is_healthy_in_the_same_colour() -> None:
    [picture] = pictures([finding(each) for each in scenarios({"iodepth": [1, 8], "stragglers": [0, 1]})])
    healthy, slow = picture.curves
    assert (healthy.label, healthy.trouble) == ("healthy", "healthy")
    assert (slow.label, slow.trouble) == ("1 straggler", "straggler")
    assert healthy.style == slow.style


def test_where_nothing_varies_nothing_is_drawn_and_trouble_alone_is_an_axis() -> None:
    assert drawn({}) == []
    assert drawn({"failed_nodes": [0, 1, 2]}) == [("failed_nodes", "", [""])]


def test_the_shape_of_a_mark_is_the_part_that_binds() -> None:
    full, alone = {"storage_disk": (0.97, 1.0)}, {"storage_disk": (0.2, 0.99)}
    uses = (CALM, full, alone)
    points = [
        finding(scenario, use, rate)
        for scenario, use, rate in zip(scenarios({"iodepth": [1, 8, 64]}), uses, (100, 700, 900), strict=True)
    ]
    assert [(point.bound.kind, point.bound.how) for point in points] == [
        (Resource.DISK, "none"), (Resource.DISK, "all"), (Resource.DISK, "one"),
    ]  # fmt: skip
    [line] = throughput_figure(pictures(points)[0]).lines
    assert [(mark.shape, mark.hollow) for mark in line.marks] == [
        (NOTHING, False), (SHAPES[Resource.DISK], False), (SHAPES[Resource.DISK], True),
    ]  # fmt: skip
    places = [(mark.x, mark.y) for mark in line.marks]
    assert [x for x, _ in places] == sorted(x for x, _ in places)
    assert [y for _, y in places] == sorted((y for _, y in places), reverse=True)  # more is higher up
    assert "iodepth 8: 700 MiB/s, mean 1.00 ms; disks 97%" in line.marks[1].words
