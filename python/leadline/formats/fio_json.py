"""fio's JSON and JSON+ text -> FioOutput: the only place that knows how fio writes its results.

Used by the fio engine on what it just ran and by the importers on what others ran. Pure: text in, values out.
fio's text is often polluted (axboe/fio #731): fio_documents.py finds the document, the rest are warnings.
Rates are never read: they follow from bytes, operations and run time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from leadline.errors import UserError
from leadline.formats.fields import LARGEST_INTEGER, Fields, FormatError, amount, shown
from leadline.formats.fio_documents import last_document
from leadline.formats.fio_latency import latency, total_latency
from leadline.store.records import Direction, JobUse, Measurement, Scalar

ALL_CLIENTS = "All clients"
"""fio's own sum over clients: it mis-sums and has no percentiles (axboe/fio #1881), so it is left out."""

NANOSECONDS_A_MILLISECOND = 1_000_000


class FioFormatError(UserError):
    """The text is not a result of fio, or is cut off: what is wrong and where."""


@dataclass(frozen=True)
class FioJob:
    """One entry of "jobs": one job, or all jobs of a group under group_reporting."""

    name: str
    group: int
    hostname: str
    """Of the client under `--client`, "" when local."""
    error: int
    """errno, 0 = none."""
    options: Mapping[str, str]
    """Global options under the job's own, as fio repeats them (defaults are not among them)."""
    measurements: tuple[Measurement, ...]
    use: JobUse
    runtime_ns: int
    """Of its longest direction."""


