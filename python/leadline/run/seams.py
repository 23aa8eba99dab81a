"""The seams of the run layer: small protocols of verbs. The conductor is the only place where their two sides meet.

An engine turns a step into a command line and its output into measurements; a host runs command lines; a target makes a
directory ready, describes it and clears it up. A fake stands at each for fast tests, never in place of a real run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from leadline.plan.steps import Step
from leadline.spec.object_store import ObjectStore
from leadline.store.records import JobUse, Measurement
from leadline.store.series import Series


@dataclass(frozen=True)
class Invocation:
    """A command line, ready to be started."""

    argv: tuple[str, ...]
    scratch: Path
    """An own, empty folder for what the engine writes beside the data."""
    working_directory: Path
    timeout_seconds: float
    by_hand: tuple[str, ...] = ()
    """The same for a person to repeat in the user's directory: without folders that are gone when the step is over."""
    environment: Mapping[str, str] = field(default_factory=dict)
    takes_answers: bool = False
    """Whether it waits for its kind on other clients: what it asks on its output is answered on its input (`Gate.meet`)."""


@dataclass(frozen=True)
class Access:
    """How an ioengine of fio reaches a target past its mount, or without one: what a target adds to fio's command.

    A campaign names the ioengine in the field's word ("nfs", "gfapi", "rbd"); the target says what that takes here.
    """

    ioengine: str
    """As fio is told: "gfapi", "external:/.../fio-nfs.so"."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options of the engine, the same for all jobs: {"volume": "leadline", "brick": "10.77.1.1"}."""
    spread: tuple[Mapping[str, str], ...] = ()
    """One set of further options a server (or image): the jobs are dealt out over them as evenly as can be."""
    environment: Mapping[str, str] = field(default_factory=dict)
    root: str | None = None
    """The work directory under the engine's own naming, where it sees the files of the mount; None: its files are its own, which
    no mount shows, and start from nothing whenever the target is brought up."""
    named: bool = True
    """Whether it works on files with names; an image or a device has none."""

    def to_json(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Access:
        """The inverse of `to_json`."""
        return cls(**{**document, "spread": tuple(document["spread"])})


@dataclass(frozen=True)
class Bucket:
    """Where a client's objects lie."""

    store: ObjectStore
    folder: str
    """leadline's own in it."""


@dataclass(frozen=True)
class Place:
    """Where a client performs a step."""

    data: Path
    """The folder of the step's files as this client sees it; where there is no mount, an empty folder of leadline's own."""
    client: str = ""
    """Its name, where several take part: files of an engine's own bear it."""
    accesses: Mapping[str, Access] = field(default_factory=dict)
    """By the ioengine that a campaign names."""
    within: str = ""
    """The folder's path inside the work directory, for engines that see the same files under another root."""
    number: int = 0
    """Of the client, among those that take part."""
    counting: Mapping[str, Any] = field(default_factory=dict)
    """Where the filesystem counts the requests that reach it, as fields of the metadata engine's step; empty where nobody counts."""
    addresses: tuple[str, ...] = ()
    """Of all clients that take part, by number, where they are on a network and talk to each other."""
    clients: tuple[Client, ...] = ()
    """Of a step that one command performs through the mounts of several clients: all of them, this one first."""
    bucket: Bucket | None = None
    """Of a step on objects."""


@dataclass(frozen=True)
class Completed:
    """What came of an invocation."""

    exit_code: int | None
    """None when it was ended by a signal."""
    stdout: str
    stderr: str
    wall_ns: int
    timed_out: bool = False
    interrupted: bool = False
    cpu_seconds: float | None = None
    """User and system time of the engine and all its children."""
    reason: str | None = None
    """Why it could not run at all."""
    started_ns: int = 0
    """When the command itself began, on this machine's monotonic clock: after the gate, where there is one."""
    ended_ns: int = 0


@dataclass(frozen=True)
class Outcome:
    """What an engine reads from its output. `reason` is set when the step must not count, whatever the exit code."""

    measurements: tuple[Measurement, ...] = ()
    jobs: tuple[JobUse, ...] = ()
    throughput: tuple[Series, ...] = ()
    warnings: tuple[str, ...] = ()
    reason: str | None = None
    raw: Mapping[str, bytes] = field(default_factory=dict)
    """Its output as it was, by name, to be kept."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)
    """What it came to, where that is no rate: a document by its kind ("posix"), as the analysis reads it."""


@dataclass(frozen=True)
class Now:
    """What is known of a step while it runs."""

    bandwidth_bytes_per_second: float
    iops: float
    share_done: float | None = None


class Engine(Protocol):
    """step -> command, output -> measurements."""

    def check(self, steps: Sequence[Step]) -> None:
        """Whether this machine can perform the steps, before the first one runs; raises UserError."""
        ...

    def prepare(self, step: Step, place: Place, scratch: Path) -> Invocation:
        """The command that performs the step on the files under `place`; raises UserError when this machine cannot."""
        ...

    def collect(self, step: Step, invocation: Invocation, completed: Completed) -> Outcome:
        """Reads the output; a faulty output is a reason, never an exception."""
        ...

    def now(self, line: str) -> Now | None:
        """What a line of live output says; None for lines that say nothing."""
        ...


class Gate(Protocol):
    """Where clients wait for each other: so that they start together, and at borders that their commands ask for."""

    def wait(self) -> None:
        """Returns when all are there; raises threading.BrokenBarrierError when one of them cannot come."""
        ...

    def abort(self) -> None:
        """This one cannot come: nobody shall wait for it."""
        ...

    def meet(self, number: int, greatest: int) -> int:
        """The command asks for the others at its barrier `number`; returns the greatest of what all have brought.

        Raises threading.BrokenBarrierError when one of them has ended.
        """
        ...

    def leave(self) -> None:
        """The command has ended: nobody shall wait for it any more."""
        ...


class Host(Protocol):
    """Where a command runs."""

    @property
    def name(self) -> str:
        """As results are labelled with it."""
        ...

    def run(
        self,
        invocation: Invocation,
        on_start: Callable[[int], None],
        on_line: Callable[[str], None],
        gate: Gate | None = None,
    ) -> Completed:
        """Runs it to its end, its timeout or an interrupt; tells the process id and each line of output as they come.

        With a gate the command is brought to the point where only its exec is left, and goes on when all others are there too.
        Nothing that it started is left running. What it wrote into the invocation's scratch folder is there afterwards.
        """
        ...

    def interrupt(self) -> None:
        """Asks the running command to end now; safe to call from a signal handler, harmless when nothing runs."""
        ...


@dataclass(frozen=True)
class Client:
    """A place that generates load: a host, and the work directory as that host sees it."""

    name: str
    host: Host
    directory: Path
    namespace: str | None = None
    """The network namespace it lives in, for its own counters; None for hosts of their own."""
    machine: str = "local"
    """Whose processors it uses: namespaces of one machine share them."""
    groups: tuple[str, ...] = ()
    """Control groups that hold it."""


class Crew(Protocol):
    """The clients of a step, and how they work at once."""

    def run(
        self,
        invocations: Mapping[str, Invocation],
        on_start: Callable[[int], None],
        on_line: Callable[[str], None],
    ) -> Mapping[str, Completed]:
        """Runs one invocation a client, by the client's name, all started together; every client has an entry in the result."""
        ...

    def interrupt(self) -> None:
        """Asks all to end now; safe to call from a signal handler."""
        ...

    def facts(self) -> Mapping[str, Any]:
        """What is known of the last run beside its results, e.g. how far apart the clients started."""
        ...


class Elsewhere(Protocol):
    """What another machine counts beside a step: entered before the load begins, left when it has ended, asked afterwards."""

    def concerns(self, clients: Sequence[str]) -> bool:
        """Whether it is the machine of one of these clients."""
        ...

    def __enter__(self) -> object: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

    def series(self) -> Sequence[Series]:
        """Rates and levels over time, by names that begin with `host.<name>.`."""
        ...

    def totals(self) -> Mapping[str, float]:
        """What each counter gained."""
        ...

    def notes(self) -> Sequence[str]:
        """What went wrong with the counters themselves, in sentences."""
        ...


class Target(Protocol):
    """Where the files lie."""

    def prepare(self) -> Path:
        """Makes it ready and returns the directory to work in; raises UserError when it is unfit or unsafe."""
        ...

    def check(self) -> str | None:
        """None while it is still what it was at `prepare`; else a sentence (gone, replaced, read-only)."""
        ...

    def clean_up(self) -> None:
        """Removes what leadline made, and only that."""
        ...
