"""The walk along the plan, with fakes at every seam: what goes wrong is recorded, and the walk goes on."""

import errno
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from leadline.errors import UserError
from leadline.plan.drafts import layout_step
from leadline.plan.planner import FixedPlan
from leadline.plan.sites import Site
from leadline.plan.steps import Layout, Step
from leadline.run.conductor import Conductor, Interrupted, Stop
from leadline.run.engines.fake import OPERATIONS, FakeEngine
from leadline.run.fake_grounds import FakeGrounds
from leadline.run.hosts.fake import FakeHost
from leadline.run.layouts import data_folder, layout_present
from leadline.run.seams import Completed, Invocation, Now, Outcome
from leadline.run.targets.fake import FakeTarget
from leadline.store.manifest import Manifest
from leadline.store.records import StepKind, StepRecord
from leadline.store.run_folder import RunFolder

LAYOUT = Layout("files-1x64k", 1, 1, 65536)
OTHER = Layout("files-1x128k", 1, 1, 131072)


@dataclass
class Listener:
    """A watcher that remembers."""

    started: list[int] = field(default_factory=list)
    finished: list[StepRecord] = field(default_factory=list)
    heard: list[Now] = field(default_factory=list)
    remaining: list[int] = field(default_factory=list)

    def step_started(self, step: Step, remaining: Sequence[Step]) -> None:
        self.started.append(step.ordinal)
        self.remaining.append(len(remaining))

    def now(self, step: Step, now: Now) -> None:
        self.heard.append(now)

    def step_finished(self, record: StepRecord) -> None:
        self.finished.append(record)

    def said(self, line: str) -> None:
        """Targets come and go."""


@dataclass
class Walk:
    """A conductor with fakes, on a real run folder and a real directory."""

    conductor: Conductor
    engine: FakeEngine
    host: FakeHost
    target: FakeTarget
    grounds: FakeGrounds
    listener: Listener

    @property
    def records(self) -> list[StepRecord]:
        return self.conductor.folder.records()

    @property
    def statuses(self) -> list[str]:
        return [str(record.status) for record in self.records]


@pytest.fixture
def walk(tmp_path: Path, work_directory: Path) -> Callable[..., Walk]:
    """A walk along the steps; a second one goes on in the same run folder."""

    def make(
        *steps: Step,
        folder: Path = tmp_path / "run",
        outcomes: dict[int, Outcome] | None = None,
        refused: dict[str, str] | None = None,
    ) -> Walk:
        run = (
            RunFolder.open(folder)
            if (folder / "manifest.json").exists()
            else RunFolder.create(folder, MANIFEST)
        )
        engine, host, target, listener = (
            FakeEngine(outcomes or {}),
            FakeHost(),
            FakeTarget(work_directory),
            Listener(),
        )
        grounds = FakeGrounds(host, target, refused or {})
        conductor = Conductor(FixedPlan(steps), run, {"fio": engine}, grounds, listener, Stop())
        return Walk(conductor, engine, host, target, grounds, listener)

    return make


MANIFEST = Manifest("a run", "campaign", "/data", "2026-01-01T00:00:00+00:00", "0.1")


@pytest.fixture
def steps(step: Callable[..., Step]) -> tuple[Step, ...]:
    """A layout and three cells on it."""
    return numbered(layout_step(LAYOUT, "e"), *(step(cell={"iodepth": depth}) for depth in (1, 2, 4)))


def numbered(*steps: Step) -> tuple[Step, ...]:
    return tuple(Step(**{**each.__dict__, "ordinal": place}) for place, each in enumerate(steps))


def test_every_step_ends_as_a_record_in_the_order_of_the_plan(
    walk: Callable[..., Walk], steps: tuple[Step, ...]
) -> None:
    done = walk(*steps)
    done.conductor.conduct()
    assert [(record.ordinal, record.kind, record.status) for record in done.records] == [
        (0, StepKind.LAYOUT, "finished"), (1, StepKind.CELL, "finished"), (2, StepKind.CELL, "finished"), (3, StepKind.CELL, "finished")
    ]  # fmt: skip
    assert done.records[2].cell["iodepth"] == 2
    assert done.records[1].measurements[0].operations == OPERATIONS
    assert done.records[1].command == ("fake", "1")
    assert done.records[1].facts["engine_cpu_seconds"] == 0.5
    assert done.conductor.folder.raw_path(1, "fake.txt").exists()


def test_the_watcher_hears_every_step_and_what_is_left(
    walk: Callable[..., Walk], steps: tuple[Step, ...]
) -> None:
    done = walk(*steps)
    done.conductor.conduct()
    assert (done.listener.started, done.listener.remaining) == ([0, 1, 2, 3], [4, 3, 2, 1])
    assert [record.ordinal for record in done.listener.finished] == [0, 1, 2, 3]
    assert done.listener.heard[0].share_done == 0.5


