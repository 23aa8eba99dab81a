"""A step: the unit of work, of storage and of resuming. It is complete in itself, JSON in and JSON out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from leadline.plan.sites import THE_DIRECTORY, Site
from leadline.store.records import Cell, StepKind

Files = Literal["none", "reuse", "fresh", "own", "tree", "judged", "mounts", "pair", "objects", "checks"]
"""none: the step touches no files; reuse: the layout must be there; fresh: starts from no files and leaves them for
later reads; own: the workload names its own files (a user's job file); tree: it makes and removes its own, in a folder that all
clients share; judged: as that, and what comes of it is a document and no rate; mounts: as that, by one command that works through the
mounts of all clients; pair: no files, two clients talk to each other; objects: no files, requests to an object store; checks: as that,
and what comes of it is a document and no rate."""
WITHOUT_RATE = ("judged", "mounts", "checks")
OF_OBJECTS = ("objects", "checks")


@dataclass(frozen=True)
class Layout:
    """The files that cells of one shape share: `jobs` x `files_a_job` files of `file_bytes` each, written once, read by many."""

    key: str
    """Folder name inside the work directory."""
    jobs: int
    files_a_job: int
    file_bytes: int
    filename: str = ""
    """One file shared by all jobs, by this name; empty: every job has its own."""
    ioengine: str = ""
    """What alone can write them, where no mount shows them ("nfs", "rbd"); empty: any."""
    clients: int = 0
    """How many clients have files, each in a folder of its own; 0: there is no talk of several, the files lie in the layout's folder."""

    @property
    def total_bytes(self) -> int:
        """Space it needs."""
        return max(self.clients, 1) * self.jobs * self.files_a_job * self.file_bytes


@dataclass(frozen=True)
class Step:
    """One thing to do."""

    ordinal: int
    kind: StepKind
    experiment: str
    engine: str
    cell: Cell
    repeat: int = 0
    files: Files = "none"
    layout: Layout | None = None
    cache: str = "as is"
    seed: int = 1
    expected_seconds: float = 0.0
    timeout_seconds: float = 600.0
    """Then the engine and all its children are killed and the step has failed."""
    expected_bytes: int | None = None
    """Bytes that must have moved; None where only time bounds the step."""
    section: str | None = None
    """Of a user's job file."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Further fio options, passed on as they are."""
    site: Site = THE_DIRECTORY
    """What it stands on."""

    @property
    def clients(self) -> int:
        """How many take part."""
        return 2 if self.files == "pair" else int(self.cell.get("clients", 1))

    def to_json(self) -> dict[str, Any]:
        """JSON-ready, as the manifest keeps it."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Step:
        """The inverse of `to_json`."""
        layout, site = document["layout"], document.get("site")
        known = {
            **document,
            "kind": StepKind(document["kind"]),
            "layout": Layout(**layout) if layout else None,
            "site": Site.from_json(site) if site else THE_DIRECTORY,
        }
        return cls(**known)
