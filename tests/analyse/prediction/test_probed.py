"""Two probes of each test in a campaign: what is foretold from them, what is left out with a note, and what is scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.analyse.prediction.baselines import read_baselines
from leadline.analyse.prediction.beside import Foretelling
from leadline.analyse.prediction.calibration import choose_probes, fit, measured
from leadline.analyse.prediction.forecasts import Forecaster
from leadline.analyse.prediction.foretell import Planned, foretell
from leadline.analyse.prediction.gathered import gather_predictions
from leadline.analyse.prediction.held import load_in, parts_under
from leadline.analyse.prediction.probed import foretell_again
from leadline.analyse.prediction.probing import choose_among
from leadline.analyse.prediction.stations import Correction
from leadline.analyse.prediction.words import predictions_in_words, probes_in_words
from leadline.analyse.prediction.workload import Load
from leadline.analyse.results import CellResult, Verdict, VerdictName
from leadline.spec.campaign_cluster import CampaignCluster
from leadline.spec.load_cluster import build_cluster
from leadline.store.prediction import CALIBRATED, PREDICTION, StoredCalibration
from leadline.store.records import Cell, Status, StepKind, StepRecord

from .parts import MIB, cell, disk_cells, parts

DELAY, SPEED = 0.002, 0.7
"""What no baseline shows of the target."""
BASELINES = read_baselines(disk_cells(even=True))


def cluster(**keys: Any) -> CampaignCluster:
    usual = {
        "name": "the farm", "baselines": ["disk"], "storage_nodes": 5, "storage_nic": "400Gb/s", "client_nic": "400Gb/s",
        "chunk_size": "1m",
    }  # fmt: skip
    return CampaignCluster.model_validate({**usual, **keys})


def grid(
    depths: Sequence[int] = (1, 2, 4, 8, 16), jobs: Sequence[int] = (1, 4), **more: Any
) -> list[Planned]:
    usual = {"rw": "randread", "block_size": MIB, "ioengine": "libaio", **more}
    return [("served", {**usual, "iodepth": depth, "numjobs": number}) for depth in depths for number in jobs]


def came(planned: Planned, truth: CampaignCluster, speed: float = SPEED) -> CellResult:
    """A target that is what the model knows, and later and slower than that."""
    load = load_in(planned[1])
    assert load is not None
    forecaster = Forecaster(parts_under(truth, BASELINES, planned[1], load))
    found = forecaster.queueing(load, Correction(DELAY, speed))
    made = cell(load, found.iops, found.mean_ns)
    return replace(made, experiment=planned[0], cell=planned[1])


def again(
    planned: Sequence[Planned],
    truth: CampaignCluster | None = None,
    known: CampaignCluster | None = None,
    lost: int | None = None,
    speed: float = SPEED,
) -> StoredCalibration:
    """From the probes of each test, of which one may be lost."""
    known = known or cluster()
    chosen = list(choose_among(known, BASELINES, planned))
    results = [
        (probe, None if place == lost else came(probe, truth or known, speed))
        for place, probe in enumerate(chosen)
    ]
    return foretell_again(known, BASELINES, planned, results, 7)


def rates(made: StoredCalibration) -> dict[tuple[int, int], float]:
    return {(each.cell["iodepth"], each.cell["numjobs"]): each.iops for each in made.cells}  # type: ignore[misc]


def test_every_cell_but_the_probes_is_foretold_as_a_target_that_is_later_and_slower_does_it() -> None:
    planned = grid()
    made = again(planned)
    (test,) = made.tests
    assert (test.delay_seconds, test.speed) == (
        pytest.approx(DELAY, rel=0.01),
        pytest.approx(SPEED, rel=0.01),
    )
    assert len(made.cells) == len(planned) - 2
    for each in made.cells:
        true = came((each.experiment, each.cell), cluster())
        assert each.iops == pytest.approx(true.metrics["iops"].value, rel=0.01)
        assert each.mean_ns == pytest.approx(true.metrics["mean"].value, rel=0.01)
    assert not [each for each in made.cells if each.cell in (test.light, test.heavy)]


def test_an_iodepth_that_the_probes_do_not_keep_counts_for_nothing_and_it_is_said() -> None:
    made = again(grid(), truth=cluster(iodepth="inert"))
    assert any("iodepth is inert, only jobs count" in note for note in made.notes)
    found = rates(made)
    assert found[16, 4] == pytest.approx(found[8, 4], rel=1e-6)
    assert found[16, 4] > 1.5 * found[16, 1]


def test_probes_that_turn_out_to_keep_as_many_in_flight_calibrate_nothing() -> None:
    made = again(grid(jobs=(4,)), truth=cluster(iodepth="inert"))
    assert not made.cells and not made.tests
    assert "both probes keep as many requests in flight, so nothing is calibrated" in made.notes[-1]


@pytest.mark.parametrize("lost", [0, 1], ids=["light", "heavy"])
def test_a_probe_that_failed_leaves_its_own_test_out_with_one_note(lost: int) -> None:
    planned = [*grid(), *grid(rw="read")]
    baselines = read_baselines([*disk_cells(even=True), *disk_cells("read", even=True)])
    chosen = list(choose_among(cluster(), baselines, planned))
    results = [
        (
            probe,
            None
            if place == lost
            else replace(cell(load_in(probe[1]) or Load("", 0), 100.0 + place), cell=probe[1]),
        )
        for place, probe in enumerate(chosen)
    ]
    made = foretell_again(cluster(), baselines, planned, results, 7)
    assert [note for note in made.notes if "no figure that holds" in note] == [
        "randread, 1 MiB, libaio: a probe gave no figure that holds, so nothing is calibrated."
    ]
    assert {each.cell["rw"] for each in made.cells} == {"read"}


@pytest.mark.parametrize("name", [VerdictName.IMPOSSIBLE, VerdictName.INCOMPLETE, VerdictName.SHORT_WINDOW])
def test_a_probe_that_did_not_measure_its_test_is_as_one_that_failed(name: VerdictName) -> None:
    planned = grid()
    light, heavy = choose_among(cluster(), BASELINES, planned)
    doubtful = replace(came(heavy, cluster()), verdicts=(Verdict(name, "by hand"),))
    made = foretell_again(
        cluster(), BASELINES, planned, [(light, came(light, cluster())), (heavy, doubtful)], 7
    )
    assert not made.cells and len(made.notes) == 1


def test_a_target_that_collapses_at_its_heavy_probe_is_told_from_a_slow_one() -> None:
    assert any("the target may collapse" in note for note in again(grid(), speed=0.2).notes)
    assert not any("collapse" in note for note in again(grid()).notes)


def test_probes_that_no_target_of_the_model_gives_are_said_to_be_missed() -> None:
    """More requests in flight cannot give more than in proportion."""
    planned = grid()
    light, heavy = choose_among(cluster(), BASELINES, planned)
    fast = came(heavy, cluster())
    better = replace(fast, metrics={**fast.metrics, "iops": replace(fast.metrics["iops"], value=1e5)})
    made = foretell_again(
        cluster(), BASELINES, planned, [(light, came(light, cluster())), (heavy, better)], 7
    )
    assert any("gives both probes" in note and "off at one of them" in note for note in made.notes)


def test_what_cells_are_held_to_is_known_with_probes_too() -> None:
    """One link of three is no other test's business: each is calibrated on its own probes, at its own width."""
    planned = [each for link in (60.0 * MIB, 600.0 * MIB) for each in grid(link=link)]
    made = again(planned)
    assert len(made.tests) == 2
    most = {
        link: max(each.iops for each in made.cells if each.cell["link"] == link)
        for link in (60.0 * MIB, 600.0 * MIB)
    }
    assert most[60.0 * MIB] < 60 and most[600.0 * MIB] > 200


