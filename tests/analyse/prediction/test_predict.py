"""Predictions from made-up baselines: exact where the target is a network of queues, refused where they would be wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from leadline.analyse.prediction.actuals import loads_of, of_target, read_actuals
from leadline.analyse.prediction.baselines import read_baselines
from leadline.analyse.prediction.forecasts import Forecaster
from leadline.analyse.prediction.paths import PAYLOAD
from leadline.analyse.prediction.predict import predict, predict_against
from leadline.analyse.prediction.predictions import Forecast, Prediction
from leadline.analyse.prediction.stations import Correction
from leadline.analyse.prediction.workload import Load
from leadline.analyse.results import CellResult, Verdict, VerdictName
from leadline.errors import UserError
from leadline.spec.cluster import Cluster

from .parts import DISK, MIB, cell, cluster, disk_cells, measured, network_cells, parts

LOADS = [Load("randread", MIB, depth, jobs) for depth in (1, 2, 4, 8, 16) for jobs in (1, 2, 4)]


def mva(disks: int, customers: int, delay: float) -> float:
    """Exact MVA of alike load-dependent disks and a delay, with marginal probabilities, written apart from the package."""
    loads, rates = list(DISK), list(DISK.values())
    rate = [
        0.0,
        *(float(np.exp(np.interp(np.log(k), np.log(loads), np.log(rates)))) for k in range(1, customers + 1)),
    ]
    chances, rounds = [1.0], 0.0
    for inside in range(1, customers + 1):
        seconds = sum(place / rate[place] * chances[place - 1] for place in range(1, inside + 1))
        rounds = inside / (delay + seconds)
        later = [rounds / disks / rate[place] * chances[place - 1] for place in range(1, inside + 1)]
        chances = [1 - sum(later), *later]
    return rounds


def against(made: Cluster, cells: list[CellResult], target: list[CellResult]) -> Prediction:
    return predict_against(made, read_baselines(cells), target)


def test_a_target_that_is_a_network_of_queues_is_predicted_exactly() -> None:
    actual = {load: mva(5, load.iodepth * load.numjobs, 0.002) for load in LOADS}
    target = [cell(load, iops) for load, iops in actual.items()]
    found = against(
        cluster(client_delay="2ms", client_nic="400Tb/s", storage_nic="400Tb/s"), disk_cells(), target
    )
    for each in found.cells:
        assert each.actual is not None
        assert each.forecasts["queueing"].iops == pytest.approx(each.actual.iops, rel=1e-4)
        assert each.forecasts["queueing"].mean_ns == pytest.approx(each.actual.mean_ns, rel=1e-4)
    assert all(score.over_actual < 1e-3 for score in found.scores if score.model == "queueing")


@pytest.mark.parametrize(("delay", "speed"), [(0.0, 0.7), (0.003, 1.0), (0.0015, 0.8), (0.001, 1.5)])
def test_two_probes_find_the_delay_and_the_speed_that_no_baseline_shows(delay: float, speed: float) -> None:
    forecaster = Forecaster(parts())
    truth = {load: forecaster.queueing(load, Correction(delay, speed)) for load in LOADS}
    found = against(cluster(), disk_cells(), measured(truth))
    calibration = found.calibrations["randread", MIB].correction
    assert calibration.delay_seconds == pytest.approx(delay, abs=2e-6)
    assert calibration.speed == pytest.approx(speed, rel=1e-3)
    for each in found.cells:
        assert each.forecasts["calibrated"].iops == pytest.approx(truth[each.load].iops, rel=2e-3)


@pytest.mark.parametrize("passes_per_second", [150.0, 400.0, 900.0])
def test_two_probes_find_a_part_that_no_baseline_shows(passes_per_second: float) -> None:
    """Parts as fast as their baselines while little is asked, and used up early: no delay and no speed is like that."""
    truth_by = Correction(further_seconds=1 / passes_per_second)
    truth = {load: Forecaster(parts()).queueing(load, truth_by) for load in LOADS}
    found = against(cluster(), disk_cells(), measured(truth))
    for each in found.cells:
        assert each.forecasts["calibrated"].iops == pytest.approx(truth[each.load].iops, rel=0.12)


def test_probes_that_both_stand_on_the_plateau_make_no_lone_request_fast() -> None:
    forecaster = Forecaster(parts())
    plain = {load: forecaster.queueing(load) for load in LOADS}
    most = 1.1 * max(forecast.iops for forecast in plain.values())
    truth = {
        load: forecast if load.iodepth * load.numjobs == 1 else Forecast.of(most, load.iodepth * load.numjobs)
        for load, forecast in plain.items()
    }
    found = against(cluster(), disk_cells(), measured(truth))
    (lone,) = (each for each in found.cells if each.in_flight == 1)
    assert lone.forecasts["calibrated"].iops < 2.5 * truth[lone.load].iops


def test_the_calibrated_model_is_scored_only_on_cells_that_it_has_not_seen() -> None:
    truth = {load: Forecaster(parts()).queueing(load, Correction(0.001, 0.8)) for load in LOADS}
    found = against(cluster(), disk_cells(), measured(truth))
    counts = {score.model: score.cells for score in found.scores if score.metric == "throughput"}
    assert counts == {"napkin": 15, "bounds": 15, "queueing": 15, "calibrated": 13}
    assert sum(each.is_probe for each in found.cells) == 2
    light, heavy = found.probes["randread", MIB]
    assert light.iodepth * light.numjobs == 2 < heavy.iodepth * heavy.numjobs


def test_an_iodepth_that_the_target_does_not_keep_is_found_by_littles_law() -> None:
    inert = cluster(iodepth="inert")
    truth = {load: Forecaster(parts(inert)).queueing(load) for load in LOADS}
    found = against(cluster(), disk_cells(), measured(truth))
    assert any("iodepth is inert, only jobs count" in note for note in found.notes)
    assert {each.in_flight for each in found.cells} == {1, 2, 4}
    assert all(
        each.forecasts["queueing"].iops == pytest.approx(truth[each.load].iops) for each in found.cells
    )


def test_what_the_cluster_file_says_of_iodepth_is_not_checked_again() -> None:
    truth = {load: Forecaster(parts(cluster(iodepth="inert"))).queueing(load) for load in LOADS}
    found = against(cluster(iodepth="kept"), disk_cells(), measured(truth))
    assert {each.in_flight for each in found.cells} == {load.iodepth * load.numjobs for load in LOADS}


@pytest.mark.parametrize(
    ("keys", "load", "binding"),
    [
        ({}, Load("randread", MIB, 64), "disks"),
        ({}, Load("randread", MIB, 1), "latency (disks)"),
        ({"client_nic": "1Gb/s"}, Load("randread", MIB, 64), "client NIC"),
        ({"storage_nic": "1Gb/s"}, Load("randread", MIB, 64), "storage NIC"),
        ({"switch": "2Gb/s"}, Load("randread", MIB, 64), "switch"),
        ({"client_iops": 100}, Load("randread", MIB, 64), "client software"),
        ({"server_iops": 50}, Load("randread", MIB, 64), "server software"),
        ({"client_delay": "50ms"}, Load("randread", MIB, 4), "latency (software, wire)"),
        (
            {"replicas": 3, "writes": "fan_out", "client_nic": "10Gb/s"},
            Load("randwrite", MIB, 64),
            "client NIC",
        ),
        ({"replicas": 3, "client_nic": "10Gb/s"}, Load("randwrite", MIB, 64), "disks"),
    ],
)
def test_the_part_that_is_held_back_is_the_one_that_is_named(
    keys: dict[str, Any], load: Load, binding: str
) -> None:
    found = predict(cluster(**keys), read_baselines([*disk_cells(), *disk_cells("randwrite")]), [load])
    assert found.cells[0].binding == binding


def test_shares_say_how_far_network_and_disks_are_used() -> None:
    (found,) = predict(
        cluster(client_nic="10Gb/s"), read_baselines(disk_cells()), [Load("randread", MIB, 256)]
    ).cells
    iops = found.forecasts["queueing"].iops
    assert found.network_share == pytest.approx(iops * MIB / (PAYLOAD * 1.25e9), rel=1e-6)
    assert found.disk_share == pytest.approx(iops / (5 * 330), rel=1e-6)


def test_the_napkin_takes_the_least_cap_and_the_latency_of_a_disk_at_that_load() -> None:
    (found,) = predict(
        cluster(replicas=3), read_baselines(disk_cells("randwrite")), [Load("randwrite", MIB, 4)]
    ).cells
    napkin, wire = found.forecasts["napkin"], MIB / (PAYLOAD * 50e9)
    assert napkin.iops == pytest.approx(5 * 320 / 3)
    assert napkin.mean_ns == pytest.approx((3 * 4 / 320 + wire) * 1e9)


def test_the_bounds_are_the_narrowest_part_and_requests_that_never_meet() -> None:
    loads = [Load("randread", MIB, 1), Load("randread", MIB, 256)]
    light, heavy = predict(cluster(), read_baselines(disk_cells()), loads).cells
    assert heavy.forecasts["bounds"].iops == pytest.approx(5 * 330)
    assert light.forecasts["bounds"].iops == pytest.approx(1 / (1 / 250 + MIB / (PAYLOAD * 50e9)))
    assert light.forecasts["queueing"].iops == pytest.approx(light.forecasts["bounds"].iops)


def test_a_measured_nic_counts_as_measured_and_its_round_trip_as_delay() -> None:
    cells = [*disk_cells(), *network_cells(1e9, round_trip_ns=50_000)]
    (found,) = predict(
        cluster(client_nic="10Gb/s", storage_nic="10Gb/s"),
        read_baselines(cells),
        [Load("randread", MIB, 256)],
    ).cells
    assert found.binding == "client NIC"
    assert found.forecasts["queueing"].iops * MIB == pytest.approx(1e9, rel=1e-3)
    (alone,) = predict(
        cluster(client_nic="10Gb/s", storage_nic="10Gb/s"), read_baselines(cells), [Load("randread", MIB)]
    ).cells
    assert alone.forecasts["queueing"].mean_ns == pytest.approx(1e9 / 250 + MIB + 50_000, rel=1e-6)


def test_before_a_measurement_the_loads_are_those_of_the_baseline_and_the_probes_are_named() -> None:
    cells = disk_cells()
    found = predict(cluster(clients=2), read_baselines(cells), loads_of(cells, 2))
    assert [each.load for each in found.cells] == [Load("randread", MIB, depth, clients=2) for depth in DISK]
    assert set(found.probes) == {("randread", MIB)} and not found.calibrations and not found.scores
    assert {"queueing", "bounds", "napkin"} == set(found.cells[0].forecasts)


def test_cells_that_did_not_measure_the_disk_are_left_out_and_it_is_said() -> None:
    cached = replace(
        cell(Load("randread", MIB, 1), 90_000.0), verdicts=(Verdict(VerdictName.CACHED, "below the floor"),)
    )
    found = predict(cluster(), read_baselines([*disk_cells(), cached]), [Load("randread", MIB)])
    assert found.cells[0].forecasts["queueing"].iops < 260
    assert any(note.startswith("1 cells of the disk baseline are left out") for note in found.notes)


@pytest.mark.parametrize(("metrics", "left_out"), [(("iops",), 1), (("mean", "p50", "p99"), 0)])
def test_a_short_window_leaves_a_cell_out_where_it_spoils_the_rate(
    metrics: tuple[str, ...], left_out: int
) -> None:
    short = Verdict(VerdictName.SHORT_WINDOW, "by hand", metrics)
    doubtful = replace(cell(Load("randread", MIB, 1), 90.0), verdicts=(short,))
    assert read_baselines([*disk_cells(), doubtful]).left_out == left_out


def test_a_baseline_whose_engine_kept_no_depth_counts_at_the_depth_that_it_kept() -> None:
    inert = [
        replace(
            cell(Load("randread", MIB, depth), 250.0, 4e6), verdicts=(Verdict(VerdictName.INERT_AXIS, ""),)
        )
        for depth in (1, 8, 64)
    ]
    assert read_baselines(inert).disks["randread", MIB].loads == (1.0,)


def test_a_baseline_that_wavers_is_said_to() -> None:
    twice = [*disk_cells(), *disk_cells(rates={depth: rate / 2 for depth, rate in DISK.items()})]
    found = predict(cluster(), read_baselines(twice), [Load("randread", MIB)])
    assert any("randread 1m" in note and "differ by 100 %" in note for note in found.notes)


@pytest.mark.parametrize(
    ("keys", "cells", "sentence"),
    [
        ({}, network_cells(1e9), "the baselines hold no cell of a disk"),
        ({}, disk_cells(block_size=4096), 'has "randread" at 4k, but requests reach the disks as 1m'),
        ({}, disk_cells("write"), 'has no test "randread" (it has write)'),
        ({"chunk_size": "512k"}, disk_cells(), 'has "randread" at 1m, but requests reach the disks as 512k'),
        ({"client_nic": "1Gb/s"}, [*disk_cells(), *network_cells(1e9)], "reaches 8 Gb/s, but a NIC of the cluster has 1 Gb/s"),
        ({"disk": {"randread": "40MB/s"}}, disk_cells(), "it is of another disk, of several, or of a cache"),
    ],
)  # fmt: skip
def test_no_prediction_rather_than_a_wrong_one(
    keys: dict[str, Any], cells: list[CellResult], sentence: str
) -> None:
    with pytest.raises(UserError) as refused:
        predict(cluster(**keys), read_baselines(cells), [Load("randread", MIB, 4)])
    assert sentence in str(refused.value)


def test_of_several_targets_one_must_be_named() -> None:
    cells = [cell(Load("read", MIB), 10.0, target=name) for name in ("nfs", "glusterfs")]
    with pytest.raises(UserError, match=r"several targets .*glusterfs, nfs; choose one with --target"):
        of_target(cells, None)
    with pytest.raises(UserError, match=r'no target "nsf" to predict; did you mean "nfs"\?'):
        of_target(cells, "nsf")
    assert [each.cell["target"] for each in of_target(cells, "nfs")] == ["nfs"]


def test_cells_that_go_both_ways_are_counted_and_not_predicted() -> None:
    both = replace(cell(Load("randrw", MIB), 10.0), test="randrw, read")
    actuals, passed_over = read_actuals([both, cell(Load("read", MIB), 10.0)])
    assert (actuals, passed_over) == ({Load("read", MIB): Forecast(10.0, 1e8)}, 1)
    with pytest.raises(UserError, match="there is nothing to hold the prediction against"):
        read_actuals([both])
    with pytest.raises(UserError, match="two cells of the target have the same load"):
        read_actuals([cell(Load("read", MIB), 10.0, ioengine=name) for name in ("libaio", "io_uring")])
