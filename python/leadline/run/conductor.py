"""Walks the plan: the only place that starts things, and the only place where engines, hosts, targets and the store meet.

Every step ends as a record, also one that failed; records are saved before the next step starts, so that whatever
happens to leadline costs at most the step in flight. What steps stand on is brought up when the first step needs it and taken
down when a step needs another (grounds.py).
"""

from __future__ import annotations

import shlex
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from leadline.errors import UserError
from leadline.plan.drafts import layout_step
from leadline.plan.planner import Planner
from leadline.plan.sites import Site
from leadline.plan.steps import Layout, Step
from leadline.run.gathering import gather, together
from leadline.run.grounds import Ground, Grounds
from leadline.run.observe.caches import drop_caches
from leadline.run.observe.counters import CounterSampler
from leadline.run.observe.group_clock import GroupClock
from leadline.run.phases import with_requests_named
from leadline.run.places import files_present, note_written, places_for
from leadline.run.seams import Completed, Elsewhere, Engine, Invocation, Now, Outcome, Place
from leadline.store.records import Status, StepKind, StepRecord
from leadline.store.run_folder import RunFolder
from leadline.store.series import SeriesTable


class Watcher(Protocol):
    """Told what happens, as it happens: the live screen, plain lines, or nothing."""

    def step_started(self, step: Step, remaining: Sequence[Step]) -> None: ...

    def now(self, step: Step, now: Now) -> None: ...

    def step_finished(self, record: StepRecord) -> None: ...

    def said(self, line: str) -> None:
        """What happens between steps: a target comes up or goes down."""
        ...


SEED_STRIDE = 7919
"""Between the seeds of two clients, so that no client repeats another's offsets in another repeat."""


class Interrupted(Exception):
    """The user asked to stop; finished steps are kept, the step in flight is not."""


def _nobody() -> None:
    """Nothing runs."""


Foretell = Callable[[Step, Sequence[StepRecord]], Mapping[str, str]]
"""A prediction's step and all records so far -> its documents; raises UserError where nothing can be foretold."""


def _nobody_foretells(step: Step, done: Sequence[StepRecord]) -> Mapping[str, str]:
    raise UserError("there is nobody here to foretell anything; run the campaign with `leadline run`")


def _give_up() -> None:
    """In the midst of bringing a site up, which undoes what it has made."""
    raise Interrupted


@dataclass
class Stop:
    """Set by a signal handler: ends the step in flight and then the walk."""

    requested: bool = False
    interrupt: Callable[[], None] = _nobody
    """Asks whoever works on the step in flight to end."""

    def request(self) -> None:
        """Safe to call from a signal handler, any number of times."""
        self.requested = True
        self.interrupt()