def test_the_target_is_cleaned_up_and_no_scratch_is_left(
    walk: Callable[..., Walk], steps: tuple[Step, ...]
) -> None:
    done = walk(*steps)
    done.conductor.conduct()
    assert done.target.cleaned_up == 1
    assert not list(done.conductor.folder.path.glob("scratch-*"))


def test_a_failed_step_is_recorded_and_the_walk_goes_on(
    walk: Callable[..., Walk], steps: tuple[Step, ...]
) -> None:
    done = walk(*steps, outcomes={2: Outcome(reason="fio did no I/O", raw={"fio.json": b"{}"})})
    done.conductor.conduct()
    assert done.statuses == ["finished", "finished", "failed", "finished"]
    assert done.records[2].reason == "fio did no I/O"
    assert done.conductor.folder.raw_path(2, "fio.json").exists(), "what it printed is kept as evidence"


def test_a_hung_engine_is_recorded_as_killed_and_the_walk_goes_on(
    walk: Callable[..., Walk], steps: tuple[Step, ...]
) -> None:
    done = walk(*steps)
    done.host.meanwhile = lambda invocation: (
        Completed(None, "", "", 10**9, timed_out=True) if invocation.argv[1] == "2" else None
    )
    done.conductor.conduct()
    assert done.statuses == ["finished", "finished", "failed", "finished"]
    assert "did not end within 600 s and was killed" in str(done.records[2].reason)


def test_a_target_that_disappears_in_mid_run_fails_the_steps_that_are_left(
    walk: Callable[..., Walk], steps: tuple[Step, ...]
) -> None:
    done = walk(*steps)

    def vanish(invocation: Invocation) -> None:
        if invocation.argv[1] == "1":
            done.target.gone = "/data has disappeared"

    done.host.meanwhile = vanish
    done.conductor.conduct()
    assert done.statuses == ["finished", "finished", "failed", "failed"]
    assert {record.reason for record in done.records[2:]} == {"/data has disappeared"}
    assert len(done.host.ran) == 2, "nothing is started on a target that is gone"


def test_a_directory_really_removed_in_mid_run_is_a_recorded_failure(
    walk: Callable[..., Walk], steps: tuple[Step, ...], work_directory: Path
) -> None:
    done = walk(*steps)
    done.host.meanwhile = lambda invocation: (
        shutil.rmtree(work_directory) if invocation.argv[1] == "1" else None
    )
    done.conductor.conduct()
    assert done.statuses == ["finished", "finished", "failed", "failed"]
    assert "No such file or directory" in str(done.records[2].reason)


