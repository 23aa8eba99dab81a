"""What a campaign foretells: under each cell's own conditions, stored, and held against what came only if it was there before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from leadline.analyse.prediction.baselines import read_baselines
from leadline.analyse.prediction.foretell import foretell
from leadline.analyse.prediction.gathered import gather_predictions
from leadline.analyse.prediction.held import load_in, with_processors
from leadline.analyse.prediction.paths import PAYLOAD
from leadline.analyse.prediction.words import predictions_in_words
from leadline.analyse.prediction.workload import Load
from leadline.errors import UserError
from leadline.spec.campaign_cluster import CampaignCluster
from leadline.store.prediction import PREDICTION, Foretold, StoredPrediction
from leadline.store.records import Cell, Status, StepKind, StepRecord

from .parts import MIB, cell, disk_cells

CELL: dict[str, Any] = {
    "rw": "randread",
    "block_size": MIB,
    "iodepth": 64,
    "numjobs": 1,
    "ioengine": "libaio",
}
DISK_RATE = 330.0


def cluster(**keys: Any) -> CampaignCluster:
    usual = {
        "name": "the farm", "baselines": ["disk"], "storage_nodes": 1, "storage_nic": "400Gb/s", "client_nic": "400Gb/s",
    }  # fmt: skip
    return CampaignCluster.model_validate({**usual, **keys})


def told(made: CampaignCluster, **settings: Any) -> Foretold:
    (found,) = foretell(
        made, read_baselines(disk_cells(even=True)), [("served", {**CELL, **settings})], 7
    ).cells
    return found


def test_one_disk_behind_a_wide_network_gives_the_local_grid_back() -> None:
    found = told(cluster())
    assert found.iops["queueing"] == pytest.approx(DISK_RATE, rel=0.02)
    assert found.binding == "disks" and found.disk_share > 0.95 > found.network_share


def test_a_cell_on_a_narrow_link_is_bound_by_its_nic() -> None:
    found = told(cluster(), link=50 * MIB)
    assert found.iops["queueing"] == pytest.approx(50 * PAYLOAD, rel=0.02)
    assert found.binding == "client NIC" and found.network_share > 0.95


@pytest.mark.parametrize("held", [{"disk_read_bandwidth": 40 * MIB}, {"disk_read_iops": 40}])
def test_no_disk_does_more_than_it_is_held_to(held: dict[str, Any]) -> None:
    found = told(cluster(), **held)
    assert found.iops["queueing"] == pytest.approx(40, rel=0.02) and found.binding == "disks"


def test_disks_that_take_another_time_than_the_measured_ones_are_refused() -> None:
    with pytest.raises(UserError, match="the same `conditions`"):
        told(cluster(), disk_latency=0.004)
    slow = [replace(each, cell={**each.cell, "disk_latency": 0.004}) for each in disk_cells(even=True)]
    (found,) = foretell(
        cluster(), read_baselines(slow), [("served", {**CELL, "disk_latency": 0.004})], 7
    ).cells
    assert found.iops["queueing"] == pytest.approx(DISK_RATE, rel=0.02)


def test_a_limit_on_writes_does_not_slow_reads() -> None:
    assert told(cluster(), disk_write_iops=10).iops["queueing"] == pytest.approx(DISK_RATE, rel=0.02)


def test_few_cores_bind_where_a_request_is_known_to_cost_them() -> None:
    client = told(cluster(client_processor="1ms"), client_cores=0.1)
    assert client.iops["queueing"] == pytest.approx(100, rel=0.02) and client.binding == "client software"
    server = told(cluster(server_processor="1ms", storage_nodes=3), server_cores=0.1)
    assert server.binding == "server software"


def test_three_servers_share_the_cores_of_all() -> None:
    made = cluster(server_processor="1ms", storage_nodes=3, chunk_size="1m")
    assert told(made, server_cores=0.1).iops["bounds"] == pytest.approx(100, rel=0.01)


def test_the_cost_of_a_request_is_taken_from_a_cell_that_nothing_holds_back() -> None:
    free = cell(Load("randread", MIB, 1, 8), 500.0)
    free.resources.update({"client_cpu_cores": 0.5, "server_cpu_cores": 0.25})  # type: ignore[attr-defined]
    made = with_processors(cluster(processors="calm"), [free])
    assert (made.client_processor, made.server_processor) == (1e-3, 0.5e-3)


def test_twice_the_binding_part_is_reckoned_beforehand() -> None:
    part, iops, then = told(cluster(), link=200 * MIB).relief or ("", 0.0, "")
    assert part == "client NIC"
    assert (
        iops == pytest.approx(200 * PAYLOAD, rel=0.01) and then == "storage NIC"
    )  # the other end of the same cable binds next


def test_psync_has_one_request_of_a_job_in_flight() -> None:
    load = load_in({**CELL, "ioengine": "psync"})
    assert load is not None and load.iodepth == 1


@pytest.mark.parametrize("other", [{"rw": "randrw"}, {"rate": 100.0}])
def test_what_goes_both_ways_or_is_paced_is_not_foretold(other: dict[str, Any]) -> None:
    assert load_in({**CELL, **other}) is None


def test_more_copies_than_the_cell_has_nodes_are_refused() -> None:
    with pytest.raises(UserError, match="3 replicas, but a cell has 2 storage nodes"):
        told(cluster(storage_nodes=3, replicas=3), storage_nodes=2)


def test_a_stored_prediction_is_read_as_it_was_made() -> None:
    made = foretell(cluster(), read_baselines(disk_cells()), [("served", {**CELL, "link": 50.0 * MIB})], 7)
    assert StoredPrediction.of_text(made.to_text()) == made


def stored(ordinal: int, started_unix_ns: int) -> StepRecord:
    made = foretell(
        cluster(), read_baselines(disk_cells(even=True)), [("experiment", CELL_OF_TARGET)], started_unix_ns
    )
    return record(StepKind.PREDICTION, ordinal, started_unix_ns, {"cluster": 0}, {PREDICTION: made.to_text()})


def record(
    kind: StepKind,
    ordinal: int,
    started_unix_ns: int,
    settings: Cell,
    documents: dict[str, str] | None = None,
) -> StepRecord:
    return StepRecord(
        ordinal,
        kind,
        "experiment",
        settings,
        0,
        Status.FINISHED,
        started_unix_ns=started_unix_ns,
        documents=documents or {},
    )


TARGET = cell(Load("randread", MIB, 64), 300.0)
CELL_OF_TARGET = dict(TARGET.cell)


def test_actual_stands_beside_what_was_foretold_with_the_error_in_both_directions() -> None:
    measured = record(StepKind.CELL, 1, 2_000, CELL_OF_TARGET)
    (made,) = gather_predictions([stored(0, 1_000), measured], [TARGET])
    assert made.is_before
    assert made.cells[0].over_actual == pytest.approx(DISK_RATE / 300, rel=0.02)
    assert made.median_error() == pytest.approx(0.1, abs=0.02)
    assert made.median_error("predicted") == pytest.approx(1 - 300 / DISK_RATE, abs=0.02)
    (sentence,) = predictions_in_words((made,))
    assert sentence.startswith(
        "Predicted before it was measured (the farm, 1 cell, from disk): randread up to 330 MiB/s, bound by disks"
    )


@pytest.mark.parametrize(
    ("ordinal", "started"), [(5, 1_000), (0, 3_000)], ids=["later in the plan", "later by the clock"]
)
def test_what_was_stored_after_its_cells_is_no_prediction(ordinal: int, started: int) -> None:
    measured = record(StepKind.CELL, 1, 2_000, CELL_OF_TARGET)
    (made,) = gather_predictions([measured, stored(ordinal, started)], [TARGET])
    assert not made.is_before
    (sentence,) = predictions_in_words((made,))
    assert "so it is none" in sentence and "MiB/s" not in sentence


def test_a_noise_step_of_the_same_cell_counts_as_measured() -> None:
    noise = record(StepKind.NOISE, 1, 500, CELL_OF_TARGET)
    (made,) = gather_predictions([stored(0, 1_000), noise], [TARGET])
    assert not made.is_before


def test_a_cell_that_was_never_measured_is_still_shown_as_foretold() -> None:
    (made,) = gather_predictions([stored(0, 1_000)], [])
    assert made.is_before and made.cells[0].actual is None and made.median_error() is None
