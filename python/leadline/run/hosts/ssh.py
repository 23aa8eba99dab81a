"""A host reached by OpenSSH: nothing has to be installed there but fio, and nothing is left there.

The start is controlled from here, so the clocks need not agree: a command is held back on its host until it is told to go.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from leadline.errors import UserError
from leadline.run.deadline import killed_after
from leadline.run.hosts.answering import LEFT_ALONE, Answering
from leadline.run.hosts.relocation import packed, relocated
from leadline.run.hosts.remote_machine import RemoteMachine, look_at
from leadline.run.hosts.remote_session import Homecoming, refusal, remote_command
from leadline.run.hosts.ssh_connection import Connection
from leadline.run.hosts.supervised import (
    GRACE_SECONDS,
    NOT_LET_GO,
    READY,
    READY_WITHIN_SECONDS,
    REPORT,
    completed_from,
    never_started,
)
from leadline.run.seams import Completed, Gate, Invocation

HOME_WITHIN_SECONDS = 60.0
"""How long the last output and the files may take to come home."""
NOISE_LINES = 100
"""A login shell may print this much before the command is ready."""


class SshHost:
    """Runs one command at a time; the connection is opened by the first one and shared by all."""

    def __init__(self, destination: str, config: Path | None = None, name: str = "") -> None:
        """`destination` as on ssh's command line; `config` in place of the user's own ssh_config."""
        self.name = name or destination
        self._connection = Connection(destination, config)
        self._machine: RemoteMachine | None = None
        self._orders: IO[bytes] | None = None
        self._interrupted = False

    def machine(self) -> RemoteMachine:
        """Looked at once; raises UserError when it cannot be reached or leadline cannot work there."""
        if self._machine is None:
            self._connection.open()
            self._machine = look_at(self._connection)
        return self._machine

    @property
    def start_known_to_within_ns(self) -> int:
        """The word `go` is on its way for about half of this."""
        return self._machine.round_trip_ns if self._machine else 0

    def run(
        self,
        invocation: Invocation,
        on_start: Callable[[int], None],
        on_line: Callable[[str], None],
        gate: Gate | None = None,
    ) -> Completed:
        """Runs under supervision there. `on_start` is not called: there is no process here that produces load."""
        if self._interrupted:
            return never_started(gate, "it was interrupted before it started", interrupted=True)
        try:
            machine = self.machine()
            self._connection.open()
        except UserError as error:
            return never_started(gate, str(error), interrupted=self._interrupted)
        mark, files = secrets.token_hex(16), packed(invocation.scratch)
        there = relocated(invocation, Path(machine.scratch) / f"leadline-{mark}", machine.engine)
        command = remote_command(there, machine.engine, mark, len(files))
        process = subprocess.Popen(
            self._connection.argv(command), bufsize=0, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        answering = None
        if gate is not None and invocation.takes_answers:
            answering = Answering(gate, lambda line: self._order(line.encode()), on_line)
        homecoming = Homecoming(mark, answering.hear if answering else on_line)
        with process:
            completed = self._see_through(process, machine, invocation, files, homecoming, gate)
        if answering and answering.left_alone and completed.reason is None:
            completed = replace(completed, reason=LEFT_ALONE)
        return completed

    def interrupt(self) -> None:
        """An order to the supervisor there, which passes it on and then ends what is left."""
        self._interrupted = True
        self._order(b"interrupt\n")

    def again(self) -> SshHost:
        """The same host for another command at the same time, over the same connection."""
        twin = SshHost(self._connection.destination, name=self.name)
        twin._connection, twin._machine = self._connection, self.machine()
        return twin

    def ask(self, argv: Sequence[str], timeout_seconds: float = 10.0) -> str:
        """What a short command prints there; raises UserError that names the host."""
        return self._connection.ask(argv, timeout_seconds)

    def inside(self, argv: Sequence[str]) -> list[str]:
        """The command line that runs a command there, with its input and output here; raises UserError."""
        self._connection.open()
        return self._connection.argv(argv)

    def address(self) -> str:
        """At which other hosts reach it."""
        return self._connection.address()

    def close(self) -> None:
        """Ends the connection and whatever it carries."""
        self._connection.close()

    def _see_through(
        self,
        process: subprocess.Popen[bytes],
        machine: RemoteMachine,
        invocation: Invocation,
        files: bytes,
        homecoming: Homecoming,
        gate: Gate | None,
    ) -> Completed:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        errors: list[bytes] = []
        listener = threading.Thread(target=lambda: errors.append(_read_all(process.stderr)), daemon=True)
        listener.start()
        ready = _get_ready(process, files)
        held_back = _held_back(ready, gate)
        # Before the word goes out: whoever is woken by it may take our processor, and the command is at work long before we go on.
        started_ns = time.monotonic_ns() + machine.round_trip_ns // 2
        if ready and not held_back:
            self._orders = process.stdin
            self._order(b"interrupt\n" if self._interrupted else b"go\n")
        else:
            process.stdin.close()
        at_most_seconds = invocation.timeout_seconds + GRACE_SECONDS + HOME_WITHIN_SECONDS
        with killed_after(process, at_most_seconds):
            came_home = homecoming.receive(process.stdout, invocation.scratch)
        self._orders = None
        with contextlib.suppress(OSError):
            process.stdin.close()
        with killed_after(process, HOME_WITHIN_SECONDS):
            process.wait()
            listener.join()
        stderr = b"".join(errors).decode(errors="replace")
        completed = self._completed(invocation, came_home, homecoming.stdout, stderr, started_ns)
        if held_back:
            return replace(completed, reason=held_back, started_ns=0, ended_ns=0)
        if not ready:
            return replace(
                completed,
                reason=refusal(self.name, process.returncode, invocation, stderr),
                started_ns=0,
                ended_ns=0,
            )
        return completed

    def _completed(
        self, invocation: Invocation, came_home: bool, stdout: str, stderr: str, started_ns: int
    ) -> Completed:
        try:
            document = json.loads((invocation.scratch / REPORT).read_text(encoding="utf-8"))
            if came_home:
                return completed_from(document, stdout, stderr, self._interrupted, started_ns)
        except (OSError, ValueError):
            pass
        said = (stderr.strip().splitlines() or ["it said nothing"])[-1]
        return Completed(
            None,
            stdout,
            stderr,
            max(0, time.monotonic_ns() - started_ns),
            interrupted=self._interrupted,
            reason=f"the connection to {self.name} was lost while the command ran ({said})",
            started_ns=started_ns,
            ended_ns=time.monotonic_ns(),
        )

    def _order(self, word: bytes) -> None:
        """One system call, so that a signal handler may do it; harmless when nobody listens any more."""
        orders = self._orders
        with contextlib.suppress(OSError, ValueError):
            if orders is not None:
                os.write(orders.fileno(), word)


def _get_ready(process: subprocess.Popen[bytes], files: bytes) -> bool:
    """Sends the files and waits until only the start is left to do."""
    assert process.stdin is not None and process.stdout is not None
    with killed_after(process, READY_WITHIN_SECONDS), contextlib.suppress(BrokenPipeError):
        sent = 0
        while sent < len(files):
            sent += process.stdin.write(files[sent:]) or 0
        for _ in range(NOISE_LINES):
            line = process.stdout.readline()
            if not line or line.strip() == READY.encode():
                return bool(line)
    return False


def _held_back(ready: bool, gate: Gate | None) -> str | None:
    """Waits at the gate; why the command may not go, where that is another's fault."""
    if gate is None:
        return None
    if not ready:
        gate.abort()
        return None
    try:
        gate.wait()
    except threading.BrokenBarrierError:
        return NOT_LET_GO
    return None


def _read_all(pipe: IO[bytes] | None) -> bytes:
    return b"".join(iter(lambda: pipe.read(65536), b"")) if pipe else b""
