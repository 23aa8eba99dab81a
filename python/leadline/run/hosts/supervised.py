"""Commands on this machine, in whatever surroundings: under `leadline-engine supervise`, which ends the whole tree of processes
on a timeout, on an interrupt, and when leadline itself is killed (fio's jobs call setsid(2), so a process group would not reach them).

With a gate the supervisor takes orders: it says when only the start is left to do, and starts at the word. Commands that wait for
their kind on other clients are answered by the same way.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any

from leadline.run.deadline import killed_after
from leadline.run.executable import engine_executable
from leadline.run.hosts.answering import LEFT_ALONE, Answering
from leadline.run.hosts.asking import answer
from leadline.run.seams import Completed, Gate, Invocation

GRACE_SECONDS = 3.0
READY_WITHIN_SECONDS = 30.0
"""How long a command may take to get to the gate."""
READY = "leadline-engine: ready"
REPORT = "supervision.json"
OUTPUT_LIMIT_CHARACTERS = 4_000_000
"""Engines write their result to a file; what they print beside it is kept up to this much."""
NOT_LET_GO = "it was not started, because another client could not be"


class SupervisedHost:
    """Runs one command at a time."""

    def __init__(self, name: str, within: Callable[[Sequence[str]], Sequence[str]] = tuple) -> None:
        """`within` turns a command line into one that runs it in the host's surroundings; it must become that command."""
        self.name = name
        self._within = within
        self._process: subprocess.Popen[str] | None = None
        self._interrupted = False

    def run(
        self,
        invocation: Invocation,
        on_start: Callable[[int], None],
        on_line: Callable[[str], None],
        gate: Gate | None = None,
    ) -> Completed:
        """Runs under supervision. A command that cannot start is a Completed with a reason."""
        if self._interrupted:  # between two steps: nothing ran that could have heard it
            return never_started(gate, "it was interrupted before it started", interrupted=True)
        try:
            process = self._process = self._start(invocation, gate is not None)
        except OSError as error:
            return never_started(
                gate, f"the engine could not be started: {error.strerror} ({error.filename})"
            )
        if self._interrupted:  # while it was being started
            process.send_signal(signal.SIGINT)
        on_start(process.pid)
        held_back = None if gate is None else _pass(gate, process)
        answering = None
        if gate is not None and invocation.takes_answers:
            answering = Answering(gate, partial(_order, process), on_line)
        stdout, stderr = _read_both(process, answering.hear if answering else on_line)
        process.wait()
        self._process = None
        completed = completed_of(invocation.scratch / REPORT, stdout, stderr, self._interrupted)
        if answering and answering.left_alone and not held_back:
            held_back = LEFT_ALONE
        return completed if held_back is None else replace(completed, reason=held_back)

    def interrupt(self) -> None:
        """SIGINT to the supervisor, which passes it on and then ends what is left."""
        self._interrupted = True
        process = self._process
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGINT)

    def again(self) -> SupervisedHost:
        """The same host for another command at the same time, which has heard of no interrupt."""
        return SupervisedHost(self.name, self._within)

    def ask(self, argv: Sequence[str], timeout_seconds: float = 10.0) -> str:
        """What a short command prints there; raises UserError that names the host when it fails or does not end."""
        return answer(self.name, self._within(argv), timeout_seconds)

    def _start(self, invocation: Invocation, takes_orders: bool) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self._within(supervised(invocation, takes_orders)),
            cwd=invocation.working_directory,
            env={**os.environ, **invocation.environment, "LC_ALL": "C"},
            stdin=subprocess.PIPE if takes_orders else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C reaches leadline only, which then decides
        )


def supervised(invocation: Invocation, takes_orders: bool) -> list[str]:
    """The command line that runs an invocation under supervision, here."""
    return [
        str(engine_executable()), "supervise", *limits(invocation),
        "--parent", str(os.getpid()), "--report", str(invocation.scratch / REPORT),
        *(["--orders"] if takes_orders else []), *(["--answers"] if takes_orders and invocation.takes_answers else []),
        "--", *invocation.argv,
    ]  # fmt: skip


def limits(invocation: Invocation) -> list[str]:
    """The supervisor's times."""
    timeout_ms, grace_ms = round(invocation.timeout_seconds * 1000), round(GRACE_SECONDS * 1000)
    return ["--timeout-ms", str(timeout_ms), "--grace-ms", str(grace_ms)]


def completed_of(report: Path, stdout: str, stderr: str, interrupted: bool) -> Completed:
    """What came of a supervised command on this machine, whose clock its report bears."""
    try:
        document = json.loads(report.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        said = stderr.strip().splitlines()
        reason = f"its supervisor left no report: {said[-1] if said else 'it was killed'}"
        return Completed(None, stdout, stderr, 0, interrupted=interrupted, reason=reason)
    return completed_from(document, stdout, stderr, interrupted, document["start_monotonic_ns"])


def completed_from(
    document: Mapping[str, Any], stdout: str, stderr: str, interrupted: bool, started_ns: int
) -> Completed:
    """From the supervisor's report (schemas/supervision.schema.json); the start is on this machine's clock."""
    return Completed(
        exit_code=document["exit_code"],
        stdout=stdout,
        stderr=stderr,
        wall_ns=document["wall_ns"],
        timed_out=document["timed_out"],
        interrupted=document["interrupted"] or interrupted,
        cpu_seconds=(document["user_cpu_ns"] + document["system_cpu_ns"]) / 1e9,
        started_ns=started_ns,
        ended_ns=started_ns + document["wall_ns"],
    )


def never_started(gate: Gate | None, reason: str, interrupted: bool = False) -> Completed:
    """What came of a command that does not get to the gate: nobody shall wait for it."""
    if gate is not None:
        gate.abort()
    return Completed(None, "", "", 0, interrupted=interrupted, reason=reason)


def _pass(gate: Gate, process: subprocess.Popen[str]) -> str | None:
    """Waits at the gate and lets the command go; why it was not let go, where that is not its own fault."""
    assert process.stdin is not None and process.stdout is not None
    with killed_after(process, READY_WITHIN_SECONDS):
        ready = process.stdout.readline().strip() == READY
    if not ready:  # what it complains about is read with the rest
        gate.abort()
        return None
    try:
        gate.wait()
        process.stdin.write("go\n")
        process.stdin.flush()
    except threading.BrokenBarrierError:
        process.stdin.close()
        return NOT_LET_GO
    except BrokenPipeError:  # it was killed meanwhile: it left no report
        pass
    return None


def _order(process: subprocess.Popen[str], line: str) -> None:
    """Harmless when the supervisor has ended."""
    assert process.stdin is not None
    with contextlib.suppress(OSError, ValueError):
        process.stdin.write(line)
        process.stdin.flush()


def _read_both(process: subprocess.Popen[str], on_line: Callable[[str], None]) -> tuple[str, str]:
    """Both pipes to their end, at once, so that neither fills up and blocks the engine."""
    assert process.stdout is not None and process.stderr is not None
    errors: list[str] = []
    reader = threading.Thread(
        target=lambda: errors.append(kept(process.stderr, lambda line: None)), daemon=True
    )
    reader.start()
    output = kept(process.stdout, on_line)
    reader.join()
    return output, "".join(errors)


def kept(pipe: IO[str] | None, on_line: Callable[[str], None]) -> str:
    """The beginning of what comes through a pipe; every line is told."""
    beginning: list[str] = []
    size = 0
    for line in pipe or ():
        on_line(line)
        if size < OUTPUT_LIMIT_CHARACTERS:
            beginning.append(line)
            size += len(line)
    return "".join(beginning)