def test_an_engine_that_cannot_prepare_a_step_fails_that_step_only(
    walk: Callable[..., Walk], steps: tuple[Step, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = walk(*steps)
    prepare = FakeEngine.prepare

    def refuse(self: FakeEngine, step: Step, *rest: Any) -> Invocation:
        if step.ordinal == 2:
            raise UserError("fio has gone from this machine")
        return prepare(self, step, *rest)

    monkeypatch.setattr(FakeEngine, "prepare", refuse)
    done.conductor.conduct()
    assert done.statuses == ["finished", "finished", "failed", "finished"]
    assert done.records[2].reason == "fio has gone from this machine"


def test_a_bug_of_ours_is_a_traceback_and_still_cleans_up(
    walk: Callable[..., Walk], steps: tuple[Step, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = walk(*steps)
    monkeypatch.setattr(FakeEngine, "collect", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        done.conductor.conduct()
    assert done.target.cleaned_up == 1


def stop_during(done: Walk, ordinal: int) -> None:
    def interrupt(invocation: Invocation) -> Completed | None:
        if invocation.argv[1] != str(ordinal):
            return None
        done.conductor.stop.request()
        return Completed(0, "", "", 1, interrupted=True)

    done.host.meanwhile = interrupt


def test_an_interrupt_keeps_finished_steps_and_drops_the_one_in_flight(
    walk: Callable[..., Walk], steps: tuple[Step, ...]
) -> None:
    done = walk(*steps)
    stop_during(done, 2)
    with pytest.raises(Interrupted):
        done.conductor.conduct()
    assert [record.ordinal for record in done.records] == [0, 1]
    assert done.host.interrupts == 1
    assert done.target.cleaned_up == 1


def test_resuming_runs_only_what_is_missing(walk: Callable[..., Walk], steps: tuple[Step, ...]) -> None:
    first = walk(*steps)
    stop_during(first, 2)
    with pytest.raises(Interrupted):
        first.conductor.conduct()
    before = first.records
    second = walk(*steps)
    second.conductor.conduct()
    assert [step.ordinal for step in second.engine.prepared if step.kind is StepKind.CELL] == [2, 3]
    assert [record.ordinal for record in second.records] == [0, 1, 2, 3]
    assert [record.started_unix_ns for record in second.records[:2]] == [
        record.started_unix_ns for record in before
    ]


def test_failed_steps_are_results_and_not_run_again_by_resuming(
    walk: Callable[..., Walk], steps: tuple[Step, ...]
) -> None:
    walk(*steps, outcomes={1: Outcome(reason="no")}).conductor.conduct()
    again = walk(*steps)
    again.conductor.conduct()
    assert again.engine.prepared == []
    assert again.statuses == ["finished", "failed", "finished", "finished"]


@pytest.mark.parametrize("written_by", ["a layout step", "a measured write"])
def test_files_that_are_missing_when_resuming_are_written_again(
    written_by: str, walk: Callable[..., Walk], step: Callable[..., Step], work_directory: Path
) -> None:
    write = step(cell={"rw": "write"}, files="fresh")
    steps = numbered(layout_step(LAYOUT, "e") if written_by == "a layout step" else write, step(), step())
    first = walk(*steps)
    stop_during(first, 1)
    with pytest.raises(Interrupted):
        first.conductor.conduct()
    shutil.rmtree(data_folder(work_directory, LAYOUT))
    second = walk(*steps)
    second.conductor.conduct()
    assert second.statuses == ["finished"] * 3
    kinds = [(each.kind, each.files) for each in second.engine.prepared]
    assert kinds == [(StepKind.LAYOUT, "fresh"), (StepKind.CELL, "reuse"), (StepKind.CELL, "reuse")]
    assert layout_present(LAYOUT, work_directory)


def test_files_that_cannot_be_written_again_fail_the_cell_with_the_reason(
    walk: Callable[..., Walk], step: Callable[..., Step], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = walk(*numbered(step()))
    monkeypatch.setattr(FakeEngine, "collect", lambda *_: Outcome(reason="no space left"))
    done.conductor.conduct()
    assert done.statuses == ["failed"]
    assert done.records[0].reason == "the files could not be written: no space left"


def test_a_layout_that_a_measured_write_has_left_is_not_written_twice(
    walk: Callable[..., Walk], step: Callable[..., Step]
) -> None:
    done = walk(*numbered(step(cell={"rw": "write"}, files="fresh"), layout_step(LAYOUT, "e"), step()))
    done.conductor.conduct()
    assert [each.ordinal for each in done.engine.prepared] == [0, 2]
    assert done.records[1].facts == {"reused": True}


def test_only_one_layout_lies_on_the_disk_at_a_time(
    walk: Callable[..., Walk], step: Callable[..., Step], work_directory: Path
) -> None:
    seen: list[list[str]] = []
    done = walk(*numbered(layout_step(LAYOUT, "e"), step(), layout_step(OTHER, "e"), step(layout=OTHER)))
    done.host.meanwhile = lambda invocation: seen.append(
        sorted(entry.name for entry in work_directory.iterdir())
    )
    done.conductor.conduct()
    assert seen == [["leadline-files-1x64k"]] * 2 + [["leadline-files-1x128k"]] * 2


def test_a_write_that_creates_its_files_starts_from_none(
    walk: Callable[..., Walk], step: Callable[..., Step], work_directory: Path
) -> None:
    (data_folder(work_directory, LAYOUT) / "9.9").write_text("left by an earlier try")
    walk(*numbered(step(cell={"rw": "write"}, files="fresh"))).conductor.conduct()
    assert [entry.name for entry in data_folder(work_directory, LAYOUT).iterdir()] == ["0.0"]


def test_whether_caches_were_dropped_is_recorded(
    walk: Callable[..., Walk], step: Callable[..., Step], monkeypatch: pytest.MonkeyPatch
) -> None:
    from leadline.run.observe.caches import CacheDrop

    drops = iter([CacheDrop(True), CacheDrop(False, "only root may")])
    monkeypatch.setattr("leadline.run.conductor.drop_caches", lambda: next(drops))
    done = walk(
        *numbered(layout_step(LAYOUT, "e"), step(cache="cold"), step(cache="cold"), step(cache="hot"), step())
    )
    done.conductor.conduct()
    assert [record.facts["caches"] for record in done.records[1:]] == [
        "dropped",
        "drop not permitted",
        "kept",
        "kept",
    ]
    assert done.records[2].facts["caches_reason"] == "only root may"


def on(label: str, *steps: Step, clients: int = 0) -> list[Step]:
    return [Step(**{**each.__dict__, "site": Site("lab", label, clients=clients)}) for each in steps]


def test_a_site_is_taken_down_before_the_next_comes_up_and_comes_up_again_for_a_later_round(
    walk: Callable[..., Walk], step: Callable[..., Step]
) -> None:
    cell = step(files="none", layout=None)
    done = walk(*numbered(*on("xfs", cell, cell), *on("ext4", cell), *on("xfs", cell)))
    done.conductor.conduct()
    assert done.grounds.told == ["up xfs", "down xfs", "up ext4", "down ext4", "up xfs", "down xfs"]
    assert done.statuses == ["finished"] * 4


def test_a_site_that_cannot_be_brought_up_fails_its_steps_and_the_others_are_measured(
    walk: Callable[..., Walk], step: Callable[..., Step]
) -> None:
    cell = step(files="none", layout=None)
    done = walk(
        *numbered(*on("cephfs", cell, cell), *on("ext4", cell)), refused={"cephfs": "ceph-mon did not serve"}
    )
    done.conductor.conduct()
    assert done.statuses == ["failed", "failed", "finished"]
    assert {record.reason for record in done.records[:2]} == {"ceph-mon did not serve"}


def test_the_only_site_that_cannot_be_brought_up_ends_the_run_before_its_first_step(
    walk: Callable[..., Walk], step: Callable[..., Step]
) -> None:
    done = walk(*numbered(*on("cephfs", step(), step())), refused={"cephfs": "ceph-mon did not serve"})
    with pytest.raises(UserError, match="ceph-mon did not serve"):
        done.conductor.conduct()
    assert done.records == []


EACH = Layout("files-1x64k-each", 1, 1, 65536, clients=3)


def test_several_clients_work_on_files_of_their_own_and_are_told_apart(
    walk: Callable[..., Walk], step: Callable[..., Step], work_directory: Path
) -> None:
    seen: list[Path] = []
    cells = [step(cell={"clients": clients}, layout=EACH) for clients in (3, 2)]
    done = walk(*numbered(*on("glusterfs", layout_step(EACH, "e"), *cells, clients=3)))
    done.host.meanwhile = lambda invocation: seen.append(invocation.working_directory)
    done.conductor.conduct()
    assert done.statuses == ["finished"] * 3
    hosts = [sorted({part.host for part in record.measurements}) for record in done.records[1:]]
    assert hosts == [["client1", "client2", "client3"], ["client1", "client2"]]
    assert [each["name"] for each in done.records[2].facts["clients"]] == ["client1", "client2"]
    folder = data_folder(work_directory, EACH)
    assert {path.relative_to(folder).as_posix() for path in seen} == {"client1", "client2", "client3"}


def test_a_client_that_fails_fails_the_step_by_name(
    walk: Callable[..., Walk], step: Callable[..., Step]
) -> None:
    done = walk(
        *numbered(*on("glusterfs", layout_step(EACH, "e"), step(cell={"clients": 3}, layout=EACH), clients=3))
    )
    done.host.meanwhile = lambda invocation: (
        Completed(None, "", "", 1, reason="ssh lost the connection")
        if invocation.argv[1] == "1" and invocation.working_directory.name == "client2"
        else None
    )
    done.conductor.conduct()
    assert done.records[1].reason == "client2: ssh lost the connection"


def test_more_clients_than_there_are_fail_in_a_sentence(
    walk: Callable[..., Walk], step: Callable[..., Step]
) -> None:
    done = walk(*numbered(*on("ext4", step(cell={"clients": 2}, files="none", layout=None), clients=1)))
    done.conductor.conduct()
    assert "ext4 has 1 client where 2 are asked for" in str(done.records[0].reason)


@pytest.mark.root
def test_results_that_no_longer_fit_end_the_walk_in_a_sentence_and_lose_nothing(
    walk: Callable[..., Walk], steps: tuple[Step, ...], mounted: Callable[..., Path]
) -> None:
    results = mounted("tmpfs", "size=2m") / "run"
    done = walk(*steps, folder=results)
    filler = results.parent / "filler"

    def fill(invocation: Invocation) -> None:
        if invocation.argv[1] == "2":
            fill_up(filler)

    done.host.meanwhile = fill
    with pytest.raises(UserError, match="resume: finished steps are safe"):
        done.conductor.conduct()
    assert done.target.cleaned_up == 1
    assert [record.ordinal for record in done.records] == [0, 1]
    done.conductor.folder.close()
    filler.unlink()
    again = walk(*steps, folder=results)
    again.conductor.conduct()
    assert again.statuses == ["finished"] * 4
    again.conductor.folder.close()


def fill_up(path: Path) -> None:
    """Until the filesystem takes no byte more."""
    with path.open("wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError as error:
                assert error.errno == errno.ENOSPC
    os.sync()
