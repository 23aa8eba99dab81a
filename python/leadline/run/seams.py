"""The seams of the run layer: small protocols of verbs. The conductor is the only place where their two sides meet.

An engine turns a step into a command line and its output into measurements; a host runs command lines; a target makes a
directory ready, describes it and clears it up. A fake stands at each for fast tests, never in place of a real run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from leadline.plan.steps import Step
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

    def prepare(self, step: Step, data: Path, scratch: Path) -> Invocation:
        """The command that performs the step on the files under `data`; raises UserError when this machine cannot."""
        ...

    def collect(self, step: Step, invocation: Invocation, completed: Completed) -> Outcome:
        """Reads the output; a faulty output is a reason, never an exception."""
        ...

    def now(self, line: str) -> Now | None:
        """What a line of live output says; None for lines that say nothing."""
        ...


class Host(Protocol):
    """Where a command runs."""

    def run(
        self, invocation: Invocation, on_start: Callable[[int], None], on_line: Callable[[str], None]
    ) -> Completed:
        """Runs it to its end, its timeout or an interrupt; tells the process id and each line of output as they come.

        Nothing that it started is left running.
        """
        ...

    def interrupt(self) -> None:
        """Asks the running command to end now; safe to call from a signal handler, harmless when nothing runs."""
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
