"""perftest's output -> step records of engine "perftest": {"test": "ib_write_bw", "message_size": bytes}.

Iterations are counted by perftest, so a record's n is real; its runtime follows from them and the rate.
"""

from __future__ import annotations

from collections.abc import Iterable

from leadline.formats import perftest
from leadline.formats.fields import FormatError, shown
from leadline.formats.perftest import PerftestRow
from leadline.importers.sources import Source
from leadline.store.records import Direction, Latency, Measurement, Status, StepKind, StepRecord

LONGEST_NS = 366 * 86_400 * 1_000_000_000
JSON_MARK = '"test_type"'


def recognise(source: Source) -> bool:
    """By the head of its tables, or by the names of its tests in JSON."""
    if JSON_MARK in source.text:
        return perftest.TEST.search(source.text) is not None
    return perftest.HEADER.search(source.text) is not None


def read(source: Source) -> Iterable[StepRecord]:
    """One record a test and message size."""
    is_json = JSON_MARK in source.text
    rows = perftest.parse_json(source.fields) if is_json else perftest.parse_text(source.text)
    return [_record(source, row, ordinal) for ordinal, row in enumerate(rows)]


def _record(source: Source, row: PerftestRow, ordinal: int) -> StepRecord:
    runtime_ns = _runtime_ns(row)
    return StepRecord(
        ordinal=ordinal,
        kind=StepKind.CELL,
        experiment="network",
        cell={"test": row.test, "message_size": row.message_size_bytes},
        repeat=0,
        status=Status.FINISHED,
        engine="perftest",
        wall_ns=runtime_ns,
        measurements=(
            Measurement(
                host="local",
                job=0,
                direction=Direction.READ if "read" in row.test else Direction.WRITE,
                operations=row.iterations,
                size_bytes=row.iterations * row.message_size_bytes,
                runtime_ns=runtime_ns,
                latency=_latency(row),
            ),
        ),
        facts={"imported": True, "source": str(source.path)},
    )


def _runtime_ns(row: PerftestRow) -> int:
    """How long the iterations took."""
    moved_bytes = row.iterations * row.message_size_bytes
    if row.bytes_per_second is not None:
        runtime_ns = moved_bytes / row.bytes_per_second * 1e9
    else:
        round_trip = 1 if "read" in row.test or "atomic" in row.test else 2  # others state half of it
        runtime_ns = row.iterations * (row.mean_ns or 0.0) * round_trip
    if not 0 < runtime_ns <= LONGEST_NS or moved_bytes > 2**63 - 1:
        size, count = shown(row.message_size_bytes), shown(row.iterations)
        raise FormatError(
            f"{row.test} of {size} bytes states {count} iterations at a rate that no network has"
        )
    return max(1, round(runtime_ns))


def _latency(row: PerftestRow) -> Latency:
    """Bandwidth tests measure none: then the count is 0."""
    if row.mean_ns is None:
        return Latency(count=0, mean_ns=0.0)
    return Latency(
        count=row.iterations,
        mean_ns=row.mean_ns,
        min_ns=row.min_ns,
        max_ns=row.max_ns,
        standard_deviation_ns=row.standard_deviation_ns,
        stated_percentiles_ns=row.percentiles_ns,
    )
