"""The seam between the two suites and the walk through their cases."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from leadline.errors import UserError
from leadline.run.lab.signals import undisturbed
from leadline.store.conformance import Case

ENDS_WITHIN_SECONDS = 5.0
"""How long a killed case may take to go: one that waits in the kernel for a dead filesystem does not."""


class Suite(Protocol):
    """Cases by name, run one at a time: each in a process of its own, so that none can spoil or stop the next."""

    @property
    def kind(self) -> str:
        """`rust` or `c`."""

    @property
    def version(self) -> str:
        """What a reader needs to repeat it."""

    @property
    def names(self) -> Sequence[str]:
        """All cases, in the order in which they are run."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """How it was configured: JSON-ready."""

    def run(self, name: str, directory: Path) -> Case:
        """One case in the directory, to its end or to its time limit."""


@dataclass(frozen=True)
class Spoken:
    """What a case's process printed and how long it took."""

    text: str
    complaint: str
    exit_code: int
    seconds: float
    hung: bool = False


def speak(argv: Sequence[str], directory: Path, at_most_seconds: float) -> Spoken:
    """Runs a command to its end there; with all that it started it is killed when the time is up.

    Raises UserError where even then it does not end: it waits in the kernel, and so would every case after it.
    """
    started = time.monotonic()
    process: subprocess.Popen[str] | None = None
    try:
        with undisturbed():  # a process that is only just being started could not be ended
            process = subprocess.Popen(
                argv, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                errors="replace", start_new_session=True,
                env={**os.environ, "LC_ALL": "C", "RUST_BACKTRACE": "0", "NO_COLOR": "1"},
            )  # fmt: skip
        text, complaint = process.communicate(timeout=at_most_seconds)
        return Spoken(text, complaint, process.returncode, round(time.monotonic() - started, 4))
    except subprocess.TimeoutExpired:
        assert process is not None
        return _killed(process, time.monotonic() - started)
    except BaseException:  # Ctrl-C: nothing may go on writing behind our back
        if process is not None:
            _killed(process, 0.0)
        raise


def _killed(process: subprocess.Popen[str], seconds: float) -> Spoken:
    with suppress(ProcessLookupError):  # a short case may have ended by itself meanwhile
        os.killpg(process.pid, signal.SIGKILL)
    try:
        text, complaint = process.communicate(timeout=ENDS_WITHIN_SECONDS)
    except subprocess.TimeoutExpired:
        raise UserError(
            f"a case (process {process.pid}) was killed after {seconds:.0f} s and does not end: the filesystem does not answer any "
            "more; unmount it with umount -l, mount it again and start anew"
        ) from None
    return Spoken(text, complaint, process.returncode, seconds, hung=True)
