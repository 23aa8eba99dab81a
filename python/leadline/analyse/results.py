"""The vocabulary of results: what the analysis hands to reports and exports. Every figure carries n,
interval and verdict.

Units: bandwidths in bytes per second, rates in operations per second, latencies in nanoseconds, shares
0..1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from leadline.analyse.consistency import Sounded
from leadline.analyse.disks import DiskLine
from leadline.analyse.machine import Machine
from leadline.analyse.participants import ClientResult, HostUse, Together
from leadline.analyse.phases import Phase
from leadline.analyse.prediction.beside import Foretelling
from leadline.spec.settings import is_of_site
from leadline.store.conformance import Conformance
from leadline.store.histogram import Histogram
from leadline.store.manifest import Manifest
from leadline.store.object_checks import ObjectChecks
from leadline.store.records import Cell, Direction, Scalar
from leadline.store.series import Series

METRICS = ("bandwidth", "iops", "mean", "p50", "p90", "p99", "p99.9")
"""The metrics of a cell, in the order in which they are shown; all from "mean" on are latencies."""

NoiseOf = tuple[tuple[tuple[str, Scalar], ...], Direction | None]

PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval. `low` and `high` bound the 95 % interval; None where the data cannot give
    one.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    method: str
    """Where interval and n come from, e.g. "t interval over 3 repeats", "batch means over 20 intervals",
    "order statistics".
    """
    ends: tuple[float, float] | None = None
    """First and last repeat where a trend forbids a mean; `value` is then the last."""


class VerdictName(StrEnum):
    """Why a point is not valid (docs/concepts/verdicts.md)."""

    IMPOSSIBLE = "impossible"
    CACHED = "cached"
    GENERATOR_BOUND = "generator-bound"
    UNSTEADY = "unsteady"
    SHORT_WINDOW = "short window"
    TOO_FEW_SAMPLES = "too few samples"
    INERT_AXIS = "inert axis"
    COLLAPSED = "collapsed"
    TREND = "trend"
    UNLIKE_REPEATS = "unlike repeats"
    NOT_OVERLAPPING = "not overlapping"
    INCOMPLETE = "incomplete"
    FAILED_OPERATIONS = "failed operations"


@dataclass(frozen=True)
class Verdict:
    """One reason to distrust a point, with the evidence as a sentence that holds the figures."""

    name: VerdictName
    evidence: str
    metrics: tuple[str, ...] = METRICS
    """The metrics it touches: "too few samples" may spoil p99 and leave the bandwidth valid."""
    severity: float = 1.0
    """How many times beyond its threshold the figure lies: ranks the evidence of one verdict."""


@dataclass(frozen=True)
class CellResult:
    """One cell in one direction, all its repeats merged."""

    run: str
    """Label of the run it comes from."""
    experiment: str
    cell: Cell
    direction: Direction
    test: str
    """The test type as menus show it: "randread", or "randrw, read" where a cell goes both ways."""
    repeats: int
    metrics: Mapping[str, Estimate]
    """By name (METRICS); a metric that the source does not give is absent."""
    verdicts: tuple[Verdict, ...] = ()
    histogram: Histogram | None = None
    """Total latency of all samples of all repeats."""
    concurrency: int = 1
    """Offered: iodepth x numjobs (x hosts)."""
    effective_concurrency: float | None = None
    """Kept, by Little's law: IOPS x mean latency."""
    submission_mean_ns: float | None = None
    completion_mean_ns: float | None = None
    operations: int = 0
    size_bytes: int = 0
    resources: Mapping[str, float] = field(default_factory=dict)
    """Summary beside the cell. Known keys: cpu_busy_share, cpu_iowait_share, cpu_steal_share,
    engine_cpu_cores (of metadata in user mode only), kernel_cpu_cores (of metadata: what the calls themselves took),
    disk_read_bytes_per_second, disk_write_bytes_per_second, disk_utilisation, disk_queue_length, dirty_bytes_max,
    memory_available_bytes_min, context_switches_per_second, nic_receive_bytes_per_second,
    nic_transmit_bytes_per_second (of the clients together, where they have NICs of their own), nic_share (bytes at the
    clients' NICs over bytes of the application), tcp_retransmitted_segments_per_second,
    retransmitted_segments (of network cells, a repeat), io_pressure_share; in a lab client_cpu_cores and server_cpu_cores, what each side's
    processes used, client_cpu_share and server_cpu_share, of what they may use, disk_held_share, of what the fullest disk is held to;
    of FUSE mounts fuse_waiting_requests, mean of the client whose queue was deepest, fuse_waiting_requests_max, and that mount's limits
    fuse_max_background and fuse_congestion_threshold; where other machines made the load, those of CPU and disks are theirs;
    of requests to an object store, over all repeats, client_cpu_seconds, client_instances (of one client), listed_objects,
    retried_requests.
    """
    throughput: tuple[Series, ...] = ()
    """Throughput over time in this direction, one series a repeat."""
    command: str = ""
    """The command line that repeats it."""
    ordinals: tuple[int, ...] = ()
    """The steps it was made from."""
    clients: tuple[ClientResult, ...] = ()
    """Each client's own figures; empty where a single one made the load."""
    together: Together | None = None
    """How the clients ran at once; None for a single one."""
    hosts: tuple[HostUse, ...] = ()
    """NIC use of clients and servers, where hosts of their own were counted."""
    noise_floor: float | None = None
    """How much what it stands on differs from itself (A/A); None where that was not measured."""
    failed: Mapping[str, int] = field(default_factory=dict)
    """Operations that failed, by the errno's name: they are in no metric."""
    phase: Phase | None = None
    """Of metadata only."""

    @property
    def throughput_metric(self) -> str:
        """The metric that says how much was done: bandwidth where bytes moved, else operations per second."""
        return "bandwidth" if "bandwidth" in self.metrics else "iops"

    @property
    def rate(self) -> Estimate | None:
        """The throughput; None where nothing was done."""
        return self.metrics.get(self.throughput_metric)

    def spoiled(self, metric: str) -> tuple[Verdict, ...]:
        """The verdicts that touch this metric."""
        return tuple(verdict for verdict in self.verdicts if metric in verdict.metrics)

    def valid(self, metric: str) -> bool:
        """Whether this metric of this cell may be believed."""
        return metric in self.metrics and not self.spoiled(metric)


