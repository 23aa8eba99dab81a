"""A free-running client on another host: its step goes there, what it says comes back, and its records come home in the end.

One session does all of it (run/hosts/remote_session.py): a supervisor there ends the load when the connection is lost, whatever happened
here, and the shell around it removes the files. Records come home with the times of the host's clock.
"""

from __future__ import annotations

import io
import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.run.consistency.clients import Station
from leadline.run.consistency.load_clients import LATE_SECONDS, OBJECTS_WITHIN_SECONDS, LoadClient
from leadline.run.hosts.relocation import packed, unpack
from leadline.run.hosts.remote_session import remote_command
from leadline.run.hosts.supervised import READY, READY_WITHIN_SECONDS
from leadline.run.seams import Invocation

HOME_WITHIN_SECONDS = 60.0
"""How long the records may take."""


@dataclass
class FarLoadClient(LoadClient):
    """One process at one station of another host."""

    def __post_init__(self) -> None:
        assert self.station.far is not None
        self._mark = secrets.token_hex(16)
        there = Path(self.station.far.machine.scratch) / f"leadline-{self._mark}"
        self._luggage.mkdir()
        step = {**self.step, "history": str(there / self.history.name)}
        (self._luggage / self._step_name).write_text(json.dumps(step), encoding="utf-8")
        files, engine = packed(self._luggage), self.station.engine
        argv = (engine, "run", str(there / self._step_name))
        invocation = Invocation(argv, there, there, self._at_most_seconds, takes_answers=True)
        self._start(remote_command(invocation, engine, self._mark, len(files)))
        self._tell(files)
        self._await_ready()

    def go(self, number: int) -> None:
        """Lets it pass the barrier; the supervisor hands it on."""
        self._tell(f"tell go {number} 0\n".encode())

    def await_outcome(self, within_seconds: float) -> None:
        """Until it has said what it did and its records are here; else it is lost."""
        super().await_outcome(within_seconds)
        if self.outcome is not None and not self._comes_home():
            self.outcome = None
            self.lost = self.lost or f"the records of the client {self.station.name} did not come home"

    def _line(self, within_seconds: float) -> str:
        """Its next line. Behind the mark come files: the command has ended, and whoever waits for a line waits in vain."""
        line = super()._line(within_seconds)
        if not line.startswith("\0"):
            return line
        self.lost = f"the client {self.station.name} has ended: {self.complaint() or 'it was killed'}"
        return ""

    @property
    def _luggage(self) -> Path:
        return self.folder / f"{self.station.name}.far"

    @property
    def _at_most_seconds(self) -> float:
        planned_ns = self.step.get("runtime_ns", 0) + self.step.get("settle_ns", 0)
        return float(planned_ns / 1e9 + OBJECTS_WITHIN_SECONDS + 3 * LATE_SECONDS)

    def _await_ready(self) -> None:
        """A login shell may say other things first."""
        until = time.monotonic() + READY_WITHIN_SECONDS
        while not self.lost and self._line(until - time.monotonic()).strip() != READY:
            pass
        self._tell(b"go\n")

    def _comes_home(self) -> bool:
        """The files behind the mark; whether the records are among them."""
        mark, until = b"\0" + self._mark.encode() + b"\n", time.monotonic() + HOME_WITHIN_SECONDS
        while came := self._more(until):
            self._read += came
        archive = self._read.partition(mark)[2]
        if self.hangs or not unpack(io.BytesIO(archive), self._luggage):
            return False
        home = self._luggage / self.history.name
        if home.is_file():
            home.replace(self.history)
        return self.history.is_file()


def load_client(station: Station, step: Mapping[str, Any], folder: Path) -> LoadClient:
    """Here or there."""
    return FarLoadClient(station, step, folder) if station.far else LoadClient(station, step, folder)
