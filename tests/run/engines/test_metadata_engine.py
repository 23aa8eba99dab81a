"""The metadata engine: a cell becomes a step of the Rust engine, and its result measurements that add up."""

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leadline.errors import UserError
from leadline.plan.steps import Step
from leadline.run.engines.engine_process import invocation_of
from leadline.run.engines.metadata import MetadataEngine, step_of
from leadline.run.engines.metadata_phases import phases_of
from leadline.run.hosts.local import LocalHost
from leadline.run.seams import Completed, Outcome, Place
from leadline.store.records import Direction, Measurement, Scalar

ENGINE = MetadataEngine()
Perform = Callable[..., Outcome]


@pytest.fixture
def outcome_of(step: Callable[..., Step], tmp_path: Path) -> Perform:
    """Performs a cell in an own directory, by the real engine."""

    def perform(**cell: Any) -> Outcome:
        data, scratch = tmp_path / "data", tmp_path / "scratch"
        data.mkdir(exist_ok=True)
        scratch.mkdir(exist_ok=True)
        usual = {"numjobs": 2, "items_per_directory": 300}
        asked = step(cell={**usual, **cell}, engine="metadata", layout=None, files="tree")
        invocation = ENGINE.prepare(asked, Place(data), scratch)
        completed = LocalHost().run(invocation, lambda process: None, lambda line: None)
        return ENGINE.collect(asked, invocation, completed)

    return perform


def of(outcome: Outcome, operation: Direction) -> list[Measurement]:
    return [each for each in outcome.measurements if each.direction is operation]


def test_settings_become_fields_with_their_units() -> None:
    cell: dict[str, Scalar] = {
        "numjobs": 4,
        "pause": 0.5,
        "stonewall": 2,
        "write_size": 3901,
        "actions": "create,stat",
        "rw": "read",
    }
    assert step_of(cell, Path("/mnt/x")) == {
        "workload": "metadata", "directory": "/mnt/x", "leftovers": "remove", "ranks": 4,
        "pause_ns": 500_000_000, "stonewall_ns": 2_000_000_000, "write_size_bytes": 3901, "actions": ["create", "stat"],
    }  # fmt: skip


def test_each_of_several_clients_has_its_place_among_all_ranks() -> None:
    second = step_of({"numjobs": 4}, Path("/mnt/x"), number=1, clients=3)
    assert (second["rank_offset"], second["ranks_total"], second["external_barriers"]) == (4, 12, True)


def test_where_the_filesystem_counts_its_requests_is_handed_on(
    step: Callable[..., Step], tmp_path: Path
) -> None:
    asked = step(cell={"items_per_directory": 1}, engine="metadata", layout=None)
    ENGINE.prepare(asked, Place(tmp_path, counting={"counters_file": "/mnt/x/.stats"}), tmp_path)
    assert json.loads((tmp_path / "engine_step.json").read_text())["counters_file"] == "/mnt/x/.stats"


def test_options_of_fio_are_refused(step: Callable[..., Step]) -> None:
    with pytest.raises(UserError, match='no fio option "zonemode"'):
        ENGINE.check([step(cell={"fio.zonemode": "none"})])


def test_every_operation_of_every_rank_is_measured(outcome_of: Perform, tmp_path: Path) -> None:
    outcome = outcome_of(depth=1, branching_factor=2)
    assert outcome.reason is None and outcome.warnings == ()
    operations = list(dict.fromkeys(each.direction for each in outcome.measurements))
    assert operations == [each for each in Direction if each.is_phase and not each.is_of_objects]
    for each in outcome.measurements:
        assert each.latency.histogram is not None
        assert each.operations == each.latency.count == each.latency.histogram.total
        assert each.runtime_ns > 0 and each.size_bytes == 0 and each.failed == {}
    assert [(each.job, each.operations) for each in of(outcome, Direction.FILE_STAT)] == [(0, 900), (1, 900)]
    assert [(each.job, each.operations) for each in of(outcome, Direction.TREE_CREATE)] == [(0, 3)], (
        "one makes it"
    )
    assert len(outcome.jobs) == 2 and all(job.runtime_ns > 0 for job in outcome.jobs)
    assert [series.name for series in outcome.throughput] == operations
    assert list((tmp_path / "data").iterdir()) == []


def test_the_series_hold_every_operation(outcome_of: Perform) -> None:
    for series in outcome_of().throughput:
        assert series.unit == "1/s"
        widths = [end - start for start, end in zip([0, *series.times_ns], series.times_ns, strict=False)]
        done = sum(rate * width / 1e9 for rate, width in zip(series.values, widths, strict=True))
        assert done == pytest.approx(1 if "tree" in series.name else 600)


def test_phases_are_told_with_their_borders(outcome_of: Perform) -> None:
    phases = outcome_of(directories=False).facts["phases"]
    assert [phase["operation"] for phase in phases] == [
        "tree create", "file create", "file stat", "file read", "file remove", "tree remove"
    ]  # fmt: skip
    begins = [phase["start_ns"] for phase in phases]
    assert begins[0] == 0 and begins == sorted(begins)
    for phase in phases[1:5]:
        assert phase["planned"] == 600
        assert 0 < phase["first_done_ns"] <= phase["last_done_ns"]
        assert 300 <= phase["first_done_operations"] <= 600
        spent_ns = phase["user_ns"] + phase["system_ns"]
        assert 0 < spent_ns < 10 * phase["last_done_ns"], "of both ranks, in this phase alone"
    json.dumps(phases)


