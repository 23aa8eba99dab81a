"""What steps stand on, as the conductor sees it: clients with their directories, safeguards, and what is watched beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from leadline.plan.sites import Site
from leadline.plan.steps import Layout
from leadline.run.observe.network_namespaces import NamespaceReader
from leadline.run.seams import Access, Bucket, Client, Crew, Elsewhere, Target
from leadline.spec.object_store import ObjectStore


def _no_caches() -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True)
class Ground:
    """A site while it stands."""

    site: Site
    name: str
    """For sentences."""
    directory: Path
    """The first client's work directory; where nothing is mounted, an empty folder of leadline's own."""
    clients: tuple[Client, ...]
    crew: Crew
    target: Target
    """The safeguards around the directory; already prepared."""
    mounted: bool = True
    """Whether files can be seen in `directory` at all."""
    accesses: Mapping[str, Access] = field(default_factory=dict)
    """How ioengines that go past the mount reach it, by the name that campaigns give them."""
    devices: Sequence[str] = ()
    """Block devices below it, whose counters are watched."""
    interfaces: Sequence[str] = ()
    namespaces: NamespaceReader | None = None
    """Counters of hosts in network namespaces of their own."""
    queues: Mapping[str, str] = field(default_factory=dict)
    """By client, the file that tells how many requests wait at its FUSE mount."""
    elsewhere: Sequence[Elsewhere] = ()
    """Counters of hosts that are machines of their own."""
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Control groups of servers and of what mounts for clients, whose processor time is counted."""
    addresses: Mapping[str, str] = field(default_factory=dict)
    """At which clients reach each other, by name."""
    stores: Mapping[str, ObjectStore] = field(default_factory=dict)
    """Where each client reaches the object store, by the client's name; empty where there is none."""
    buckets: Mapping[str, Bucket] = field(default_factory=dict)
    """While steps work on objects: each client's folder there."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What it is made of, for the environment record."""
    step_facts: Mapping[str, Any] = field(default_factory=dict)
    """What the analysis has to know of it beside each step, since other steps of the run may stand elsewhere."""
    clear_caches: Callable[[], Mapping[str, Any]] = _no_caches
    """Empties the target's own caches, and says what it did; raises UserError when that would lose data."""
    written: dict[str, Layout] = field(default_factory=dict)
    """Layouts that no mount shows and that were written since it stands, by key."""

    def interrupt(self) -> None:
        """Asks whoever works on the step in flight to end; safe to call from a signal handler."""
        self.crew.interrupt()


class Grounds(Protocol):
    """Brings sites up and takes them down."""

    def standing(self, site: Site) -> AbstractContextManager[Ground]:
        """The site for the length of the block; raises UserError when it cannot be brought up or must not be written to."""
        ...

    def clear(self, site: Site) -> None:
        """Removes what this run left there when it was killed; nothing is brought up for it."""
        ...