def test_few_server_cores_are_shared_by_as_many_servers_as_a_load_reaches() -> None:
    known = cluster(server_processor="1ms", storage_nodes=3, chunk_size=None)
    made = again(grid(jobs=(1, 2, 4), server_cores=0.1), known=known)
    for each in made.cells:
        true = came((each.experiment, each.cell), known)
        assert each.iops == pytest.approx(true.metrics["iops"].value, rel=0.02)


def test_a_stored_calibration_is_read_as_it_was_made() -> None:
    made = again(grid(link=50.0 * MIB))
    assert made.cells and StoredCalibration.of_text(made.to_text()) == made


@st.composite
def networks(draw: st.DrawFn) -> tuple[Forecaster, list[Load]]:
    """Clusters of one to forty disks behind narrow and wide links, whose disks gain by depth as they like."""
    nodes = draw(st.integers(1, 20))
    gains = draw(st.lists(st.floats(1.0, 1.9), min_size=4, max_size=4))
    rate, curve = draw(st.floats(20.0, 5000.0)), {}
    for depth, gain in zip((1, 2, 4, 8), gains, strict=True):
        curve[depth] = rate
        rate *= gain
    made = build_cluster(
        {
            "storage_nodes": nodes,
            "disks_per_node": draw(st.integers(1, 2)),
            "storage_nic": f"{draw(st.integers(1, 100))}Gb/s",
            "client_nic": f"{draw(st.integers(1, 100))}Gb/s",
            "round_trip": f"{draw(st.integers(0, 2000))}us",
            "chunk_size": "1m",
            "replicas": draw(st.integers(1, min(3, nodes))),
        },
        "c.toml",
    )
    test = draw(st.sampled_from(["randread", "randwrite"]))
    cells = disk_cells(test, rates=curve, even=draw(st.booleans()))
    loads = [Load(test, MIB, depth, jobs) for depth in (1, 2, 4, 16) for jobs in (1, 4)]
    return Forecaster(parts(made, cells)), loads


