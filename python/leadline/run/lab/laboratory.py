"""What a target is brought up with: verbs that make things, each journaled before it is made.

A target (one file, one class with `up`) says what it needs and calls these verbs in order. It has no `down`: the journal
walked backwards is the way down, from any state and in any process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from leadline.errors import UserError
from leadline.plan.sites import Conditions
from leadline.run.lab.conditions import LimitedGroup
from leadline.run.lab.control_groups import ControlGroup, leash_place
from leadline.run.lab.files import Directory, Image
from leadline.run.lab.journal import Journal
from leadline.run.lab.loops import Loop
from leadline.run.lab.mounts import Mount
from leadline.run.lab.network import LabHost, Network, make_network
from leadline.run.lab.processes import Process
from leadline.run.lab.slow_disks import FILESYSTEM, SUFFIX, SlowDisk
from leadline.run.lab.state import LabState, Ready, storage_root

LOG_TAIL_CHARACTERS = 400


@dataclass(frozen=True)
class Wishes:
    """What is asked of a target, as far as it can."""

    size_bytes: int
    """How much its filesystem has to hold."""
    clients: int = 1
    storage_nodes: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    """Mount and format options, in the target's own words."""
    conditions: Conditions = field(default_factory=Conditions)
    """What it is held to once it is up; lifecycle.py sees to it, not the target."""


class LabTarget(Protocol):
    """A filesystem that the lab can bring up."""

    @property
    def summary(self) -> str:
        """One line for `leadline lab list`."""
        ...

    @property
    def needs(self) -> Mapping[str, str]:
        """Command -> the distribution's package that holds it."""
        ...

    def up(self, lab: Laboratory, wishes: Wishes) -> Ready:
        """Makes all of it with the lab's verbs; whatever is raised, the caller undoes what was made."""
        ...


@dataclass
class Laboratory:
    """One lab while it is being made."""

    state: LabState
    journal: Journal
    tell: Callable[[str], None] = lambda line: None
    """Hears what takes long: a build, an installation."""
    servers: dict[str, str] = field(default_factory=dict)
    """What was started on a host of the lab: name -> its entry in the journal. Builds run on no host and are not among them."""
    parts: dict[str, int] = field(default_factory=dict)
    """The number of the host that each of them was started on."""
    slow_disk: SlowDisk | None = None
    """What loop devices lie over in place of their images; None: over these."""

    def folder(self, name: str) -> Path:
        """A new directory beside the journal: mount points, logs, configuration."""
        return self._directory(self.state.folder / name)

    def storage(self) -> Path:
        """A new directory on a real disk, for data."""
        return self._directory(storage_root() / f"{self.state.prefix}-{time.time_ns():x}")

    def inside(self, parent: Path, name: str) -> Path:
        """A new directory in one of the lab's own."""
        return self._directory(parent / name)

    def image(self, folder: Path, size_bytes: int, name: str = "disk.img") -> Path:
        """A sparse file of that size."""
        path = folder / name
        self.journal.make(Image(str(path), size_bytes))
        return path

    def loop(self, image: Path) -> Path:
        """The loop device over an image, through a disk that takes its time where the lab is held to one."""
        backing = self._shown_slowly(image, self.slow_disk) if self.slow_disk else image
        number = self.journal.make(Loop(str(backing)))
        device = self.journal.identity(number)
        assert device is not None
        return Path(device)

    def mount(self, source: str, point: Path, filesystem: str, options: str = "") -> None:
        """By mount(8)."""
        self.journal.make(Mount(source, str(point), filesystem, options))

    def mount_by(self, command: Sequence[str], point: Path, filesystem: str, name: str) -> None:
        """By a FUSE client that returns when it is mounted and leaves a process behind, kept on a leash by that name."""
        self.journal.make(Mount("", str(point), filesystem, "", tuple(command), self._leash(name, None)))

    def network(self, hosts: int) -> Network:
        """Hosts on a bridge."""
        return make_network(self.journal, self.state.prefix, hosts)

    def start(
        self,
        name: str,
        argv: Sequence[str],
        host: LabHost | None = None,
        limits: LimitedGroup | None = None,
        stop_seconds: float = 5.0,
    ) -> str:
        """Starts a server that stays in the foreground, on a host and under limits; the number of its entry."""
        log = self.state.folder / f"{name}.log"
        words = host.inside(argv) if host else tuple(argv)
        number = self.journal.make(
            Process(name, tuple(words), str(log), self._leash(name, limits), stop_seconds)
        )
        if host is not None:
            self.servers[name], self.parts[name] = number, host.number
        return number

    def wait(self, number: str, serves: Callable[[], bool], at_most_seconds: float) -> None:
        """Until a started server serves; raises UserError with the end of its log when it ends or takes too long."""
        until = time.monotonic() + at_most_seconds
        while not serves():
            entry = self.journal.entry(number)
            assert entry is not None and isinstance(entry.resource, Process)
            ended = not entry.resource.found(entry.identity)
            # What it did last came between the two looks: done well, or something that `serves` has a sentence for.
            if ended and serves():
                return
            if ended or time.monotonic() > until:
                happened = (
                    "ended before it served" if ended else f"did not serve within {at_most_seconds:g} s"
                )
                # Read only now: the last words of a server that ends are written after it was last seen alive.
                said = _tail(Path(entry.resource.log))
                raise UserError(f"{entry.resource.name} {happened}; it said: {said}")
            time.sleep(0.02)

    def run(self, *argv: object, timeout_seconds: float = 60.0) -> str:
        """A tool that ends by itself and leaves nothing behind but what it prints and writes into the lab's folders."""
        return self.journal.tools.run(*argv, timeout_seconds=timeout_seconds)

    def _directory(self, path: Path) -> Path:
        self.journal.make(Directory(str(path)))
        return path

    def _shown_slowly(self, image: Path, disk: SlowDisk) -> Path:
        """Served by a process that is no server's and no client's: neither their time nor their limits are its."""
        point = self.image(image.parent, 0, image.stem + SUFFIX)
        self.mount_by(disk.command(image, point), point, FILESYSTEM, f"slow-{image.stem}")
        return point

    def _leash(self, name: str, limits: LimitedGroup | None) -> tuple[str, ...]:
        """The groups a server lives in, its own first. Under version 2 a process is in one group only: the leash lies inside the limit."""
        place = leash_place()
        outer = limits.paths if limits else ()
        if place is None:
            return outer
        nested = limits is not None and limits.version == place.version == 2
        folder = Path(outer[0]) if nested else place.folder
        path = str(folder / f"{self.state.prefix}-{name}")
        self.journal.make(ControlGroup(path))
        return (path,) if nested else (path, *outer)


def _tail(log: Path) -> str:
    try:
        return (
            " ".join(log.read_text(errors="replace").split())[-LOG_TAIL_CHARACTERS:]
            or f"nothing (see {log.parent})"
        )
    except OSError:
        return "nothing"
