"""Step records -> cells: repeats, jobs and hosts put together from totals. The first stage of the analysis.

Bandwidth is all bytes over the runtime of the slowest job, so a job that ends early cannot raise it; IOPS
likewise. Latency means come from totals, percentiles from the merged histogram: nothing is averaged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from leadline.analyse.attendance import machine_count
from leadline.analyse.wording import is_set, way
from leadline.store.histogram import Histogram
from leadline.store.records import Cell, Direction, Latency, Measurement, Status, StepKind, StepRecord

CellKey = tuple[tuple[str, object], ...]
_BOTH_WAYS = {"rw", "readwrite", "randrw"}


@dataclass(frozen=True)
class Trial:
    """One repeat of a cell in one direction; totals of all its jobs."""

    record: StepRecord
    measurements: Sequence[Measurement]
    """Of this direction only; the record holds the other one too."""
    size_bytes: int
    operations: int
    runtime_ns: int
    """Of the slowest job."""
    bandwidth_bytes_per_second: float
    iops: float

    @classmethod
    def of(cls, record: StepRecord, measurements: Sequence[Measurement]) -> Trial:
        """Rates are everything moved over the runtime of the slowest job; 0 where none of it ran."""
        size_bytes = sum([part.size_bytes for part in measurements])
        operations = sum([part.operations for part in measurements])
        runtime_ns = max([part.runtime_ns for part in measurements])
        per_second = 1e9 / runtime_ns if runtime_ns else 0.0
        return cls(
            record,
            measurements,
            size_bytes,
            operations,
            runtime_ns,
            size_bytes * per_second,
            operations * per_second,
        )

    @property
    def throughput(self) -> float:
        """Bytes per second where bytes moved, else operations per second."""
        return self.bandwidth_bytes_per_second if self.size_bytes else self.iops

    @property
    def concurrent(self) -> Sequence[Measurement]:
        """What ran in the same window: data goes both ways at once, phases run one after the other."""
        return self.measurements if self.measurements[0].direction.is_phase else self.record.measurements

    @property
    def load_ns(self) -> int:
        """How long there was load while the totals of the step were counted: all its phases, one after the other."""
        if not self.measurements[0].direction.is_phase:
            return self.runtime_ns
        phases = _by_direction(self.record).values()
        return sum(max(part.runtime_ns for part in phase) for phase in phases)

    @property
    def failed(self) -> dict[str, int]:
        """Operations that failed, by the errno's name."""
        return total_counts(part.failed for part in self.measurements)

    @property
    def mean_latency_ns(self) -> float:
        """Over all operations of the repeat."""
        return total_mean_ns(part.latency for part in self.measurements) or 0.0

    @cached_property
    def histogram(self) -> Histogram | None:
        """Of all samples of the repeat."""
        return merged_histogram(self.measurements)

    @property
    def job_runtimes_ns(self) -> dict[tuple[str, int], int]:
        """By (host, job), both directions of data, one phase of metadata: how long each took that had anything to do."""
        runtimes: dict[tuple[str, int], int] = {}
        in_phase = self.measurements[0].direction.is_phase
        for part in self.concurrent:
            if in_phase and not part.operations and not part.failed:
                continue
            name = (part.host, part.job)
            runtimes[name] = max(runtimes.get(name, 0), part.runtime_ns)
        return runtimes

    @property
    def throughput_values(self) -> list[float]:
        """Throughput over time in this direction; empty where it was not recorded."""
        direction = self.measurements[0].direction
        return next((series.values for series in self.record.throughput if series.name == direction), [])


