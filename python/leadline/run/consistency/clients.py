"""The clients: one `leadline-engine visibility-client` each, told what to do over a pipe, one instruction at a time."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leadline.run.consistency.calls import Answer, Call, in_words, stat
from leadline.run.executable import engine_executable
from leadline.run.lab.tools import in_groups
from leadline.store.visibility import Seen

if TYPE_CHECKING:
    from leadline.run.consistency.far import Far

POLL_EVERY_NS = 1_000_000
ANSWERS_WITHIN_SECONDS = 20.0
"""Beyond the patience of a poll: a call that takes longer hangs, as calls on a dead mount do."""
ENDS_WITHIN_SECONDS = 2.0
DOUBTS = frozenset(
    {"EIO", "ETIMEDOUT", "EINTR", "ENOTCONN", "ESHUTDOWN", "ECONNABORTED", "ECONNRESET", "ECONNREFUSED", "EHOSTDOWN"}
)  # fmt: skip
"""Errors after which nobody knows whether the call was carried out."""


class ClientLost(Exception):
    """A client that does not answer, or whose mount is no longer what it was."""

    def __init__(self, sentence: str, hangs: bool = False) -> None:
        super().__init__(sentence)
        self.hangs = hangs
        """Whether a call on its mount does not come back: nobody else should make one there."""


@dataclass(frozen=True)
class Station:
    """Where a client works."""

    name: str
    directory: Path
    namespace: str | None = None
    groups: tuple[str, ...] = ()
    far: Far | None = None
    """The other host on which the client runs; None: this one."""

    @property
    def engine(self) -> str:
        """Leadline's engine where the client runs."""
        return self.far.machine.engine if self.far else str(engine_executable())

    @property
    def where(self) -> str:
        """As a user would write it."""
        return f"{self.far.name}:{self.directory}" if self.far else str(self.directory)

    def inside(self, argv: Sequence[str]) -> tuple[str, ...]:
        """The command line that runs there."""
        if self.far:
            return self.far.argv(argv)
        entered = ("nsenter", f"--net=/run/netns/{self.namespace}", "--", *argv) if self.namespace else argv
        return in_groups(self.groups, tuple(entered))


@dataclass(frozen=True)
class Reply:
    """What came of an instruction; times since the client had understood it."""

    seen: tuple[Seen, ...]
    last: Answer
    came: bool
    """Whether the answer that was waited for came."""
    started_ns: int
    ended_ns: int
    """When the round that first gave the last answer began and ended, on this host's CLOCK_MONOTONIC, within what is known of another
    host's clock."""

    @property
    def doubtful(self) -> bool:
        """Whether it ended with an error that leaves open what happened."""
        return self.last.get("failed") in DOUBTS


@dataclass
class Client:
    """One process at one station; used by one thread."""

    station: Station
    _process: subprocess.Popen[bytes] = field(init=False)
    _number: int = 0
    _read: bytes = b""
    _device: str = ""

    def __post_init__(self) -> None:
        argv = (self.station.engine, "visibility-client", str(self.station.directory))
        self._process = subprocess.Popen(
            self.station.inside(argv), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/",
            start_new_session=True,  # Ctrl-C reaches leadline only, which then ends it
        )  # fmt: skip
        self._device = in_words(self.do([stat("", "device")]).last)

    @property
    def name(self) -> str:
        """As results have it."""
        return self.station.name

    def do(self, calls: Sequence[Call]) -> Reply:
        """Makes the calls once; raises ClientLost."""
        return self._ask({"calls": list(calls)}, 0)

    def await_answer(self, calls: Sequence[Call], until: Answer, at_most_seconds: float) -> Reply:
        """Makes the calls again and again until they answer that; raises ClientLost."""
        poll = {"until": until, "every_ns": POLL_EVERY_NS, "at_most_ns": round(at_most_seconds * 1e9)}
        return self._ask({"calls": list(calls), **poll}, at_most_seconds)

    def check(self) -> None:
        """Raises ClientLost when the directory no longer lies on the filesystem that it lay on at the start."""
        now = self.do([stat("", "device")]).last
        if now != {"value": self._device}:
            said = now.get("failed", "another filesystem lies there now")
            raise ClientLost(f"the mount of {self.name} at {self.station.where} is gone ({said})")

    def close(self) -> None:
        """The process ends with its input; one that hangs in a call is killed, and left behind where even that does not help."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(ENDS_WITHIN_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(ENDS_WITHIN_SECONDS)
        self._process.stdout.close()

    def _ask(self, instruction: dict[str, Any], at_most_seconds: float) -> Reply:
        self._number += 1
        line = json.dumps({"number": self._number, **instruction}) + "\n"
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()
        except OSError:
            raise ClientLost(f"the client {self.name} has ended") from None
        line_back = self._line(at_most_seconds + ANSWERS_WITHIN_SECONDS)
        while self.station.far and not line_back.startswith(b"{"):  # a login shell may say other things first
            line_back = self._line(at_most_seconds + ANSWERS_WITHIN_SECONDS)
        document = json.loads(line_back)
        assert document.get("number") == self._number, document  # else the instruction was wrong: our mistake
        clock = self.station.far.clock if self.station.far else None
        reply = _reply(document)
        if clock is None:
            return reply
        return replace(reply, started_ns=clock.here(reply.started_ns), ended_ns=clock.here(reply.ended_ns))

    def _line(self, within_seconds: float) -> bytes:
        assert self._process.stdout is not None
        pipe, until = self._process.stdout.fileno(), time.monotonic() + within_seconds
        while b"\n" not in self._read:
            if not select.select([pipe], [], [], max(until - time.monotonic(), 0))[0]:
                raise ClientLost(
                    f"the client {self.name} did not answer within {within_seconds:g} s", hangs=True
                )
            came = os.read(pipe, 1 << 16)
            if not came:
                raise ClientLost(f"the client {self.name} has ended")
            self._read += came
        line, _, self._read = self._read.partition(b"\n")
        return line


def _reply(document: dict[str, Any]) -> Reply:
    received_ns, sightings = document["received_ns"], document["sightings"]
    seen = tuple(
        Seen(
            in_words(each["answer"]),
            each["start_ns"] - received_ns,
            each["last_start_ns"] - received_ns,
            each["probes"],
        )
        for each in sightings
    )
    last = sightings[-1]
    return Reply(seen, last["answer"], document["came"], last["start_ns"], last["end_ns"])
