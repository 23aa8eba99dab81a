"""What one step leaves behind: the vocabulary that engines write, the store keeps and the analysis reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from leadline.store.histogram import Histogram
from leadline.store.series import Series, SeriesTable

Scalar = str | int | float | bool
Cell = Mapping[str, Scalar]
"""One point of a grid: axis or setting name (spec/settings.py) -> value, e.g. {"rw": "read", "block_size": 4096, "iodepth": 8}.

Sizes are bytes, durations are seconds.
"""


class Direction(StrEnum):
    """What the operations were: the way the data went (to and from storage, between two hosts), what was done to objects, or what was done
    to names (mdtest's phases, in its order)."""

    READ = "read"
    WRITE = "write"
    TRIM = "trim"
    SEND = "send"
    RECEIVE = "receive"
    TREE_CREATE = "tree create"
    DIRECTORY_CREATE = "directory create"
    DIRECTORY_STAT = "directory stat"
    DIRECTORY_RENAME = "directory rename"
    DIRECTORY_REMOVE = "directory remove"
    FILE_CREATE = "file create"
    FILE_STAT = "file stat"
    FILE_READ = "file read"
    FILE_REMOVE = "file remove"
    TREE_REMOVE = "tree remove"
    OBJECT_PUT = "object put"
    OBJECT_MULTIPART_PUT = "object multipart put"
    OBJECT_GET = "object get"
    OBJECT_HEAD = "object head"
    OBJECT_LIST = "object list"
    OBJECT_DELETE = "object delete"

    @property
    def is_phase(self) -> bool:
        """Whether it has a phase of its own, while nothing else runs; data goes both ways at the same time."""
        return self not in _OF_DATA

    @property
    def is_of_trees(self) -> bool:
        """Whether it makes or removes trees: always by full paths, one call at a time."""
        return self in (Direction.TREE_CREATE, Direction.TREE_REMOVE)

    @property
    def is_of_names(self) -> bool:
        """Whether it is one of mdtest's phases."""
        return self.is_phase and not self.is_of_objects

    @property
    def is_of_objects(self) -> bool:
        """Whether it is a request to an object store."""
        return self.value.startswith("object ")


_OF_DATA = frozenset({Direction.READ, Direction.WRITE, Direction.TRIM, Direction.SEND, Direction.RECEIVE})


class Status(StrEnum):
    """How a step ended: a failed step is a recorded result, never a silent gap."""

    FINISHED = "finished"
    FAILED = "failed"


class StepKind(StrEnum):
    """Why a step was run."""

    LAYOUT = "layout"  # writes the files that later cells read
    CEILING = "ceiling"  # the generator alone, against fio's null engine
    MEMORY = "memory"  # memory copy bandwidth: the limit of anything served from a cache
    NOISE = "noise"  # one reference cell again and again (A/A): how much this machine differs from itself
    PREDICTION = "prediction"  # what a model expects of cells to come: reckoned, not measured
    CELL = "cell"  # a measured cell


@dataclass(frozen=True)
class Latency:
    """Latency of one kind over `count` operations; `histogram` is None where the source gave none (imports)."""

    count: int
    mean_ns: float
    min_ns: float | None = None
    max_ns: float | None = None
    standard_deviation_ns: float | None = None
    histogram: Histogram | None = None
    stated_percentiles_ns: Mapping[str, float] = field(default_factory=dict)
    """{"0.99": ns} as a foreign source states them: kept and shown as stated, never merged."""


@dataclass(frozen=True)
class Measurement:
    """What one job on one host moved in one direction. `latency` is the total, as the application waits for it."""

    host: str
    """The client: "client1"; where a cell has one, the host's own name."""
    job: int
    direction: Direction
    operations: int
    size_bytes: int
    runtime_ns: int
    latency: Latency
    submission: Latency | None = None  # fio's slat: until the request is handed over
    completion: Latency | None = None  # fio's clat: from there until it is done
    service: Latency | None = (
        None  # paced engine: from the start of the system call, blind to its own lateness
    )
    lag: Latency | None = None  # paced engine: how late the operation started
    failed: Mapping[str, int] = field(default_factory=dict)
    """Operations that failed, by the errno's name; they are neither in `operations` nor in any latency."""

    def by(self, host: str) -> Measurement:
        """The same, measured by that client."""
        return replace(self, host=host)


@dataclass(frozen=True)
class JobUse:
    """What one job of the load generator itself used."""

    host: str
    job: int
    user_cpu_share: float  # of one core, 0..1
    system_cpu_share: float
    context_switches: int
    runtime_ns: int
    error: int  # errno, 0 = none

    def by(self, host: str) -> JobUse:
        """The same, of that client's generator."""
        return replace(self, host=host)


@dataclass(frozen=True)
class StepRecord:
    """Everything one step left behind."""

    ordinal: int
    """Place in the plan, 0 first. Unique in a run."""
    kind: StepKind
    experiment: str
    cell: Cell
    repeat: int
    status: Status
    reason: str | None = None
    """Why it failed, as a sentence; None when finished."""
    engine: str = "fio"
    started_unix_ns: int = 0
    wall_ns: int = 0
    command: tuple[str, ...] = ()
    exit_code: int | None = None
    measurements: tuple[Measurement, ...] = ()
    jobs: tuple[JobUse, ...] = ()
    throughput: tuple[Series, ...] = ()
    """Bytes per second of all jobs of all clients together: names "read" and "write"; of one client's jobs "read@client1".
    Of a phase, operations per second under its own name, from its own start.

    A client's own series counts from its own begin: the analysis lays it over the time of its load.
    """
    counters: tuple[SeriesTable, ...] = ()
    """Resource use beside the step, a sample a second (run/observe/counters.py gives the names)."""
    totals: Mapping[str, float] = field(default_factory=dict)
    """Counter differences over the step's window, e.g. "disk.vda.read_bytes"; of hosts of their own (clients and servers of a
    lab) "host.client1.nic.v0.receive_bytes", "host.client1.tcp.retransmitted_segments"."""
    warnings: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What was so when it ran. Known keys: caches ("dropped" | "kept" | "drop not permitted"), caches_reason,
    target_caches (of a cold step, the target's own cache directories: "cleared" | "none"), target_cache_cleared_bytes,
    dataset_bytes, direct, buffered_without_flush (bool), expected_bytes, engine_cpu_seconds, interrupted (bool),
    by_hand (the command for a person to repeat the step); clients (a list: name, host = the machine it lives on, started_ns and
    ended_ns of its engine's process since the first start), release_skew_ns; filesystem (type, is_fuse, is_network, is_memory of
    what the step stood on, where a run has several), access (the ioengine that reached it past the mount), site_conditions (by
    setting: link ...), data_over_network (False where the data takes no NIC although the filesystem is one of the network); phases
    (of metadata, in the order in which they ran: operation, planned, start_ns since the first began, first_done_ns and last_done_ns
    since its own start; user_ns and system_ns, processor time of all ranks; requests that reached the filesystem, by name, where they
    could be counted)."""
    documents: Mapping[str, str] = field(default_factory=dict)
    """What it came to, where that is no rate: JSON by its kind ("posix": store/conformance.py)."""