@settings(max_examples=25, deadline=None)
@given(networks(), st.floats(0.0, 0.02), st.floats(0.1, 5.0))
def test_the_calibrated_model_meets_its_own_probes_on_every_network_that_is_later_and_slower(
    made: tuple[Forecaster, list[Load]], delay: float, speed: float
) -> None:
    forecaster, loads = made
    probes = choose_probes(forecaster, loads)
    assert probes is not None
    truth = [forecaster.queueing(load, Correction(delay, speed)).iops for load in probes]
    light, heavy = (measured(forecaster, load, iops) for load, iops in zip(probes, truth, strict=True))
    found = fit(light, heavy)
    for load, iops in zip(probes, truth, strict=True):
        assert forecaster.queueing(load, found).iops == pytest.approx(iops, rel=0.01)


def record(
    kind: StepKind, ordinal: int, settings: Cell, documents: Mapping[str, str] | None = None
) -> StepRecord:
    """Steps begin a second after each other."""
    return StepRecord(
        ordinal, kind, "served", settings, 0, Status.FINISHED, started_unix_ns=ordinal * 10**9, documents=documents or {}
    )  # fmt: skip


def run(order: str, planned: Sequence[Planned]) -> Foretelling:
    """A run in which p, c stand for the prediction and the calibrated one, 1 and 2 for the probes, and r for all others."""
    probes = list(choose_among(cluster(), BASELINES, planned))
    results = [came(each, cluster()) for each in planned]
    first = foretell(cluster(), BASELINES, planned, 7)
    steps: list[StepRecord] = []
    for letter in order:
        if letter in "pc":
            cells: Cell = {"cluster": 0} if letter == "p" else {"cluster": 0, CALIBRATED: True}
            document = (
                {PREDICTION: first.to_text()} if letter == "p" else {CALIBRATED: again(planned).to_text()}
            )
            steps.append(record(StepKind.PREDICTION, len(steps), cells, document))
        else:
            rest = [each for each in planned if each not in probes]
            for _, settings in rest if letter == "r" else [probes[int(letter) - 1]]:
                steps.append(record(StepKind.CELL, len(steps), settings))
    (made,) = gather_predictions(steps, results)
    return made


def test_probes_are_never_in_the_score_of_what_they_calibrated() -> None:
    made = run("p12cr", grid())
    counts = {score.model: score.cells for score in made.scores if score.metric == "throughput"}
    assert counts == {"napkin": 10, "bounds": 10, "queueing": 10, "calibrated": 8}
    assert sum(each.is_probe for each in made.cells) == 2 and made.probed == 8
    assert all(("calibrated" in each.foretold.iops) != each.is_probe for each in made.cells)
    errors = {score.model: score.over_actual for score in made.scores}
    assert errors["calibrated"] < 0.01 < errors["queueing"]


def test_the_sentence_keeps_the_rivals_and_says_how_it_was_without_probes() -> None:
    made = run("p12cr", grid())
    (sentence,) = predictions_in_words((made,))
    assert "(napkin " in sentence and "bounds " in sentence
    assert "with two probes 0." in sentence and "on the 8 cells that are no probes" in sentence
    assert any(
        "2.00 ms further delay, parts at 0.700 of their baselines" in line for line in probes_in_words(made)
    )


@pytest.mark.parametrize("order", ["p12rc", "p1r2c", "pr12c"])
def test_what_was_calibrated_after_its_cells_is_no_prediction_and_scored_nowhere(order: str) -> None:
    made = run(order, grid())
    assert made.is_before and made.probed == 0 and not made.tests
    assert {score.model for score in made.scores} == {"napkin", "bounds", "queueing"}
    assert any("so it is none" in note for note in made.probe_notes)


def test_where_the_first_prediction_was_too_late_nothing_is_scored() -> None:
    assert run("12crp", grid()).scores == ()
