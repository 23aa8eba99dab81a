"""Where labs keep their state, and the lock that makes one process at a time their master."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.run.lab.processes import alive, identity_of
from leadline.run.seams import Access

USUAL_ROOT = Path("/run/leadline-lab")
ROOT_VARIABLE = "LEADLINE_LAB_STATE"
STORAGE_VARIABLE = "LEADLINE_LAB_STORAGE"
USUAL_STORAGE = Path("/var/tmp")
ORPHANS_END_WITHIN_SECONDS = 60.0
"""Tools that a killed leadline had started hold the lock until they are done; none may run longer than this."""


@dataclass(frozen=True)
class Seat:
    """Where a client of a lab sits."""

    namespace: str
    directory: str
    """The work directory on its own mount; a URL where there is nothing to mount."""
    groups: tuple[str, ...] = ()
    """Control groups that hold its load and its mount, where it is limited."""


@dataclass(frozen=True)
class Ready:
    """A lab that is up: written down last, so that a lab without it is known to be half-made."""

    directory: str
    """The directory to measure, as the first client sees it."""
    filesystem: str
    """The type in the mount table that is expected there."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What it is made of, for the environment record."""
    clients: tuple[Seat, ...] = ()
    """Every client; none for a filesystem of this machine alone."""
    accesses: Mapping[str, Access] = field(default_factory=dict)
    """How ioengines that go past the mount reach it, by the name that campaigns give them."""
    hosts: Mapping[str, int] = field(default_factory=dict)
    """Which host of the lab's network plays which part: {"server1": 1, "server2": 2, "client1": 3}. Faults and links name them."""
    servers: Mapping[str, str] = field(default_factory=dict)
    """Which servers there are: name -> its entry in the journal. Faults kill and pause them, slow disks slow them."""
    owner: str = ""
    """The run folder that it was brought up for; empty when it was brought up by hand."""
    up_seconds: float = 0.0

    def write(self, path: Path) -> None:
        """Atomically."""
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")
        draft.replace(path)

    @classmethod
    def read(cls, path: Path) -> Ready | None:
        """None for a lab that is half-made."""
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            seats = (Seat(**{**seat, "groups": tuple(seat["groups"])}) for seat in document["clients"])
            accesses = {name: Access.from_json(each) for name, each in document["accesses"].items()}
            return cls(**{**document, "clients": tuple(seats), "accesses": accesses})
        except (OSError, ValueError, KeyError, TypeError):
            return None


@dataclass(frozen=True)
class LabState:
    """The files of one lab."""

    name: str
    root: Path

    @property
    def folder(self) -> Path:
        return self.root / self.name

    @property
    def journal(self) -> Path:
        return self.folder / "journal.jsonl"

    @property
    def owner(self) -> Path:
        """Written first: who made it, so that a resumed run knows its own leavings."""
        return self.folder / "owner"

    @property
    def ready(self) -> Path:
        return self.folder / "ready.json"

    @property
    def lock(self) -> Path:
        return self.root / f"{self.name}.lock"

    @property
    def prefix(self) -> str:
        """What names of namespaces and control groups begin with; another root has other names."""
        other = hashlib.sha256(str(self.root).encode()).hexdigest()[:6] + "-"
        return f"leadline-{'' if self.root == USUAL_ROOT else other}{self.name}"


def lab_state(name: str) -> LabState:
    """The state of a lab, whether it is up or not."""
    return LabState(name, state_root())


def state_root() -> Path:
    """The folder of all labs' state: usually in /run, which a restart of the machine empties like all that it describes."""
    return Path(os.environ.get(ROOT_VARIABLE) or USUAL_ROOT).absolute()


def storage_root() -> Path:
    """Where image files lie: on a real disk, which /run is not."""
    path = Path(os.environ.get(STORAGE_VARIABLE) or USUAL_STORAGE).absolute()
    if not path.is_dir():
        raise UserError(f"{STORAGE_VARIABLE} names {path}, which is no directory; name one on a real disk")
    return path


def known_labs() -> list[LabState]:
    """Every lab that has left anything behind, up or half-made."""
    root = state_root()
    return [LabState(path.name, root) for path in sorted(root.glob("*/")) if path.is_dir()]


def user(state: LabState) -> str | None:
    """Who works on the lab right now, in words; None when nobody does."""
    try:
        document = json.loads(state.lock.read_text(encoding="utf-8"))
        lives = alive(document["process"])
        return f"`{document['command']}` (process {document['process'].partition(':')[0]})" if lives else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


@contextmanager
def locked(state: LabState) -> Iterator[int]:
    """The only master of a lab; the descriptor is for tools to hold. Raises UserError naming the other one."""
    _make_root(state.root)
    descriptor = _acquire(state)
    try:
        os.ftruncate(descriptor, 0)
        command = " ".join(["leadline", *sys.argv[1:]]) if sys.argv[1:] else "leadline"
        os.pwrite(
            descriptor, json.dumps({"process": identity_of(os.getpid()), "command": command}).encode(), 0
        )
        yield descriptor
    finally:
        os.ftruncate(descriptor, 0)
        if not state.folder.exists():
            state.lock.unlink(missing_ok=True)
        os.close(descriptor)


def _make_root(root: Path) -> None:
    """The journal says what to delete, so nobody but us may write there."""
    root.mkdir(mode=0o755, parents=True, exist_ok=True)
    status = root.stat()
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise UserError(f"{root} may be written by others; it must belong to root alone: chmod 755 {root}")


def _acquire(state: LabState) -> int:
    until = time.monotonic() + ORPHANS_END_WITHIN_SECONDS
    while True:
        descriptor = os.open(state.lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _same(state.lock, descriptor):
                return descriptor
        except BlockingIOError:
            who = user(state)
            if who is not None or time.monotonic() > until:
                os.close(descriptor)
                by = who or "a tool of a killed leadline that does not end"
                raise UserError(
                    f"the lab {state.name} is in use by {by}; wait for it or end it first"
                ) from None
            time.sleep(0.02)
        os.close(descriptor)


def _same(path: Path, descriptor: int) -> bool:
    """Whether the file that we locked is still the one by that name: its last user may just have removed it."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