@dataclass(frozen=True)
class FioOutput:
    """One result of fio."""

    version: str
    timestamp_unix_ns: int | None
    """When fio wrote it, near the end of the run."""
    jobs: tuple[FioJob, ...]
    disk_util: tuple[Mapping[str, Scalar], ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class _JobPlace:
    """What the parts of a job need to know of the whole."""

    host: str
    job: int
    version: tuple[int, ...]
    warnings: list[str]
    """Of the whole output; parts add theirs."""


def parse(text: str, host: str = "local") -> FioOutput:
    """The last complete result in `text`; `host` is that of local jobs (those of `--client` name theirs)."""
    try:
        document, foreign = last_document(text)
        return _output(Fields(document), host, foreign)
    except FormatError as error:
        raise FioFormatError(f"this is not a whole result of fio: {error}") from None


def _output(document: Fields, host: str, foreign: list[str]) -> FioOutput:
    """The document, checked and in our units."""
    if not document.has("jobs") and not document.has("client_stats"):
        raise FormatError('it has neither "jobs" nor "client_stats"')
    version = document.text("fio version")
    entries = [*document.sections("jobs"), *document.sections("client_stats")]
    single = [entry for entry in entries if entry.text("jobname") != ALL_CLIENTS or entry.has("job options")]
    common = _common_options(document)
    warnings = list(foreign)
    jobs = tuple(
        _job(entry, common, _JobPlace(entry.text("hostname", host), index, _numbers(version), warnings))
        for index, entry in enumerate(single)
    )
    return FioOutput(version, _timestamp_unix_ns(document), jobs, _disk_util(document), tuple(warnings))


def _numbers(version: str) -> tuple[int, ...]:
    """(3, 33) of "fio-3.33-12-gabc"; empty when it names none."""
    found = re.search(r"(\d{1,6})\.(\d{1,6})", version)
    return tuple(int(part) for part in found.groups()) if found else ()


def _timestamp_unix_ns(document: Fields) -> int | None:
    milliseconds = document.number("timestamp_ms", 0) or 1000 * document.number("timestamp", 0)
    moment = int(milliseconds * NANOSECONDS_A_MILLISECOND)
    return moment if 0 < moment <= LARGEST_INTEGER else None


def _common_options(document: Fields) -> dict[str, str]:
    """Global options; an array of them (one a client) is merged in order."""
    key = "global options"
    several = isinstance(document.values.get(key), list)
    parts = document.sections(key) if several else [document.section(key)]
    return {option: part.text(option) for part in parts for option in part.values}


def _disk_util(document: Fields) -> tuple[Mapping[str, Scalar], ...]:
    return tuple(
        {key: value for key, value in disk.values.items() if isinstance(value, str | int | float)}
        for disk in document.sections("disk_util")
    )


def _job(entry: Fields, common: Mapping[str, str], place: _JobPlace) -> FioJob:
    """One entry of "jobs"."""
    own = entry.section("job options")
    if entry.has("mixed"):
        place.warnings.append(
            f"{entry.path} sums reads and writes (unified_rw_reporting), which has no direction: not read"
        )
    measurements = tuple(
        measurement
        for direction in Direction
        if (measurement := _measurement(entry.section(direction), direction, place)) is not None
    )
    runtime_ns = max((measurement.runtime_ns for measurement in measurements), default=0)
    return FioJob(
        name=entry.text("jobname"),
        group=entry.integer("groupid", 0),
        hostname=entry.text("hostname"),
        error=_errno(entry),
        options={**common, **{key: own.text(key) for key in own.values}},
        measurements=measurements,
        use=_use(entry, place, runtime_ns),
        runtime_ns=runtime_ns,
    )


def _errno(entry: Fields) -> int:
    """0 = none; fio writes some as -errno, and those of external engines as that in 32 bits without a sign."""
    value = entry.values.get("error") or 0
    if isinstance(value, int) and value >= 1 << 31:
        value -= 1 << 32
    size = abs(value) if isinstance(value, int | float) else value
    return int(amount(size, entry.place("error")))


def _use(entry: Fields, place: _JobPlace, runtime_ns: int) -> JobUse:
    return JobUse(
        host=place.host,
        job=place.job,
        user_cpu_share=entry.number("usr_cpu", 0) / 100,
        system_cpu_share=entry.number("sys_cpu", 0) / 100,
        context_switches=entry.integer("ctx", 0),
        runtime_ns=_runtime_ns(entry, "job_runtime") if entry.has("job_runtime") else runtime_ns,
        error=_errno(entry),
    )


def _runtime_ns(fields: Fields, key: str) -> int:
    """Run times are milliseconds in every version."""
    runtime_ms = fields.integer(key, 0)
    if runtime_ms > LARGEST_INTEGER // NANOSECONDS_A_MILLISECOND:
        raise FormatError(f"{fields.place(key)} is {shown(runtime_ms)}, longer than can be stored in ns")
    return runtime_ms * NANOSECONDS_A_MILLISECOND


def _measurement(part: Fields, direction: Direction, place: _JobPlace) -> Measurement | None:
    """One direction of a job; None when it moved nothing."""
    size_bytes = _size_bytes(part, place.version)
    # The oldest fio 2 writes no total_ios: bytes without operations are refused rather than guessed at.
    issued = part.integer("total_ios", None if size_bytes else 0)
    if not issued and not size_bytes:
        return None
    submission = latency(part, "slat", issued, place.warnings)
    completion = latency(part, "clat", issued, place.warnings)
    total = total_latency(part, issued, submission, completion, place.warnings)
    # After a ramp total_ios is what was issued since (fio 3.33), bytes and latencies are of all that was answered since: without
    # those under way at its end the rate of operations would be too low beside that of bytes.
    operations = max(issued, total.count)
    if not operations:
        return None
    return Measurement(
        host=place.host,
        job=place.job,
        direction=direction,
        operations=operations,
        size_bytes=size_bytes,
        runtime_ns=_runtime_ns(part, "runtime"),
        latency=total,
        submission=submission,
        completion=completion,
    )


def _size_bytes(part: Fields, version: tuple[int, ...]) -> int:
    """io_bytes is KiB in fio 2 (stat.c: `io_bytes >> 10`) until io_kbytes came beside it."""
    if not part.has("io_bytes"):
        return _kibibytes(part, "io_kbytes")
    if version[:1] == (2,) and not part.has("io_kbytes"):
        return _kibibytes(part, "io_bytes")
    return part.integer("io_bytes")


def _kibibytes(part: Fields, key: str) -> int:
    size_bytes = part.integer(key, 0) * 1024
    if size_bytes > LARGEST_INTEGER:
        raise FormatError(
            f"{part.place(key)} is {shown(size_bytes // 1024)}, too large for a number of bytes"
        )
    return size_bytes