@dataclass(frozen=True)
class Trials:
    """All repeats of one cell in one direction, in the order in which they ran."""

    experiment: str
    key: CellKey
    direction: Direction
    trials: tuple[Trial, ...]

    @property
    def first(self) -> StepRecord:
        """The first repeat's record: cell, command and facts."""
        return self.trials[0].record

    @property
    def cell(self) -> Cell:
        """The settings."""
        return self.first.cell

    @property
    def test(self) -> str:
        """The test type as menus show it; of metadata, what was done and in which way: ways are different workloads."""
        if self.direction.is_of_objects:
            return str(self.direction)
        if self.direction.is_phase:
            return f"{self.direction}, {way(self.cell, self.direction)}"
        name = str(self.cell.get("rw") or self.cell.get("test") or self.experiment or self.direction)
        directions = {part.direction for part in self.first.measurements}
        return f"{name}, {self.direction}" if name in _BOTH_WAYS or len(directions) > 1 else name

    @cached_property
    def measurements(self) -> list[Measurement]:
        """Of all repeats, in this direction."""
        return [part for trial in self.trials for part in trial.measurements]

    @cached_property
    def histogram(self) -> Histogram | None:
        """Total latency of all samples of all repeats; None unless every part has one."""
        return merged_histogram(self.measurements)

    @cached_property
    def runtime_ns(self) -> int:
        """Of all repeats one after the other."""
        return sum(trial.runtime_ns for trial in self.trials)

    @cached_property
    def hosts(self) -> int:
        """How many hosts were to take part: a client that is missing does not lower what was offered."""
        asked = self.cell.get("clients")
        return (
            _count(asked) if asked is not None else len({part.host for part in self.first.measurements}) or 1
        )

    @cached_property
    def machines(self) -> int:
        """How many machines generated the load: clients in namespaces share one."""
        return machine_count(self.first) or self.hosts

    @cached_property
    def jobs(self) -> int:
        """How many jobs were asked for, on all hosts."""
        return _count(self.cell.get("numjobs")) * self.hosts

    @cached_property
    def iodepth(self) -> int:
        """Asked for; trees are made and removed one call at a time. Of objects: requests in flight of each client."""
        if self.direction.is_of_objects and "concurrency" in self.cell:
            return _count(self.cell["concurrency"])
        return 1 if self.direction.is_of_trees else _count(self.cell.get("iodepth"))

    @cached_property
    def concurrency(self) -> int:
        """Offered: iodepth x numjobs x hosts."""
        return self.iodepth * self.jobs

    @cached_property
    def effective_concurrency(self) -> float | None:
        """Kept, by Little's law, both directions together: operations x mean latency over the window."""
        parts = [part for trial in self.trials for part in trial.concurrent]
        waited_ns = sum(part.operations * part.latency.mean_ns for part in parts)
        window_ns = sum(max(part.runtime_ns for part in trial.concurrent) for trial in self.trials)
        return waited_ns / window_ns if window_ns and waited_ns else None

    @cached_property
    def least_overlap(self) -> float:
        """Shortest over longest job of the worst repeat: 1 when all jobs ended together."""
        return min(overlap_share(trial) for trial in self.trials)

    @property
    def direct(self) -> bool:
        """Whether O_DIRECT was asked for."""
        return is_set(self.first.facts.get("direct", self.cell.get("direct", False)))

    @property
    def stated_only(self) -> bool:
        """Imported figures without the counts behind them: neither n nor totals mean anything."""
        return bool(self.first.facts.get("stated_rates_only"))


def overlap_share(trial: Trial) -> float:
    """Runtime of the shortest job over that of the longest; 1 for a single job."""
    runtimes = trial.job_runtimes_ns.values()
    longest = max(runtimes, default=0)
    return min(runtimes) / longest if longest else 1.0


def gather_trials(records: Iterable[StepRecord], kind: StepKind = StepKind.CELL) -> list[Trials]:
    """The finished steps of one kind by experiment, cell and direction, in order of first appearance."""
    groups: dict[tuple[str, CellKey, Direction], list[Trial]] = {}
    for record in sorted(records, key=lambda record: record.ordinal):
        if record.kind is kind and record.status is Status.FINISHED:
            key = cell_key(record.cell)
            for direction, parts in _by_direction(record).items():
                groups.setdefault((record.experiment, key, direction), []).append(Trial.of(record, parts))
    return [
        Trials(experiment, key, direction, tuple(trials))
        for (experiment, key, direction), trials in groups.items()
    ]


def cell_key(cell: Cell) -> CellKey:
    """The cell in a form that can be looked up."""
    return tuple(sorted(cell.items()))


def total_mean_ns(latencies: Iterable[Latency]) -> float | None:
    """The mean over all samples of several parts; None without samples."""
    parts = [(part.count, part.mean_ns) for part in latencies if part.count > 0]
    samples = sum(count for count, _ in parts)
    return sum(count * mean_ns for count, mean_ns in parts) / samples if samples else None


def total_counts(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Counts by name, added up."""
    totals: dict[str, int] = {}
    for each in counts:
        for name, count in each.items():
            totals[name] = totals.get(name, 0) + count
    return totals


def merged_histogram(measurements: Sequence[Measurement]) -> Histogram | None:
    """All samples together; None when a part has none, since the rest would not speak for all."""
    parts = [part.latency.histogram for part in measurements]
    known = [part for part in parts if part is not None and len(part.counts)]
    if not known or len(known) < len(parts):
        return None
    return known[0] if len(known) == 1 else Histogram.merge(known)


def _by_direction(record: StepRecord) -> dict[Direction, list[Measurement]]:
    parts: dict[Direction, list[Measurement]] = {}
    for part in record.measurements:
        parts.setdefault(part.direction, []).append(part)
    return parts


def _count(value: object) -> int:
    return max(int(value), 1) if isinstance(value, int | float) else 1
