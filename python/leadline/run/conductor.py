"""Walks the plan: the only place that starts things, and the only place where engines, hosts, targets and the store meet.

Every step ends as a record, also one that failed; records are saved before the next step starts, so that whatever
happens to leadline costs at most the step in flight.
"""

from __future__ import annotations

import shlex
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from leadline.errors import UserError
from leadline.plan.design import layout_step
from leadline.plan.planner import Planner
from leadline.plan.steps import Layout, Step
from leadline.run.layouts import data_folder, layout_present, remove_other_layouts
from leadline.run.observe.caches import drop_caches
from leadline.run.observe.counters import CounterSampler
from leadline.run.seams import Completed, Engine, Host, Invocation, Now, Outcome, Target
from leadline.store.records import Status, StepKind, StepRecord
from leadline.store.run_folder import RunFolder
from leadline.store.series import SeriesTable


class Watcher(Protocol):
    """Told what happens, as it happens: the live screen, plain lines, or nothing."""

    def step_started(self, step: Step, remaining: Sequence[Step]) -> None: ...

    def now(self, step: Step, now: Now) -> None: ...

    def step_finished(self, record: StepRecord) -> None: ...


class Interrupted(Exception):
    """The user asked to stop; finished steps are kept, the step in flight is not."""


@dataclass
class Stop:
    """Set by a signal handler: ends the step in flight and then the walk."""

    host: Host
    requested: bool = False

    def request(self) -> None:
        """Safe to call from a signal handler, any number of times."""
        self.requested = True
        self.host.interrupt()