def test_failures_are_counted_by_errno_and_stay_out_of_the_rates(outcome_of: Perform, tmp_path: Path) -> None:
    outcome_of(actions="create", directories=False)
    (tmp_path / "data/test-dir.0-0/mdtest_tree.0/file.mdtest.1.7").unlink()
    outcome = outcome_of(actions="stat,remove", directories=False)
    assert [(each.operations, dict(each.failed)) for each in of(outcome, Direction.FILE_STAT)] == [
        (300, {}),
        (299, {"ENOENT": 1}),
    ]
    assert outcome.warnings[0] == "file stat: 1 of 600 failed (1 ENOENT)"
    assert outcome.reason is None


def test_a_phase_in_which_everything_failed_is_a_failed_step(outcome_of: Perform) -> None:
    outcome_of(actions="create", files=False)
    outcome = outcome_of(actions="stat", directories=False)
    assert outcome.reason == "all 600 operations of phase file stat failed, most with ENOENT"
    assert [(each.operations, dict(each.failed)) for each in of(outcome, Direction.FILE_STAT)] == [
        (0, {"ENOENT": 300})
    ] * 2


def test_what_the_engine_refuses_is_the_reason(outcome_of: Perform) -> None:
    outcome = outcome_of(iodepth=4)
    assert outcome.reason is not None and "one call at a time" in outcome.reason


def test_what_is_not_leadlines_is_never_removed(outcome_of: Perform, tmp_path: Path) -> None:
    outcome_of(actions="create")
    foreign = tmp_path / "data/test-dir.0-0/mdtest_tree.0/thesis.tex"
    foreign.write_text("years of work")
    outcome = outcome_of()
    assert outcome.reason is not None and "thesis.tex is nothing that leadline makes" in outcome.reason
    assert foreign.read_text() == "years of work"


def test_a_tree_that_an_earlier_run_left_is_removed_first(outcome_of: Perform, tmp_path: Path) -> None:
    outcome_of(actions="create")
    assert outcome_of().reason is None
    assert list((tmp_path / "data").iterdir()) == []


@pytest.mark.root
def test_without_inodes_left_nothing_is_begun(
    step: Callable[..., Step], mounted: Callable[..., Path], tmp_path: Path
) -> None:
    data = mounted("tmpfs", "nr_inodes=100")
    asked = step(cell={"items_per_directory": 300}, engine="metadata", layout=None)
    invocation = ENGINE.prepare(asked, Place(data), tmp_path)
    completed = LocalHost().run(invocation, lambda process: None, lambda line: None)
    reason = str(ENGINE.collect(asked, invocation, completed).reason)
    assert "inodes left, and the step needs" in reason and "lower the items" in reason
    assert list(data.iterdir()) == []


@pytest.mark.root
def test_dropping_caches_without_root_is_refused_in_a_sentence(step: Callable[..., Step]) -> None:
    asked = step(cell={"items_per_directory": 3, "drop_caches": True}, engine="metadata", layout=None)
    with tempfile.TemporaryDirectory(
        dir="/var/tmp"
    ) as folder:  # where nobody may pass, other than in pytest's own
        scratch, data = Path(folder, "scratch"), Path(folder, "data")
        for path in (Path(folder), scratch, data):
            path.mkdir(exist_ok=True)
            path.chmod(0o777)
        invocation = ENGINE.prepare(asked, Place(data), scratch)
        nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
        as_nobody = replace(invocation, argv=(*nobody, *invocation.argv))
        completed = LocalHost().run(as_nobody, lambda process: None, lambda line: None)
    assert "drop_caches needs root" in str(ENGINE.collect(asked, invocation, completed).reason)


def test_output_that_is_no_result_is_a_reason(step: Callable[..., Step], tmp_path: Path) -> None:
    invocation = invocation_of({}, tmp_path, 1.0)
    for said in ("{", "", "[1]", "barrier 1 2"):
        outcome = ENGINE.collect(step(), invocation, Completed(0, said, "", 1))
        assert outcome.reason is not None and outcome.raw == {"engine.json": said.encode()}


def phase(**changes: Any) -> dict[str, Any]:
    """One phase of a result, of a host with one rank."""
    return {
        "kind": "file", "action": "stat", "iteration": 0, "planned": 4, "operations": 4, "failed": 0, "errors": [],
        "first_done": {"at_ns": 8, "operations": 4}, "last_done": {"at_ns": 8}, "series": [{"end_ns": 8, "operations": 4}],
        "ranks": [{"latency": {"bins": [[10, 2], [20, 2]]}}],
    } | changes  # fmt: skip


def test_phases_of_several_hosts_are_one() -> None:
    slow = phase(
        operations=3, errors=[{"name": "ENOENT", "count": 1}], first_done={"at_ns": 16, "operations": 3},
        last_done={"at_ns": 16}, series=[{"end_ns": 16, "operations": 3}], ranks=[{"latency": {"bins": [[20, 3]]}}],
    )  # fmt: skip
    (both,) = phases_of({"phases": [phase()]}, {"phases": [slow]})
    assert (both.operation, both.planned, both.operations, both.errors) == ("file stat", 8, 7, {"ENOENT": 1})
    assert both.rate_last_done == 7e9 / 16
    assert both.rate_first_done == pytest.approx((4 + 1.5) * 1e9 / 8), "the slow one was half done"
    assert both.latency.total == 7 and both.latency.percentile(0.5) == 20


def test_a_phase_without_success_has_no_rate() -> None:
    (none,) = phases_of({"phases": [phase(operations=0, first_done=None, series=[], ranks=[])]})
    assert (none.rate_last_done, none.rate_first_done, none.latency.total) == (None, None, 0)
