"""This machine: commands run under `leadline-engine supervise`, which ends the whole tree of processes on a timeout, on
an interrupt, and when leadline itself is killed (fio's jobs call setsid(2), so a process group would not reach them)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

from leadline.run.executable import engine_executable
from leadline.run.seams import Completed, Invocation

GRACE_SECONDS = 3.0
OUTPUT_LIMIT_CHARACTERS = 4_000_000
"""Engines write their result to a file; what they print beside it is kept up to this much."""


class LocalHost:
    """Runs one command at a time."""

    name = "local"

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._interrupted = False

    def run(
        self, invocation: Invocation, on_start: Callable[[int], None], on_line: Callable[[str], None]
    ) -> Completed:
        """Runs under supervision. A command that cannot start is a Completed with a reason."""
        if self._interrupted:  # between two steps: nothing ran that could have heard it
            return Completed(None, "", "", 0, interrupted=True, reason="it was interrupted before it started")
        report = invocation.scratch / "supervision.json"
        try:
            self._process = subprocess.Popen(
                _supervised(invocation, report),
                cwd=invocation.working_directory,
                env={**os.environ, **invocation.environment, "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,  # Ctrl-C reaches leadline only, which then decides
            )
        except OSError as error:
            return Completed(
                None,
                "",
                "",
                0,
                reason=f"the engine could not be started: {error.strerror} ({error.filename})",
            )
        if self._interrupted:  # while it was being started
            self._process.send_signal(signal.SIGINT)
        on_start(self._process.pid)
        stdout, stderr = _read_both(self._process, on_line)
        self._process.wait()
        self._process = None
        return _completed(report, stdout, stderr, self._interrupted)

    def interrupt(self) -> None:
        """SIGINT to the supervisor, which passes it on and then ends what is left."""
        self._interrupted = True
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)


def _supervised(invocation: Invocation, report: Path) -> list[str]:
    return [
        str(engine_executable()), "supervise",
        "--timeout-ms", str(round(invocation.timeout_seconds * 1000)),
        "--grace-ms", str(round(GRACE_SECONDS * 1000)),
        "--parent", str(os.getpid()), "--report", str(report), "--", *invocation.argv,
    ]  # fmt: skip


def _read_both(process: subprocess.Popen[str], on_line: Callable[[str], None]) -> tuple[str, str]:
    """Both pipes to their end, at once, so that neither fills up and blocks the engine."""
    assert process.stdout is not None and process.stderr is not None
    errors: list[str] = []
    reader = threading.Thread(
        target=lambda: errors.append(_kept(process.stderr, lambda line: None)), daemon=True
    )
    reader.start()
    output = _kept(process.stdout, on_line)
    reader.join()
    return output, "".join(errors)


def _kept(pipe: IO[str] | None, on_line: Callable[[str], None]) -> str:
    kept: list[str] = []
    size = 0
    for line in pipe or ():
        on_line(line)
        if size < OUTPUT_LIMIT_CHARACTERS:
            kept.append(line)
            size += len(line)
    return "".join(kept)


def _completed(report: Path, stdout: str, stderr: str, interrupted: bool) -> Completed:
    try:
        document = json.loads(report.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        said = stderr.strip().splitlines()
        return Completed(
            None,
            stdout,
            stderr,
            0,
            interrupted=interrupted,
            reason=f"its supervisor left no report: {said[-1] if said else 'it was killed'}",
        )
    return Completed(
        exit_code=document["exit_code"],
        stdout=stdout,
        stderr=stderr,
        wall_ns=document["wall_ns"],
        timed_out=document["timed_out"],
        interrupted=document["interrupted"] or interrupted,
        cpu_seconds=(document["user_cpu_ns"] + document["system_cpu_ns"]) / 1e9,
    )