@dataclass(frozen=True)
class FailedCell:
    """A step that gave no figure, and why."""

    run: str
    experiment: str
    cell: Cell
    repeat: int
    reason: str
    command: str = ""


@dataclass(frozen=True)
class Saturation:
    """Where a curve of throughput over concurrency bends (definitions: docs/concepts/knees.md)."""

    peak: float
    """Throughput at the peak: the median of the top three where there is a plateau, else the maximum."""
    peak_load: float
    onset_load: float | None
    """N* = Xmax / X1 in units of the load axis: where queueing begins (Kleinrock). None when load 1 was not
    measured.
    """
    knee_load: float | None
    """N90: the smallest load, log-interpolated, with X >= 0.9 x peak."""
    censored: bool
    """The last doubling still gained more than 10 %: the peak may lie beyond what was measured."""
    collapse_load: float | None
    """The first load above the peak at which throughput is more than 15 % below it; None where it holds."""
    doubtful: bool = False
    """It rests on points that are not valid."""


@dataclass(frozen=True)
class Curve:
    """Cells that differ in load only, ascending: one line of throughput against latency."""

    run: str
    experiment: str
    test: str
    axis: str
    """The axis that is swept: "iodepth", "numjobs" or "clients"."""
    fixed: Cell
    """What all its cells share and that tells it from its siblings, e.g. {"block_size": 4096, "ioengine":
    "io_uring", "numjobs": 1}.
    """
    label: str
    """Short name for a legend: "4 KiB", or "io_uring, 4 KiB, 4 jobs"."""
    loads: tuple[float, ...]
    cells: tuple[CellResult, ...]
    saturation: Saturation | None

    @property
    def throughput_metric(self) -> str:
        """The metric that rises along it."""
        return next((cell.throughput_metric for cell in self.cells if cell.rate), "bandwidth")


@dataclass(frozen=True)
class Grid:
    """All cells that share everything but two axes and the test type: one surface per test."""

    run: str
    experiment: str
    label: str
    fixed: Cell
    x_axis: str
    """Axis name, e.g. "iodepth"."""
    y_axis: str
    tests: tuple[str, ...]
    cells: tuple[CellResult, ...]


@dataclass(frozen=True)
class Comparison:
    """The same cell under two values of one axis (io_uring against libaio, 4 KiB against 64 KiB, run
    against run).
    """

    axis: str
    left: CellResult
    right: CellResult
    ratios: Mapping[str, Estimate]
    """metric -> right / left with its interval."""
    differs: bool | None
    """Whether the throughput intervals tell the two apart, beyond this machine's noise floor;
    None where the data gives no interval."""