@dataclass
class Conductor:
    """Everything that a walk needs."""

    planner: Planner
    folder: RunFolder
    engines: Mapping[str, Engine]
    host: Host
    target: Target
    watcher: Watcher
    stop: Stop
    devices: Sequence[str] = ()
    """Block devices under the directory, whose counters are watched."""
    interfaces: Sequence[str] = ()
    job_file: Path | None = None
    _done: list[StepRecord] = field(default_factory=list)

    def conduct(self) -> None:
        """Runs every step that has no record yet. Raises Interrupted, or UserError when results can no longer be kept."""
        self._done = self.folder.records()
        directory = self.target.prepare()
        try:
            while (step := self.planner.next_step(self._done)) is not None:
                self._keep(self._perform(step, directory))
        finally:
            self.target.clean_up()

    def _keep(self, performed: tuple[StepRecord, Mapping[str, bytes]]) -> None:
        record, raw = performed
        if self.stop.requested:
            raise Interrupted
        self.folder.save(record, raw)
        self._done = [*(each for each in self._done if each.ordinal != record.ordinal), record]
        self.watcher.step_finished(record)

    def _perform(self, step: Step, directory: Path) -> tuple[StepRecord, Mapping[str, bytes]]:
        if self.stop.requested:
            raise Interrupted
        self.watcher.step_started(step, self.planner.remaining(self._done))
        gone = self.target.check()
        if gone is not None:
            return _failed(step, gone), {}
        if step.kind is StepKind.LAYOUT and step.layout and layout_present(step.layout, directory):
            return _reused(step), {}
        try:
            data = self._data_for(step, directory)
            facts = self._settle_caches(step)
            return self._measure(step, data, facts)
        except UserError as error:
            return _failed(step, str(error)), {}
        except OSError as error:
            return _failed(step, f"{error.strerror} ({error.filename})"), {}

    def _data_for(self, step: Step, directory: Path) -> Path:
        """The folder that the step works in, with the files in it that it counts on."""
        if step.files in ("none", "own") or step.layout is None:
            return data_folder(directory, None)
        remove_other_layouts(directory, step.layout)
        data = data_folder(directory, step.layout)
        if step.files == "fresh":
            shutil.rmtree(data, ignore_errors=True)
            data.mkdir()
        elif not layout_present(step.layout, directory):
            self._lay_out(step.layout, directory)
        return data

    def _lay_out(self, layout: Layout, directory: Path) -> None:
        """Files that an earlier step wrote, a layout or a measured write, are missing (a resumed run): written again."""
        record, _ = self._perform(layout_step(layout, "files written again"), directory)
        if record.status is Status.FAILED:
            raise UserError(f"the files could not be written: {record.reason}")

    def _settle_caches(self, step: Step) -> dict[str, Any]:
        if step.cache != "cold":
            return {
                "caches": "kept",
                "caches_reason": "the campaign asks for hot caches" if step.cache == "hot" else None,
            }
        drop = drop_caches()
        return {"caches": "dropped" if drop.dropped else "drop not permitted", "caches_reason": drop.reason}

    def _measure(
        self, step: Step, data: Path, facts: Mapping[str, Any]
    ) -> tuple[StepRecord, Mapping[str, bytes]]:
        engine = self.engines[step.engine]
        with _scratch(self.folder.path) as scratch:
            if self.job_file is not None:
                shutil.copy(self.job_file, scratch / "job.fio")
            invocation = engine.prepare(step, data, scratch)
            started = time.time_ns()
            with CounterSampler(self.devices, self.interfaces) as sampler:
                completed = self.host.run(
                    invocation, sampler.watch_engine, lambda line: self._tell(step, engine, line)
                )
            outcome = engine.collect(step, invocation, completed)
            record = _record(step, invocation, completed, outcome, started)
            record = replace(
                record,
                counters=SeriesTable.group(sampler.series()),
                totals=sampler.totals(),
                warnings=(*record.warnings, *sampler.notes()),
                facts={**facts, **record.facts},
            )
            return record, outcome.raw

    def _tell(self, step: Step, engine: Engine, line: str) -> None:
        now = engine.now(line)
        if now is not None:
            self.watcher.now(step, now)


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """An own folder for one step's output, beside the results; what a killed leadline left there goes first."""
    for left in folder.glob("scratch-*"):
        shutil.rmtree(left, ignore_errors=True)
    path = Path(tempfile.mkdtemp(prefix="scratch-", dir=folder))
    try:
        yield path.resolve()
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _record(
    step: Step, invocation: Invocation, completed: Completed, outcome: Outcome, started_unix_ns: int
) -> StepRecord:
    reason = completed.reason or _hung(step, completed) or outcome.reason
    facts = dict(outcome.facts)
    if invocation.by_hand:
        facts["by_hand"] = shlex.join(invocation.by_hand)
    if completed.cpu_seconds is not None:
        facts["engine_cpu_seconds"] = completed.cpu_seconds
    return StepRecord(
        ordinal=step.ordinal,
        kind=step.kind,
        experiment=step.experiment,
        cell=step.cell,
        repeat=step.repeat,
        status=Status.FAILED if reason else Status.FINISHED,
        reason=reason,
        engine=step.engine,
        started_unix_ns=started_unix_ns,
        wall_ns=completed.wall_ns,
        command=invocation.argv,
        exit_code=completed.exit_code,
        measurements=outcome.measurements,
        jobs=outcome.jobs,
        throughput=outcome.throughput,
        warnings=outcome.warnings,
        facts=facts,
    )


def _hung(step: Step, completed: Completed) -> str | None:
    if not completed.timed_out:
        return None
    return f"it did not end within {step.timeout_seconds:.0f} s and was killed with all its children; raise `timeout` if it is only slow"


def _failed(step: Step, reason: str) -> StepRecord:
    return StepRecord(
        ordinal=step.ordinal, kind=step.kind, experiment=step.experiment, cell=step.cell, repeat=step.repeat, status=Status.FAILED,
        reason=reason, engine=step.engine, started_unix_ns=time.time_ns(),
    )  # fmt: skip


def _reused(step: Step) -> StepRecord:
    """The files are there, written by a measured step: nothing to do, and that is recorded."""
    return StepRecord(
        ordinal=step.ordinal, kind=step.kind, experiment=step.experiment, cell=step.cell, repeat=step.repeat, status=Status.FINISHED,
        engine=step.engine, started_unix_ns=time.time_ns(), facts={"reused": True},
    )  # fmt: skip
