"""Step records in SQLite: a step is written in one transaction, so `kill -9` leaves it whole or absent."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from leadline.errors import UserError
from leadline.store.histogram import Histogram
from leadline.store.manifest import FORMAT_VERSION
from leadline.store.records import (
    Direction,
    JobUse,
    Latency,
    Measurement,
    Series,
    Status,
    StepKind,
    StepRecord,
)

APPLICATION_ID = 0x6C656164
LATENCY_KINDS = ("latency", "submission", "completion", "service", "lag")


class Database:
    """The results.sqlite of one run."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self.path = path

    @classmethod
    def create(cls, path: Path) -> Database:
        """A new, empty database; raises UserError when it cannot be written."""
        try:
            connection = sqlite3.connect(path)
            connection.executescript(resources.files("leadline.store").joinpath("schema.sql").read_text())
        except sqlite3.Error as error:
            raise UserError(f"{path} cannot be created: {error}") from None
        return cls(connection, path)

    @classmethod
    def open(cls, path: Path) -> Database:
        """An existing database; raises UserError when it is missing, broken, foreign or of another version."""
        if not path.is_file():
            raise UserError(f"{path} is missing: this run has no results; give the folder that a run printed")
        try:
            connection = sqlite3.connect(path)
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            # SQLite fills a last page that was cut off with zeros, and rows in it would vanish without an error.
            whole = path.stat().st_size % connection.execute("PRAGMA page_size").fetchone()[0] == 0
        except (sqlite3.Error, ValueError) as error:  # ValueError: names that are no UTF-8
            raise UserError(f"{path} is not a readable database ({error}); restore it from a copy") from None
        if application != APPLICATION_ID:
            raise UserError(
                f"{path} is a database, but not one of leadline's; give the folder that a run printed"
            )
        if not whole:
            raise UserError(f"{path} is cut off in the middle of a page; restore it from a copy")
        if version != FORMAT_VERSION:
            raise UserError(
                f"{path} has format {version}, this leadline reads format {FORMAT_VERSION}; use the leadline that wrote it"
            )
        return cls(connection, path)

    def close(self) -> None:
        """Nothing is pending: every save was committed."""
        self._connection.close()

    def save(self, record: StepRecord) -> None:
        """Writes a step, in place of an earlier try at the same ordinal. Raises UserError when the disk will not take it."""
        try:
            with self._connection:
                self._connection.execute("PRAGMA foreign_keys = ON")
                self._connection.execute("DELETE FROM step WHERE ordinal = ?", (record.ordinal,))
                for table, rows in _rows(record).items():
                    for row in rows:
                        marks = ", ".join("?" * len(row))
                        self._connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)
        except sqlite3.Error as error:
            raise UserError(
                f"step {record.ordinal} could not be saved in {self.path} ({error}); make room and resume: finished steps are safe"
            ) from None

    def records(self) -> list[StepRecord]:
        """All steps in the order of the plan."""
        try:
            latencies = self._grouped("latency", _latency_of)
            measurements = self._grouped("measurement", lambda row: _measurement_of(row, latencies[row[0]]))
            jobs = self._grouped("job_use", lambda row: JobUse(*row[1:]))
            series = self._grouped("series", lambda row: (row[1], _series_of(row)))
            steps = self._connection.execute("SELECT * FROM step ORDER BY ordinal").fetchall()
            return [_record_of(row, measurements[row[0]], jobs[row[0]], series[row[0]]) for row in steps]
        except (sqlite3.Error, ValueError, TypeError, zlib.error) as error:
            raise self._damaged(error) from None

    def finished_ordinals(self) -> set[int]:
        """The steps that need not be run again: finished ones and failed ones, which are results too."""
        try:
            return {row[0] for row in self._connection.execute("SELECT ordinal FROM step")}
        except (sqlite3.Error, ValueError) as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> UserError:
        return UserError(f"{self.path} is damaged ({error}); restore it from a copy")

    def _grouped(self, table: str, build: Callable[[tuple[Any, ...]], Any]) -> defaultdict[int, list[Any]]:
        groups: defaultdict[int, list[Any]] = defaultdict(list)
        for row in self._connection.execute(f"SELECT * FROM {table} ORDER BY ordinal, rowid"):
            groups[row[0]].append(build(row))
        return groups


