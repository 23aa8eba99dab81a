"""The journal: every resource is written down before it is made, so that any process can undo it at any later time.

One line of JSON an event: intended, identified, undone. Several processes write and read at once: the lab, faults from other
processes, their guards. Each holds the file's lock for its line, so readers see whole lines only; a line that `kill -9` cut off is
taken away by the next writer. No fsync: what the journal names does not survive a loss of power either, except files, which then
lie in a folder of leadline's own.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.run.lab.resource import Record, Resource
from leadline.run.lab.tools import Toolbox

PACKAGE = "leadline.run.lab"
ROUNDS = 3
"""A helper that outlived a killed leadline may finish a mount after its entry was undone: then it is undone again."""


@dataclass(frozen=True)
class Entry:
    """A resource that was intended and is not undone yet."""

    number: str
    resource: Resource
    identity: str | None


class Journal:
    """Makes and undoes resources; what is not in it is never touched."""

    def __init__(self, path: Path, tools: Toolbox | None = None) -> None:
        self.path = path
        self.tools = tools or Toolbox()
        self._children: list[subprocess.Popen[Any]] = []

    def make(self, resource: Resource) -> str:
        """Refuses what exists, writes the intention down, makes it; the number of its entry."""
        number = self.intend(resource)
        self.perform(number, resource)
        return number

    def intend(self, resource: Resource) -> str:
        """Writes down what is about to be made; raises UserError when something of that name is there already."""
        if resource.found(None):
            raise UserError(
                f"{resource.described()} exists already and is not this lab's; remove it or finish what uses it"
            )
        number = secrets.token_hex(6)
        kind = f"{type(resource).__module__.removeprefix(PACKAGE + '.')}.{type(resource).__name__}"
        self._write(number, "intended", kind=kind, fields=asdict(resource))
        return number

    def perform(self, number: str, resource: Resource) -> None:
        """Makes what was intended."""
        try:
            resource.make(self, self.recorder(number))
        except FileExistsError:  # made by somebody else since we looked: not ours to undo
            self._write(number, "undone")
            raise UserError(
                f"{resource.described()} exists already and is not this lab's; remove it or finish what uses it"
            ) from None

    def recorder(self, number: str) -> Record:
        """Writes the identity of an entry; the last one written counts."""
        return lambda identity: self._write(number, "identified", identity=identity)

    def identity(self, number: str) -> str | None:
        """What was recorded last for an entry that is not undone."""
        entry = self.entry(number)
        return entry.identity if entry else None

    def keep(self, child: subprocess.Popen[Any]) -> None:
        """Remembered, so that it is reaped when it has ended."""
        self._children.append(child)

    def entries(self) -> list[Entry]:
        """What is not undone, in the order in which it was intended."""
        intended: dict[str, Mapping[str, Any]] = {}
        identities: dict[str, str] = {}
        for event in self._events():
            number = event["number"]
            if event["event"] == "intended":
                intended[number] = event
            elif event["event"] == "identified":
                identities[number] = event["identity"]
            else:
                intended.pop(number, None)
        return [Entry(number, _resource(event), identities.get(number)) for number, event in intended.items()]

    def entry(self, number: str) -> Entry | None:
        """None when it was undone."""
        return next((each for each in self.entries() if each.number == number), None)

    def remove(self, number: str) -> None:
        """Undoes one resource; harmless when it is undone already."""
        entry = self.entry(number)
        if entry is not None:
            self._undo(entry)

    def undo(self) -> None:
        """Undoes everything, the last first; raises Busy when somebody uses it, and can then be called again."""
        entries = [each for each in reversed(self.entries()) if not each.resource.only_while_up]
        for entry in entries:
            self._undo(entry)
        for _ in range(ROUNDS):
            late = [each for each in entries if each.resource.found(each.identity)]
            if not late:
                return
            for entry in late:
                self._undo(entry)
        raise UserError(f"{late[0].resource.described()} appears again and again; something else makes it")

    def _undo(self, entry: Entry) -> None:
        if entry.resource.found(entry.identity):
            entry.resource.remove(self, entry.identity)
        self._reap()
        self._write(entry.number, "undone")

    def _reap(self) -> None:
        self._children = [child for child in self._children if child.poll() is None]

    def _write(self, number: str, event: str, **fields: Any) -> None:
        line = json.dumps({"number": number, "event": event, **fields}) + "\n"
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            _drop_cut_off_line(descriptor)
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)

    def _events(self) -> Iterator[Mapping[str, Any]]:
        try:
            with self.path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH)
                lines = file.read().splitlines(keepends=True)
        except FileNotFoundError:
            return
        for count, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):  # cut off: the writer died before it made anything
                continue
            try:
                event = json.loads(line)
                event["number"], event["event"]
            except (ValueError, KeyError, TypeError):
                raise UserError(
                    f"line {count} of {self.path} is damaged; remove that line, then run leadline lab down again"
                ) from None
            yield event


def _drop_cut_off_line(descriptor: int) -> None:
    """What a writer that was killed in its line left: it had not begun to make what it was about to name."""
    size = os.fstat(descriptor).st_size
    if size == 0 or os.pread(descriptor, 1, size - 1) == b"\n":
        return
    os.ftruncate(descriptor, os.pread(descriptor, size, 0).rfind(b"\n") + 1)


def _resource(event: Mapping[str, Any]) -> Resource:
    """The value again, from its kind (`mounts.Mount`) and its fields; JSON knows no tuples."""
    module, _, name = event["kind"].rpartition(".")
    kind = getattr(import_module(f"{PACKAGE}.{module}"), name)
    fields = {
        key: tuple(value) if isinstance(value, list) else value for key, value in event["fields"].items()
    }
    resource: Resource = kind(**fields)
    return resource
