"""Free-running clients: one `leadline-engine run` each, started together, kept in step by barriers, and given up when a mount hangs."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.run.consistency.clients import ENDS_WITHIN_SECONDS, Station

OBJECTS_WITHIN_SECONDS = 120.0
"""Some hundred small files are made; nobody waits longer for that."""
LATE_SECONDS = 30.0
"""How much later than planned a client may be: a call in flight ends with the mount's own patience."""
OBJECTS_MADE, CHANGES_DONE = 0, 1
"""The barriers of the workload `histories`."""


@dataclass
class LoadClient:
    """One process at one station."""

    station: Station
    step: Mapping[str, Any]
    folder: Path
    """On a local disk: its step, its records, and what it complained of."""
    lost: str = ""
    """Why it does not take part any more, in words; empty while it does."""
    hangs: bool = False
    outcome: Mapping[str, Any] | None = None
    _process: subprocess.Popen[bytes] = field(init=False)
    _read: bytes = b""

    def __post_init__(self) -> None:
        step = self.folder / self._step_name
        step.write_text(json.dumps({**self.step, "history": str(self.history)}), encoding="utf-8")
        self._start((self.station.engine, "run", str(step)))

    def _start(self, argv: Sequence[str]) -> None:
        with self._complaints.open("wb") as complaints:
            self._process = subprocess.Popen(
                self.station.inside(argv), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, cwd="/",
                start_new_session=True,  # Ctrl-C reaches leadline only, which then ends it
            )  # fmt: skip

    @property
    def history(self) -> Path:
        """Where its records are when it is done."""
        return self.folder / f"{self.station.name}.history"

    @property
    def _step_name(self) -> str:
        return f"{self.station.name}.step.json"

    @property
    def _complaints(self) -> Path:
        return self.folder / f"{self.station.name}.stderr"

    def await_barrier(self, number: int, within_seconds: float) -> None:
        """Until it says that it has arrived; else it is lost."""
        line = self._line(within_seconds)
        if not self.lost and line.split()[:2] != ["barrier", str(number)]:
            raise AssertionError(line)  # the engine speaks another protocol: our mistake

    def go(self, number: int) -> None:
        """Lets it pass the barrier."""
        self._tell(f"go {number} 0\n".encode())

    def _tell(self, words: bytes) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it has ended, and the next line will not come
            self._process.stdin.write(words)
            self._process.stdin.flush()

    def await_outcome(self, within_seconds: float) -> None:
        """Until it has said what it did; else it is lost."""
        line = self._line(within_seconds)
        if not self.lost:
            self.outcome = json.loads(line)

    def complaint(self) -> str:
        """Its last words, without its name."""
        said = self._complaints.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return said[-1].partition(f"{self._step_name}: ")[2] or said[-1] if said else ""

    def close(self) -> None:
        """Ends the process; one that hangs in a call is killed, and left behind where even that does not help."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        if self.lost or self.outcome is None:
            self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(ENDS_WITHIN_SECONDS)
        self._process.stdout.close()

    def _line(self, within_seconds: float) -> str:
        """Its next line; "" once it is lost."""
        if self.lost:
            return ""
        until = time.monotonic() + within_seconds
        while b"\n" not in self._read:
            came = self._more(until)
            if not came:
                self.lost = (
                    f"the client {self.station.name} hangs"
                    if self.hangs
                    else f"the client {self.station.name} has ended: {self.complaint() or 'it was killed'}"
                )
                return ""
            self._read += came
        line, _, self._read = self._read.partition(b"\n")
        return line.decode(errors="replace")

    def _more(self, until: float) -> bytes:
        """What it says next; nothing when it has ended, or hangs."""
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        if not select.select([pipe], [], [], max(until - time.monotonic(), 0))[0]:
            self.hangs = True
            return b""
        return os.read(pipe, 1 << 16)


def run_together(clients: Sequence[LoadClient], seconds: float, settle_seconds: float) -> None:
    """Leads all of them through the barriers to their outcomes. Those that are lost say why; the rest goes on.

    Raises UserError when one cannot even begin.
    """
    for client in clients:
        client.await_barrier(OBJECTS_MADE, OBJECTS_WITHIN_SECONDS)
        if client.lost:
            raise UserError(f"{client.station.where}: {client.complaint() or client.lost}")
    _all_go(clients, OBJECTS_MADE)
    until = time.monotonic() + seconds + LATE_SECONDS
    for client in clients:
        client.await_barrier(CHANGES_DONE, until - time.monotonic())
    _all_go(clients, CHANGES_DONE)
    until = time.monotonic() + settle_seconds + 2 * LATE_SECONDS
    for client in clients:
        client.await_outcome(until - time.monotonic())


def _all_go(clients: Sequence[LoadClient], number: int) -> None:
    for client in clients:
        if not client.lost:
            client.go(number)
