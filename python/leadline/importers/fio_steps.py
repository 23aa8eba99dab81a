"""What fio wrote (formats/fio_json.py) -> step records: which entries were one step, and how it ended.

Entries are clones of a section (numjobs), the same section on several hosts (`--client`), or different
sections. Each section is an experiment of its own.
"""

from __future__ import annotations

import errno
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from glob import escape
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.formats import fio_json, fio_log
from leadline.formats.fio_json import FioJob, FioOutput
from leadline.formats.fio_options import cell_of, duration_of
from leadline.importers.sources import Source
from leadline.store.records import Scalar, Status, StepKind, StepRecord
from leadline.store.series import Series

FLUSHES = ("end_fsync", "fsync_on_close", "fio.fsync", "fio.fdatasync", "fio.sync")
SHORTEST_SHARE = 0.9
"""Of the runtime asked for; a shorter run ended early (one that is not time_based ends with its size)."""


@dataclass(frozen=True)
class Reading:
    """How a source wants its jobs read."""

    fallback: Mapping[str, str] = field(default_factory=dict)
    """fio options known from elsewhere (folder names); those in the result come first."""
    experiment: str | None = None
    """Instead of the section's name."""


def records(source: Source, reading: Reading | None = None) -> Iterator[StepRecord]:
    """One record a step; ordinals and repeats are counted inside the source."""
    reading = reading or Reading()
    output = fio_json.parse(source.text)
    if not output.jobs:
        raise UserError("fio wrote no job into it: the run failed before it began")
    steps = _steps(output.jobs)
    for ordinal, ((_, _, repeat), jobs) in enumerate(steps.items()):
        record = _record(source, reading, output, jobs)
        if len(steps) == 1:
            record = _timed(record, source.path, {**reading.fallback, **jobs[0].options}, output)
        yield replace(record, ordinal=ordinal, repeat=repeat)


def _steps(jobs: Sequence[FioJob]) -> dict[tuple[str, frozenset[tuple[str, str]], int], list[FioJob]]:
    """Jobs of one section, by (name, options, repeat): the same section in a later group ran once more."""
    groups: dict[tuple[str, frozenset[tuple[str, str]], str], list[int]] = defaultdict(list)
    steps: dict[tuple[str, frozenset[tuple[str, str]], int], list[FioJob]] = defaultdict(list)
    for job in jobs:
        options = frozenset(job.options.items())
        seen = groups[job.name, options, job.hostname]
        if job.group not in seen:
            seen.append(job.group)
        steps[job.name, options, seen.index(job.group)].append(job)
    return steps


def _record(source: Source, reading: Reading, output: FioOutput, jobs: Sequence[FioJob]) -> StepRecord:
    options = {**reading.fallback, **jobs[0].options}
    cell = cell_of(options)
    runtime_ns = max(job.runtime_ns for job in jobs)
    reason = _fault(jobs)
    ended_early = None if reason else _ended_early(options, runtime_ns)
    shared = _shared_load(output.jobs, jobs[0])
    return StepRecord(
        ordinal=0,
        kind=StepKind.CELL,
        experiment=reading.experiment or _experiment(jobs[0]),
        cell=cell,
        repeat=0,
        status=Status.FAILED if reason else Status.FINISHED,
        reason=reason,
        wall_ns=runtime_ns,
        measurements=tuple(measurement for job in jobs for measurement in job.measurements),
        jobs=tuple(job.use for job in jobs),
        warnings=(*output.warnings, *(sentence for sentence in (shared, ended_early) if sentence)),
        facts=_facts(source, output, cell, ended_early is not None),
    )


def _shared_load(jobs: Sequence[FioJob], job: FioJob) -> str | None:
    """Sections of one group ran at the same time (a stonewall begins a new group)."""
    others = sorted({other.name for other in jobs if other.group == job.group} - {job.name})
    return f"it ran at the same time as {', '.join(others)}: a shared load" if others else None


def _timed(record: StepRecord, path: Path, options: Mapping[str, str], output: FioOutput) -> StepRecord:
    """With what holds only for a single step: when it ran (fio writes its end), and its bandwidth logs."""
    started_unix_ns = max(0, (output.timestamp_unix_ns or 0) - record.wall_ns)
    try:
        throughput, warnings = _throughput(path, options), record.warnings
    except UserError as error:
        throughput, warnings = (), (*record.warnings, f"its bandwidth logs are left out: {error}")
    return replace(record, started_unix_ns=started_unix_ns, throughput=throughput, warnings=warnings)


def _fault(jobs: Sequence[FioJob]) -> str | None:
    """Why the step failed, whatever fio's exit code said; None when it did not."""
    for job in jobs:
        if job.error:
            known = f" ({os.strerror(job.error)})" if job.error in errno.errorcode else ""
            return f'fio reports error {job.error}{known} in job "{job.name}"'
    if not any(measurement.size_bytes for job in jobs for measurement in job.measurements):
        return f'job "{jobs[0].name}" moved no data'
    return None


def _ended_early(options: Mapping[str, str], runtime_ns: int) -> str | None:
    asked_seconds = duration_of(options.get("runtime", "")) or 0.0
    if runtime_ns / 1e9 >= SHORTEST_SHARE * asked_seconds:
        return None
    return f"it ended after {runtime_ns / 1e9:.3g} s of the {asked_seconds:g} s asked for: its size was done"


def _experiment(job: FioJob) -> str:
    """The section's name and where its data lay: equal cells in two places are not repeats of each other."""
    directory, filename = job.options.get("directory", ""), job.options.get("filename", "")
    if filename.startswith("/"):
        directory = filename if filename.startswith("/dev/") else os.path.dirname(filename.split(":")[0])  # noqa: PTH120
    return f"{job.name} on {directory}" if directory else job.name


def _throughput(path: Path, options: Mapping[str, str]) -> tuple[Series, ...]:
    """From the logs that lie beside the result, if it names any; raises UserError."""
    prefix = Path(options.get("write_bw_log", "")).name
    logs = sorted(path.parent.glob(f"{escape(prefix)}_bw.*log")) if prefix else []
    return fio_log.parse(Source(log, log).text for log in logs)


def _facts(
    source: Source, output: FioOutput, cell: Mapping[str, Scalar], ended_early: bool
) -> dict[str, Any]:
    writes = str(cell["rw"]) not in ("read", "randread")
    flushed = any(cell.get(option) not in (None, False, "0") for option in FLUSHES)
    direct = bool(cell["direct"])
    return {
        "imported": True,
        "source": str(source.path),
        "fio_version": output.version,
        "direct": direct,
        "buffered_without_flush": writes and not direct and not flushed,
        "ended_early": ended_early,
    }