@dataclass
class Conductor:
    """Everything that a walk needs."""

    planner: Planner
    folder: RunFolder
    engines: Mapping[str, Engine]
    grounds: Grounds
    watcher: Watcher
    stop: Stop
    job_file: Path | None = None
    foretell: Foretell = _nobody_foretells
    """Comes from above: what it needs of the analysis, nothing in run/ may know."""
    _done: list[StepRecord] = field(default_factory=list)
    _standing: ExitStack = field(default_factory=ExitStack)
    _ground: Ground | None = None
    _refused: tuple[Site, str] | None = None
    """The site that could not be brought up, and why: its other steps fail with the same sentence, without another try."""

    def conduct(self) -> None:
        """Runs every step that has no record yet. Raises Interrupted, or UserError when results can no longer be kept."""
        self._done = self.folder.records()
        self._clear_what_is_done()
        with self._standing:
            self._stand_on_the_only()
            while (step := self.planner.next_step(self._done)) is not None:
                self._keep(self._perform(step))

    def stand_on(self, site: Site) -> Ground:
        """The ground of a site, brought up in place of the one before; raises UserError when it cannot be."""
        if self._ground is None or self._ground.site != site:
            self._leave()
            self.stop.interrupt = _give_up
            try:
                self._ground = self._standing.enter_context(self.grounds.standing(site))
            except KeyboardInterrupt:  # SIGTERM while a lab comes up
                self.stop.requested = True
                raise Interrupted from None
            finally:
                self.stop.interrupt = self._ground.interrupt if self._ground else _nobody
        return self._ground

    def _leave(self) -> None:
        self._ground, self.stop.interrupt = None, _nobody
        self._standing.close()

    def _clear_what_is_done(self) -> None:
        """A run that was killed while it left a site comes back to the others only."""
        ahead = {step.site for step in self.planner.remaining(self._done)}
        for site in {step.site for step in self.planner.remaining(())} - ahead:
            self.grounds.clear(site)

    def _stand_on_the_only(self) -> None:
        """Where all steps stand on one site, its refusal ends the run; where there are others, they are still worth measuring."""
        sites = {step.site for step in self.planner.remaining(self._done)}
        if len(sites) == 1:
            self.stand_on(sites.pop())

    def _keep(self, performed: tuple[StepRecord, Mapping[str, bytes]]) -> None:
        record, raw = performed
        if self.stop.requested:
            raise Interrupted
        self.folder.save(record, raw)
        self._done = [*(each for each in self._done if each.ordinal != record.ordinal), record]
        self.watcher.step_finished(record)

    def _perform(self, step: Step) -> tuple[StepRecord, Mapping[str, bytes]]:
        if self.stop.requested:
            raise Interrupted
        self.watcher.step_started(step, self.planner.remaining(self._done))
        try:
            if step.kind is StepKind.PREDICTION:
                return self._predicted(step), {}
            return self._perform_on(step, self._ground_of(step))
        except UserError as error:
            return _failed(step, str(error)), {}
        except OSError as error:
            return _failed(step, f"{error.strerror} ({error.filename})"), {}

    def _predicted(self, step: Step) -> StepRecord:
        """From what was measured so far: nothing of what it foretells."""
        started_unix_ns, began = time.time_ns(), time.monotonic_ns()
        documents = self.foretell(step, self._done)
        return replace(
            _reused(step),
            facts={},
            documents=documents,
            started_unix_ns=started_unix_ns,
            wall_ns=time.monotonic_ns() - began,
        )

    def _ground_of(self, step: Step) -> Ground:
        if self._refused is not None and self._refused[0] == step.site:
            raise UserError(self._refused[1])
        try:
            return self.stand_on(step.site)
        except UserError as error:
            self._refused = (step.site, str(error))
            raise

    def _perform_on(self, step: Step, ground: Ground) -> tuple[StepRecord, Mapping[str, bytes]]:
        gone = ground.target.check()
        if gone is not None:
            return _failed(step, gone), {}
        if step.kind is StepKind.LAYOUT and step.layout and files_present(step.layout, ground):
            return _reused(step), {}
        return self._measure(step, ground, self._places(step, ground))

    def _places(self, step: Step, ground: Ground) -> Sequence[Place]:
        """Where each client works, with the files there that the step counts on."""
        if step.files == "reuse" and step.layout and not files_present(step.layout, ground):
            self._lay_out(step.layout, step.site)
        return places_for(step, ground)

    def _lay_out(self, layout: Layout, site: Site) -> None:
        """Files that an earlier step wrote, a layout or a measured write, are missing (a resumed run, a new round): written again."""
        record, _ = self._perform(layout_step(layout, "files written again", site))
        if record.status is Status.FAILED:
            raise UserError(f"the files could not be written: {record.reason}")

    def _measure(
        self, step: Step, ground: Ground, places: Sequence[Place]
    ) -> tuple[StepRecord, Mapping[str, bytes]]:
        engine = self.engines[step.engine]
        clients = [client.name for client in ground.clients[: len(places)]]
        with _scratch(self.folder.path) as scratch:
            facts = _settle_caches(step, ground)
            shares = dict(zip(clients, _shares(step, len(places)), strict=True))
            invocations = {
                name: engine.prepare(shares[name], place, self._own_scratch(scratch, name, len(places)))
                for name, place in zip(clients, places, strict=True)
            }
            started = time.time_ns()
            elsewhere = [each for each in ground.elsewhere if each.concerns(clients)]
            with (
                _all_of(elsewhere),
                CounterSampler(
                    ground.devices,
                    ground.interfaces,
                    namespaces=ground.namespaces,
                    groups=GroupClock(ground.groups),
                    queues=ground.queues,
                ) as sampler,
            ):
                completed = ground.crew.run(
                    invocations, sampler.watch_engine, lambda line: self._tell(step, engine, line)
                )
            outcomes = {
                name: with_requests_named(engine.collect(shares[name], invocations[name], completed[name]))
                for name in clients
            }
            if step.kind is StepKind.LAYOUT or step.files == "fresh":
                note_written(step, ground, outcomes.values())
            first = invocations[clients[0]]
            machines = {client.name: client.machine for client in ground.clients}
            record, raw = _put_together(step, first, completed, outcomes, machines, started)
            counted: tuple[CounterSampler | Elsewhere, ...] = (sampler, *elsewhere)
            record = replace(
                record,
                counters=SeriesTable.group(series for each in counted for series in each.series()),
                totals={name: gained for each in counted for name, gained in each.totals().items()},
                warnings=(*record.warnings, *(note for each in counted for note in each.notes())),
                facts={**_standing_facts(step, ground), **facts, **record.facts, **ground.crew.facts()},
            )
            return record, raw

    def _own_scratch(self, scratch: Path, client: str, clients: int) -> Path:
        own = scratch / client if clients > 1 else scratch
        own.mkdir(exist_ok=True)
        if self.job_file is not None:
            shutil.copy(self.job_file, own / "job.fio")
        return own

    def _tell(self, step: Step, engine: Engine, line: str) -> None:
        now = engine.now(line)
        if now is not None:
            self.watcher.now(step, now)