@dataclass(frozen=True)
class Standing:
    """A target at its best settings in one test."""

    target: str
    cell: CellResult
    ratio: Estimate | None
    """Its throughput over that of the best target; None for the best itself."""


@dataclass(frozen=True)
class Ranking:
    """All targets of a run in one test: those that may be believed first, by throughput."""

    run: str
    test: str
    label: str
    """What else is held in words, e.g. "4 KiB"; may be empty."""
    standings: tuple[Standing, ...]
    absent: tuple[tuple[str, str], ...] = ()
    """Targets without a figure in this test, and why."""


@dataclass(frozen=True)
class Site:
    """What cells stood on."""

    target: str
    """As the cells name it; empty where a run has one."""
    machine: Machine
    """The client on it: the filesystem, the way in."""
    conditions: Mapping[str, float]
    """What the lab was held to, by setting (spec/settings.py)."""


@dataclass(frozen=True)
class Reference:
    """Limits and baselines of the machine that the cells are judged by."""

    ceiling_iops: float | None = None
    """The generator alone (fio's null engine, one job)."""
    memory_copy_bytes_per_second: float | None = None
    noise_floor: float | None = None
    """Largest relative difference of the A/A repeats from their median."""
    noise_repeats: int = 0
    noise_floors: Mapping[NoiseOf, float] = field(default_factory=dict)
    """Each site and each operation of metadata differs from itself in its own way; `noise_floor` is the largest of them."""
    limits: Mapping[str, float] = field(default_factory=dict)
    """Nominal limits that the campaign states, bytes per second by "read", "write", "randread",
    "randwrite", "network".
    """
    memory_copy_jobs: int = 1
    """How many jobs made the memory copy: more jobs may copy more."""
    device_read_floors_ns: Mapping[str, float] = field(default_factory=dict)
    """By target ("" where a run has one), the fastest answer to an O_DIRECT read whose bytes showed at the
    block devices."""

    def noise_of(self, cell: Cell, direction: Direction) -> float | None:
        """How much the cell's site differs from itself in this operation; what was not measured there, is as bad as anywhere."""
        return self.noise_floors.get(noise_key(cell, direction), self.noise_floor)


def noise_key(cell: Cell, direction: Direction) -> NoiseOf:
    """What has a noise floor of its own: what the cell stands on, and which operation of metadata it is."""
    site = {name: value for name, value in cell.items() if is_of_site(name)}
    return tuple(sorted(site.items())), direction if direction.is_phase else None


@dataclass(frozen=True)
class Answer:
    """One sentence with figures, in answer to a question of the reader."""

    question: str
    """"How fast should it be?" | "How fast is it?" | "Where does the difference go?" | "Is it right?" |
    "Best settings".
    """
    sentence: str
    cell: CellResult | None = None
    measured: bool = True
    """False where leadline has nothing to say (yet): the report says that it was not measured."""


@dataclass(frozen=True)
class Doubt:
    """One entry of the box "What not to trust here, and why"."""

    name: str
    sentence: str
    cells: int
    """How many cells it touches."""


@dataclass(frozen=True)
class Results:
    """One run, analysed."""

    label: str
    manifest: Manifest
    environment: Mapping[str, Any]
    reference: Reference
    cells: tuple[CellResult, ...]
    failed: tuple[FailedCell, ...]
    curves: tuple[Curve, ...]
    grids: tuple[Grid, ...]
    comparisons: tuple[Comparison, ...]
    answers: tuple[Answer, ...]
    doubts: tuple[Doubt, ...]
    rankings: tuple[Ranking, ...] = ()
    """The targets of a run that has several, one ranking a test."""
    sites: tuple[Site, ...] = ()
    """What the cells stood on."""
    warnings: tuple[str, ...] = ()
    """What engines printed beside their results, distinct, with how often."""
    conformance: tuple[Conformance, ...] = ()
    """What conformance suites said, a run of one each."""
    object_checks: tuple[ObjectChecks, ...] = ()
    """What each object store can do."""
    consistency: tuple[Sounded, ...] = ()
    """What clients saw of each other, one a cell and site."""
    predictions: tuple[Foretelling, ...] = ()
    """What was foretold of its cells before they were measured, with what came."""
    disks: tuple[DiskLine, ...] = ()
    """Local disks against their sheets."""
    planned_cells: int = 0
    missing_cells: int = 0
    """Planned, neither measured nor failed: the run was stopped."""
