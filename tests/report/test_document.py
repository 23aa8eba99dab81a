"""`--json`: the keys that programs rely on."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from sample_results import empty, sample, single
from sample_targets import side_by_side

from leadline.analyse.results import Results
from leadline.report import as_json

SCHEMA = json.loads((Path(__file__).parent / "results.schema.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "results",
    [sample(depths=(1, 8)), side_by_side(), single(), empty()],
    ids=["whole", "several targets and clients", "single cell", "empty"],
)
def test_the_document_of_format_1_keeps_its_schema(results: Results) -> None:
    jsonschema.validate(json.loads(json.dumps(as_json([results]), allow_nan=False)), SCHEMA)


def test_the_schema_refuses_a_document_without_units() -> None:
    document = json.loads(json.dumps(as_json([single()])))
    del document["runs"][0]["cells"][0]["metrics"]["bandwidth"]["unit"]

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMA)


def test_a_figure_carries_value_interval_n_and_validity() -> None:
    results = sample(tests=("read",), jobs=(16,), depths=(1,), blocks=(4096,), engines=("libaio",))
    bandwidth = as_json([results])["runs"][0]["cells"][0]["metrics"]["bandwidth"]
    expected = results.cells[0].metrics["bandwidth"]

    assert bandwidth["value"] == expected.value and bandwidth["low"] == expected.low and bandwidth["n"] == 3
    assert bandwidth["unit"] == "bytes/s"
    assert bandwidth["valid"] is False  # generator-bound


def test_curves_point_at_cells_of_their_own_run() -> None:
    run = as_json([sample(tests=("read",))])["runs"][0]

    for curve in run["curves"]:
        loads = [run["cells"][number]["settings"][curve["axis"]] for number in curve["cells"]]
        assert loads == curve["loads"]


def test_a_ranking_points_at_the_cells_of_its_targets() -> None:
    run = as_json([side_by_side()])["runs"][0]

    for ranking in run["rankings"]:
        cells = [run["cells"][standing["cell"]] for standing in ranking["standings"]]
        assert [cell["settings"]["target"] for cell in cells] == [
            standing["target"] for standing in ranking["standings"]
        ]
        assert {cell["test"] for cell in cells} == {ranking["test"]}


def test_a_cell_of_several_clients_holds_each_of_them() -> None:
    cell = next(one for one in as_json([side_by_side()])["runs"][0]["cells"] if one["together"])

    assert [client["name"] for client in cell["clients"]] == ["client1", "client2", "client3"]
    assert sum(client["size_bytes"] for client in cell["clients"]) == cell["size_bytes"]
    assert cell["together"]["first_done_bytes_per_second"] > 0
    assert {host["name"] for host in cell["hosts"]} >= {"client1", "server1"}
