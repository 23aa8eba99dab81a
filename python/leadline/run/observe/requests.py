"""Where a mounted filesystem counts the requests that reach it, and what it calls them.

leadline-engine reads such a file before and after every phase of the metadata load (crates/leadline-workloads,
`metadata/counters.rs`) and tells by how much each counter grew. Here stands what that code must not know: which file, which of
its names are requests, and of what kind. The counters of JuiceFS and MooseFS are of the moment in which the file is opened, not
refreshed now and then (seen with JuiceFS 1.4.1 and MooseFS 3.0.117); those of kernel NFS are documented in nfsstat(8), mountstats(8).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.run.observe.machine import Machine
from leadline.run.observe.mounts import Mount, find_mount

NFS_STATISTICS = "/proc/self/mountstats"


@dataclass(frozen=True)
class Family:
    """Counters of one kind: what their names begin with, and what they count."""

    prefix: str
    word: str
    """Stands before what is left of the name: "FUSE lookup"."""
    counts: Callable[[str], bool] = lambda rest: True
    """Whether what is left of the name is one; others are shares of one, which would count twice."""

    def named(self, name: str) -> str | None:
        """What to call a counter of this kind; None: it is not of this kind."""
        rest = name.removeprefix(self.prefix)
        if not name.startswith(self.prefix) or not rest or not self.counts(rest):
            return None
        return f"{self.word} {rest}"


JUICEFS = (Family("juicefs_fuse_ops_total_", "FUSE"), Family("juicefs_meta_ops_total_", "metadata"))
MOOSEFS = (
    Family("fuse_ops.", "FUSE", lambda rest: "." not in rest),
    Family("master.packets_", "master packets"),
)
NFS = (Family("", "NFS", lambda rest: rest.isupper() and rest.isascii()),)
FAMILIES = (*JUICEFS, *MOOSEFS, *NFS)


@dataclass(frozen=True)
class RequestCounters:
    """The counters of one mount."""

    file: str
    """On the machine that has the mount."""
    families: tuple[Family, ...]
    section: str | None = None
    """A text in the line with which the mount's part of the file begins; None: all of the file is about it."""

    def step_fields(self) -> dict[str, Any]:
        """What a step of the metadata load says to have them read."""
        fields: dict[str, Any] = {"counters_file": self.file}
        prefixes = [family.prefix for family in self.families if family.prefix]
        if prefixes:
            fields["counters_prefixes"] = prefixes
        if self.section is not None:
            fields["counters_section"] = self.section
        return fields


def requests_in(grown: Mapping[str, int]) -> dict[str, int]:
    """Of all counters that grew, the requests, by what they are: {"FUSE lookup": 12, "metadata Lookup": 12}.

    Whose counters they are shows in their names."""
    named = ((family.named(name), count) for name, count in grown.items() for family in FAMILIES)
    return {name: count for name, count in sorted(named, key=str) if name is not None}


def counters_of(mount: Mount) -> RequestCounters | None:
    """Those that a mount of this type would have; None: nobody knows of any."""
    subtype = mount.type.removeprefix("fuse.")
    statistics = str(mount.point / ".stats")
    if subtype == "juicefs" or mount.source.startswith("JuiceFS:"):
        return RequestCounters(statistics, JUICEFS)
    if subtype in ("moosefs", "mfs"):
        return RequestCounters(statistics, MOOSEFS)
    if mount.type in ("nfs", "nfs4"):
        point = str(mount.point).replace(" ", r"\040")  # as the kernel writes it there
        return RequestCounters(NFS_STATISTICS, NFS, f" mounted on {point} with fstype nfs")
    return None


def find_request_counters(machine: Machine, directory: Path) -> RequestCounters | None:
    """The counters of the mount that a directory lies on, if they can really be read: JuiceFS can hide them
    (`--hide-internal`), and of a bind mount only a part of the filesystem is seen."""
    mount = find_mount(machine, directory)
    counters = None if mount is None else counters_of(mount)
    if counters is None or not machine.text(counters.file):
        return None
    return counters