def _rows(record: StepRecord) -> dict[str, list[tuple[Any, ...]]]:
    step = (
        record.ordinal, record.kind, record.experiment, json.dumps(dict(record.cell)), record.repeat, record.status, record.reason,
        record.engine, record.started_unix_ns, record.wall_ns, json.dumps(record.command), record.exit_code,
        json.dumps(dict(record.totals)), json.dumps(record.warnings), json.dumps(dict(record.facts)),
    )  # fmt: skip
    return {
        "step": [step],
        "measurement": [
            (
                record.ordinal,
                each.host,
                each.job,
                each.direction,
                each.operations,
                each.size_bytes,
                each.runtime_ns,
            )
            for each in record.measurements
        ],
        "latency": [row for each in record.measurements for row in _latency_rows(record.ordinal, each)],
        "job_use": [
            (
                record.ordinal,
                use.host,
                use.job,
                use.user_cpu_share,
                use.system_cpu_share,
                use.context_switches,
                use.runtime_ns,
                use.error,
            )
            for use in record.jobs
        ],
        "series": [
            (
                record.ordinal,
                family,
                each.name,
                each.unit,
                np.array(each.times_ns, "<i8").tobytes(),
                np.array(each.values, "<f8").tobytes(),
            )
            for family, group in (("throughput", record.throughput), ("counter", record.counters))
            for each in group
        ],
    }


def _latency_rows(ordinal: int, measurement: Measurement) -> Iterable[tuple[Any, ...]]:
    for kind in LATENCY_KINDS:
        latency: Latency | None = getattr(measurement, kind)
        if latency is None:
            continue
        yield (
            ordinal, measurement.host, measurement.job, measurement.direction, kind, latency.count, latency.mean_ns, latency.min_ns,
            latency.max_ns, latency.standard_deviation_ns, latency.histogram.to_bytes() if latency.histogram else None,
            json.dumps(dict(latency.stated_percentiles_ns)),
        )  # fmt: skip


def _latency_of(row: tuple[Any, ...]) -> tuple[tuple[str, int, str], str, Latency]:
    _, host, job, direction, kind, count, mean, smallest, largest, deviation, blob, stated = row
    histogram = Histogram.from_bytes(blob) if blob is not None else None
    return (
        (host, job, direction),
        kind,
        Latency(count, mean, smallest, largest, deviation, histogram, json.loads(stated)),
    )


def _measurement_of(
    row: tuple[Any, ...], latencies: Sequence[tuple[tuple[str, int, str], str, Latency]]
) -> Measurement:
    _, host, job, direction, operations, size_bytes, runtime_ns = row
    kinds = {kind: latency for owner, kind, latency in latencies if owner == (host, job, direction)}
    if "latency" not in kinds:
        raise ValueError(f"the measurement of job {job} of step {row[0]} has no latency")
    return Measurement(host, job, Direction(direction), operations, size_bytes, runtime_ns, **kinds)


def _series_of(row: tuple[Any, ...]) -> Series:
    _, _, name, unit, times, values = row
    return Series(name, unit, np.frombuffer(times, "<i8").tolist(), np.frombuffer(values, "<f8").tolist())


def _record_of(
    row: tuple[Any, ...],
    measurements: list[Measurement],
    jobs: list[JobUse],
    series: list[tuple[str, Series]],
) -> StepRecord:
    (
        ordinal,
        kind,
        experiment,
        cell,
        repeat,
        status,
        reason,
        engine,
        started,
        wall,
        command,
        exit_code,
        totals,
        warnings,
        facts,
    ) = row
    return StepRecord(
        ordinal=ordinal, kind=StepKind(kind), experiment=experiment, cell=json.loads(cell), repeat=repeat, status=Status(status),
        reason=reason, engine=engine, started_unix_ns=started, wall_ns=wall, command=tuple(json.loads(command)), exit_code=exit_code,
        measurements=tuple(measurements), jobs=tuple(jobs), throughput=tuple(each for family, each in series if family == "throughput"),
        counters=tuple(each for family, each in series if family == "counter"), totals=json.loads(totals),
        warnings=tuple(json.loads(warnings)), facts=json.loads(facts),
    )  # fmt: skip
