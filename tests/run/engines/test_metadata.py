"""The metadata engine: a cell becomes a step of the Rust engine, and its result facts that add up."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leadline.errors import UserError
from leadline.plan.steps import Step
from leadline.run.engines.engine_process import invocation_of
from leadline.run.engines.metadata import MetadataEngine, phases_of, step_of
from leadline.run.hosts.local import LocalHost
from leadline.run.seams import Completed, Outcome, Place
from leadline.store.records import Scalar

ENGINE = MetadataEngine()


@pytest.fixture
def outcome_of(step: Callable[..., Step], tmp_path: Path) -> Callable[..., Outcome]:
    """Performs a cell in an own directory, by the real engine."""

    def perform(**cell: Any) -> Outcome:
        data, scratch = tmp_path / "data", tmp_path / "scratch"
        data.mkdir(exist_ok=True)
        scratch.mkdir(exist_ok=True)
        asked = step(cell={"ranks": 2, "items_per_directory": 300, **cell}, engine="metadata", layout=None)
        invocation = ENGINE.prepare(asked, Place(data), scratch)
        completed = LocalHost().run(invocation, lambda process: None, lambda line: None)
        return ENGINE.collect(asked, invocation, completed)

    return perform


def test_settings_become_fields_with_their_units() -> None:
    cell: dict[str, Scalar] = {
        "ranks": 4,
        "pause": 0.5,
        "stonewall": 2,
        "write_size": 3901,
        "actions": "create,stat",
        "rw": "read",
    }
    assert step_of(cell, Path("/mnt/x"), seed=7) == {
        "workload": "metadata", "directory": "/mnt/x", "seed": 7, "leftovers": "remove", "ranks": 4,
        "pause_ns": 500_000_000, "stonewall_ns": 2_000_000_000, "write_size_bytes": 3901, "actions": ["create", "stat"],
    }  # fmt: skip


def test_options_of_fio_are_refused(step: Callable[..., Step]) -> None:
    with pytest.raises(UserError, match='no fio option "zonemode"'):
        ENGINE.check([step(cell={"fio.zonemode": "none"})])


def test_every_phase_is_told_with_what_succeeded(outcome_of: Callable[..., Outcome], tmp_path: Path) -> None:
    outcome = outcome_of(depth=1, branching_factor=2)
    assert outcome.reason is None and outcome.warnings == ()
    phases = outcome.facts["metadata"]
    assert [phase["operation"] for phase in phases][:3] == [
        "tree create",
        "directory create",
        "directory stat",
    ]
    for phase in phases:
        count = sum(count for _, count in phase["latency_bins"])
        assert phase["operations"] == phase["planned"] == count
        assert phase["failed"] == 0 and phase["rate_last_done"] > 0
    assert phases[5]["planned"] == 2 * 3 * 300
    assert len(outcome.jobs) == 2 and all(job.runtime_ns > 0 for job in outcome.jobs)
    assert {series.name for series in outcome.throughput} == {phase["operation"] for phase in phases}
    assert list((tmp_path / "data").iterdir()) == []
    json.dumps(outcome.facts)


def test_failures_are_told_and_stay_out_of_the_rates(
    outcome_of: Callable[..., Outcome], tmp_path: Path
) -> None:
    outcome_of(actions="create", directories=False)
    (tmp_path / "data/test-dir.0-0/mdtest_tree.0/file.mdtest.1.7").unlink()
    outcome = outcome_of(actions="stat,remove", directories=False)
    stat = outcome.facts["metadata"][0]
    assert (stat["operations"], stat["failed"], stat["errors"]) == (599, 1, {"ENOENT": 1})
    assert outcome.warnings[0] == "file stat, iteration 0: 1 of 600 failed (1 ENOENT)"
    assert outcome.reason is None


def test_a_phase_in_which_everything_failed_is_a_failed_step(outcome_of: Callable[..., Outcome]) -> None:
    outcome_of(actions="create", files=False)
    outcome = outcome_of(actions="stat", directories=False)
    assert outcome.reason == "all 600 operations of phase file stat failed, most with ENOENT"
    assert outcome.facts["metadata"][0]["rate_last_done"] is None


def test_what_the_engine_refuses_is_the_reason(outcome_of: Callable[..., Outcome]) -> None:
    outcome = outcome_of(iodepth=4)
    assert outcome.reason is not None and "one call at a time" in outcome.reason


def test_output_that_is_no_result_is_a_reason(step: Callable[..., Step], tmp_path: Path) -> None:
    invocation = invocation_of({}, tmp_path, 1.0)
    outcome = ENGINE.collect(step(), invocation, Completed(0, "{", "", 1))
    assert outcome.reason is not None and outcome.raw == {"engine.json": b"{"}


def test_latencies_of_all_ranks_are_pooled() -> None:
    def rank(bins: list[list[int]]) -> dict[str, Any]:
        count = sum(count for _, count in bins)
        mean = sum(value * count for value, count in bins) / count if count else None
        return {"latency": {"count": count, "mean_ns": mean, "bins": bins}}

    document = {
        "kind": "file", "action": "stat", "iteration": 0, "naming": "full_path", "driver": "calls", "iodepth": 1,
        "planned": 4, "operations": 4, "failed": 0, "errors": [], "first_done": None, "start_monotonic_ns": 5,
        "last_done": {"at_ns": 9, "operations": 4, "rate_per_second": 4e9 / 9}, "series": [{"end_ns": 9, "operations": 4}],
        "ranks": [rank([[10, 2], [20, 1]]), rank([[20, 1]]), rank([])],
    }  # fmt: skip
    (phase,) = phases_of({"phases": [document]})
    assert phase.latency is not None
    assert list(phase.latency_bins()) == [(10, 2), (20, 2)]
    assert (phase.mean_ns, phase.operation, phase.rate_first_done) == (15.0, "file stat", None)