@contextmanager
def _all_of(elsewhere: Sequence[Elsewhere]) -> Iterator[None]:
    """Looks at all other machines for the length of the block."""
    with ExitStack() as looking:
        for each in elsewhere:
            looking.enter_context(each)
        yield


def _shares(step: Step, clients: int) -> list[Step]:
    """The step as each client is asked for it: its own files, its share of the bytes, offsets of its own."""
    layout = step.layout and replace(step.layout, clients=0)
    share = None if step.expected_bytes is None else step.expected_bytes // clients
    return [
        replace(step, layout=layout, expected_bytes=share, seed=step.seed + SEED_STRIDE * number)
        for number in range(clients)
    ]


def _standing_facts(step: Step, ground: Ground) -> dict[str, Any]:
    """What the step stood on, and whether its engine went past the mount."""
    ioengine = step.cell.get("ioengine")
    return {**ground.step_facts, **({"access": ioengine} if ioengine in ground.accesses else {})}


def _settle_caches(step: Step, ground: Ground) -> dict[str, Any]:
    if step.cache != "cold":
        return {
            "caches": "kept",
            "caches_reason": "the campaign asks for hot caches" if step.cache == "hot" else None,
        }
    own = ground.clear_caches()
    drop = drop_caches()
    return {
        "caches": "dropped" if drop.dropped else "drop not permitted",
        "caches_reason": drop.reason,
        **own,
    }


def _put_together(
    step: Step,
    first: Invocation,
    completed: Mapping[str, Completed],
    outcomes: Mapping[str, Outcome],
    machines: Mapping[str, str],
    started_unix_ns: int,
) -> tuple[StepRecord, Mapping[str, bytes]]:
    """One client's record is what it always was; several are gathered."""
    if len(outcomes) == 1:
        (outcome,), (ended,) = outcomes.values(), completed.values()
    else:
        outcome, ended = gather(outcomes, completed, machines), together(completed)
    return _record(step, first, ended, outcome, started_unix_ns), outcome.raw


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
        documents=outcome.documents,
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
