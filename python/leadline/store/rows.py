"""A step record as rows of the tables in schema.sql, and back."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from leadline.store.histogram import Histogram
from leadline.store.records import Direction, JobUse, Latency, Measurement, Status, StepKind, StepRecord
from leadline.store.series import Series, SeriesTable

Row = tuple[Any, ...]
LATENCY_KINDS = ("latency", "submission", "completion", "service", "lag")
Owner = tuple[str, int, str]
"""Host, job and direction: whose latency it is."""


def rows_of(record: StepRecord) -> Iterator[tuple[str, Row]]:
    """(table, row) for everything in the record."""
    ordinal = record.ordinal
    yield "step", _step_row(record)
    for each in record.measurements:
        yield (
            "measurement",
            (ordinal, each.host, each.job, each.direction, each.operations, each.size_bytes, each.runtime_ns),
        )
        yield from (("latency", row) for row in _latency_rows(ordinal, each))
        yield from (
            ("failure", (ordinal, each.host, each.job, each.direction, *one)) for one in each.failed.items()
        )
    for use in record.jobs:
        shares = (use.user_cpu_share, use.system_cpu_share)
        yield (
            "job_use",
            (ordinal, use.host, use.job, *shares, use.context_switches, use.runtime_ns, use.error),
        )
    for table in SeriesTable.group(record.throughput):
        yield "series", (ordinal, "throughput", *_series_row(table))
    for table in record.counters:
        yield "series", (ordinal, "counter", *_series_row(table))
    for kind, text in record.documents.items():
        yield "document", (ordinal, kind, zlib.compress(text.encode()))


def _step_row(record: StepRecord) -> Row:
    return (
        record.ordinal, record.kind, record.experiment, json.dumps(dict(record.cell)), record.repeat, record.status, record.reason,
        record.engine, record.started_unix_ns, record.wall_ns, json.dumps(record.command), record.exit_code,
        json.dumps(dict(record.totals)), json.dumps(record.warnings), json.dumps(dict(record.facts)),
    )  # fmt: skip


def _latency_rows(ordinal: int, measurement: Measurement) -> Iterator[Row]:
    for kind in LATENCY_KINDS:
        latency: Latency | None = getattr(measurement, kind)
        if latency is not None:
            yield (
                ordinal, measurement.host, measurement.job, measurement.direction, kind, latency.count, latency.mean_ns,
                latency.min_ns, latency.max_ns, latency.standard_deviation_ns,
                latency.histogram.to_bytes() if latency.histogram else None, json.dumps(dict(latency.stated_percentiles_ns)),
            )  # fmt: skip


def _series_row(table: SeriesTable) -> Row:
    arrays = table.times_ns.astype("<i8").tobytes(), table.values.astype("<f8").tobytes()
    return json.dumps(table.names), json.dumps(table.units), *arrays


def latency_of(row: Row) -> tuple[Owner, str, Latency]:
    """Whose, of which kind, and the latency."""
    _, host, job, direction, kind, count, mean, smallest, largest, deviation, blob, stated = row
    histogram = Histogram.from_bytes(blob) if blob is not None else None
    stated_percentiles_ns = json.loads(stated) if stated != "{}" else {}
    return (
        (host, job, direction),
        kind,
        Latency(count, mean, smallest, largest, deviation, histogram, stated_percentiles_ns),
    )


def failure_of(row: Row) -> tuple[Owner, str, int]:
    """Whose, with which errno's name, how many."""
    _, host, job, direction, error, count = row
    return (host, job, direction), error, count


def measurements_of(
    rows: Iterable[Row],
    latencies: Iterable[tuple[Owner, str, Latency]],
    failures: Iterable[tuple[Owner, str, int]] = (),
) -> tuple[Measurement, ...]:
    """Raises ValueError when one has no latency: the row was lost."""
    kinds: dict[Owner, dict[str, Latency]] = {}
    for owner, kind, latency in latencies:
        kinds.setdefault(owner, {})[kind] = latency
    failed: dict[Owner, dict[str, int]] = {}
    for owner, error, count in failures:
        failed.setdefault(owner, {})[error] = count
    return tuple(_measurement_of(row, kinds.get(row[1:4], {}), failed.get(row[1:4], {})) for row in rows)


def _measurement_of(row: Row, kinds: dict[str, Latency], failed: dict[str, int]) -> Measurement:
    ordinal, host, job, direction, operations, size_bytes, runtime_ns = row
    if "latency" not in kinds:
        raise ValueError(f"the measurement of job {job} of step {ordinal} has no latency")
    way = Direction(direction)
    return Measurement(host, job, way, operations, size_bytes, runtime_ns, **kinds, failed=failed)


def job_use_of(row: Row) -> JobUse:
    """What one job used."""
    return JobUse(*row[1:])


def table_of(row: Row) -> tuple[str, SeriesTable]:
    """Family and table."""
    _, family, names, units, times, values = row
    times_ns, labels = np.frombuffer(times, "<i8"), _labels(names)
    matrix = np.frombuffer(values, "<f8").reshape(len(labels), len(times_ns))
    return family, SeriesTable(labels, _labels(units), times_ns, matrix)


def document_of(row: Row) -> tuple[str, str]:
    """Kind and text."""
    _, kind, body = row
    return kind, zlib.decompress(body).decode()


@lru_cache(maxsize=4096)
def _labels(text: str) -> tuple[str, ...]:
    """The same counters stand beside every step."""
    return tuple(json.loads(text))


def record_of(
    row: Row,
    measurements: tuple[Measurement, ...],
    jobs: Iterable[JobUse],
    tables: Iterable[tuple[str, SeriesTable]],
    documents: Iterable[tuple[str, str]] = (),
) -> StepRecord:
    """The record that `rows_of` took apart."""
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
    by_family: dict[str, list[SeriesTable]] = {"throughput": [], "counter": []}
    for family, table in tables:
        by_family[family].append(table)
    return StepRecord(
        ordinal=ordinal, kind=StepKind(kind), experiment=experiment, cell=json.loads(cell), repeat=repeat, status=Status(status),
        reason=reason, engine=engine, started_unix_ns=started, wall_ns=wall, command=tuple(json.loads(command)), exit_code=exit_code,
        measurements=measurements, jobs=tuple(jobs), throughput=_flat(by_family["throughput"]), counters=tuple(by_family["counter"]),
        totals=json.loads(totals), warnings=tuple(json.loads(warnings)), facts=json.loads(facts), documents=dict(documents),
    )  # fmt: skip


def _flat(tables: Iterable[SeriesTable]) -> tuple[Series, ...]:
    return tuple(series for table in tables for series in table)


READERS: dict[str, Callable[[Row], Any]] = {
    "measurement": lambda row: row,
    "latency": latency_of,
    "failure": failure_of,
    "job_use": job_use_of,
    "series": table_of,
    "document": document_of,
}
"""Table -> what a row of it becomes; all but `step`, which holds them together."""
