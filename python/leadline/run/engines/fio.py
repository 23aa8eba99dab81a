"""fio, the field's closed-loop engine: a step becomes a command line, its json+ and its bandwidth logs become measurements.

A step counts only when the totals agree: fio exits with 0 after losing I/O, after a failed lookup, and without any job.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from leadline.errors import UserError
from leadline.formats import fio_eta, fio_json, fio_log
from leadline.plan.steps import Step
from leadline.run.engines.fio_capabilities import check_ioengine, check_options, installed_fio
from leadline.run.seams import Completed, Invocation, Now, Outcome, Place
from leadline.spec.settings import SETTINGS
from leadline.store.records import Cell, Measurement, Scalar
from leadline.store.series import Series

RESULT = "fio.json"
LOG_POINTS = 40
"""Points of throughput over time a cell should have at least, for steady state and intervals."""
RESERVED_OPTIONS = frozenset(
    {
        "directory",
        "output",
        "output_format",
        "name",
        "numjobs",
        "client",
        "server",
        "write_bw_log",
        "group_reporting",
    }
)
"""Leadline sets these itself; group_reporting would hide the jobs (axboe/fio #519)."""


class FioEngine:
    """Runs one cell by one fio process."""

    def check(self, steps: Sequence[Step]) -> None:
        """Engines and options of all steps, before the first one runs; raises UserError."""
        for ioengine in {str(step.cell["ioengine"]) for step in steps if "ioengine" in step.cell}:
            check_ioengine(ioengine)
        asked = {(name, str(step.cell["ioengine"])) for step in steps for name in _passed_options(step.cell)}
        for name, ioengine in sorted(asked):
            if name in RESERVED_OPTIONS:
                raise UserError(
                    f'fio option "{name}" is set by leadline itself; take it out of the experiment\'s `fio` table'
                )
            check_options([name], ioengine)

    def prepare(self, step: Step, place: Place, scratch: Path) -> Invocation:
        """The command line; every value is explicit, so that it repeats the cell by hand."""
        data = place.data
        load = (
            *_naming(step.cell), *_options(step.cell), *_caching(step), f"--randseed={step.seed}",
            "--lat_percentiles=1", "--clat_percentiles=0", "--output-format=json+",
        )  # fmt: skip
        watched = (
            f"--write_bw_log={scratch / 'throughput'}", f"--log_avg_msec={_log_interval_ms(step.cell)}",
            "--eta=always", "--eta-interval=500ms", f"--output={scratch / RESULT}",
        )  # fmt: skip
        argv = (installed_fio().path, "--name=leadline", f"--directory={data}", *load, *watched)
        by_hand = ("fio", "--name=leadline", f"--directory={data.parent}", *load)
        return Invocation(argv, scratch, data, step.timeout_seconds, by_hand)

    def collect(self, step: Step, invocation: Invocation, completed: Completed) -> Outcome:
        """Measurements, or the reason why there are none."""
        return collect_fio(invocation, completed, expectation_of(step), facts_of(step))

    def now(self, line: str) -> Now | None:
        """From fio's ETA line."""
        return now_from_eta(line)


@dataclass(frozen=True)
class Expectation:
    """What must have come out for a step to count."""

    jobs: int | None = None
    size_bytes: int | None = None
    slack_bytes: int = 0
    """A last block that does not fit is not read."""


def expectation_of(step: Step) -> Expectation:
    """From the plan: bytes only where the step is bound by them."""
    jobs = int(step.cell.get("numjobs", 1))
    files = jobs * int(step.cell.get("nrfiles", 1))
    return Expectation(jobs, step.expected_bytes, files * (int(step.cell["block_size"]) - 1))


def collect_fio(
    invocation: Invocation, completed: Completed, expected: Expectation, facts: dict[str, Scalar]
) -> Outcome:
    """Reads what fio left in the scratch folder and cross-checks its totals."""
    text = _read(invocation.scratch / RESULT)
    raw = {"fio.json": text.encode(), "fio.stderr": completed.stderr.encode()}
    try:
        output = fio_json.parse(text)
    except UserError as error:
        said = _said(completed.stderr) or _said(text)
        return Outcome(reason=f"fio gave no result: {said or error}", raw=raw)
    measurements = tuple(measurement for job in output.jobs for measurement in job.measurements)
    return Outcome(
        measurements=measurements,
        jobs=tuple(job.use for job in output.jobs),
        throughput=_throughput(invocation.scratch),
        warnings=(*output.warnings, *_lines(completed.stderr)),
        reason=_fault(output, measurements, completed, expected),
        raw=raw,
        facts=facts,
    )


def now_from_eta(line: str) -> Now | None:
    """Bandwidth and rate of all directions together."""
    eta = fio_eta.parse(line)
    if eta is None:
        return None
    return Now(
        eta.read_bytes_per_second + eta.write_bytes_per_second, eta.read_iops + eta.write_iops, eta.share_done
    )


def _naming(cell: Cell) -> list[str]:
    """File names that every cell of a layout finds again, whatever its number of jobs."""
    return [] if "fio.filename" in cell else ["--filename_format=$jobnum.$filenum"]


def _options(cell: Cell) -> Iterator[str]:
    for name, value in cell.items():
        option = name.removeprefix("fio.") if name.startswith("fio.") else SETTINGS[name].fio
        if option is not None:
            yield f"--{option}={_written(name, value)}"
    if "runtime" in cell:
        yield "--time_based=1"


def _written(name: str, value: Scalar) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if name in ("ramp", "runtime"):
        return f"{round(float(value) * 1e6)}us"  # whole seconds would cut 1.5 s down
    return str(value)


def _passed_options(cell: Cell) -> Iterator[str]:
    return (name.removeprefix("fio.") for name in cell if name.startswith("fio."))


def _caching(step: Step) -> list[str]:
    return ["--pre_read=1", "--invalidate=0"] if step.cache == "hot" else []


def _log_interval_ms(cell: Cell) -> int:
    runtime_ms = float(cell.get("runtime", 20.0)) * 1000
    return max(20, min(500, round(runtime_ms / LOG_POINTS)))


def facts_of(step: Step) -> dict[str, Scalar]:
    """What the analysis must know of the cell beside its figures."""
    cell = step.cell
    facts: dict[str, Scalar] = {
        "direct": bool(cell.get("direct", False)),
        "buffered_without_flush": _unflushed(cell),
    }
    dataset_bytes = _dataset_bytes(step)
    if dataset_bytes is not None:
        facts["dataset_bytes"] = dataset_bytes
    if step.expected_bytes is not None:
        facts["expected_bytes"] = step.expected_bytes
    if "runtime" in cell:
        facts["asked_runtime_ns"] = round(float(cell["runtime"]) * 1e9)
    return facts


def _dataset_bytes(step: Step) -> int | None:
    """Bytes of all files that the cell touches; None where its sizes say nothing (a null engine, a job file without sizes)."""
    cell, layout = step.cell, step.layout
    if layout is not None:
        return (1 if layout.filename else int(cell["numjobs"])) * layout.files_a_job * layout.file_bytes
    if step.files == "own" and "size" in cell:
        return int(cell["size"]) * (1 if "fio.filename" in cell else int(cell["numjobs"]))
    return None


def _unflushed(cell: Cell) -> bool:
    """Buffered writes that nothing forced to the device: part of them was only on its way when the clock stopped."""
    writes = str(cell.get("rw", "")) in ("write", "randwrite", "rw", "readwrite", "randrw")
    flushes = ("end_fsync", "fsync_on_close", "fio.fsync", "fio.fdatasync", "fio.sync")
    return writes and not cell.get("direct") and not any(cell.get(name) for name in flushes)


def _fault(
    output: fio_json.FioOutput,
    measurements: Sequence[Measurement],
    completed: Completed,
    expected: Expectation,
) -> str | None:
    """Why this must not count, whatever the exit code; the first that applies."""
    failed = next((job for job in output.jobs if job.error), None)
    operations = sum(measurement.operations for measurement in measurements)
    moved = sum(measurement.size_bytes for measurement in measurements)
    said = _said(completed.stderr) or _said(" ".join(output.warnings)) or "no message"
    if failed is not None:
        return f"fio's job {failed.use.job} ended with error {failed.error}: {said}"
    if not output.jobs:
        return (
            f"fio ran no job: {_said(completed.stderr) or _said(' '.join(output.warnings)) or 'no message'}"
        )
    if operations == 0:
        return f"fio did no I/O (total_ios = 0): {_said(completed.stderr) or 'no message'}"
    if expected.jobs is not None and len(output.jobs) < expected.jobs:
        return f"fio reported {len(output.jobs)} of {expected.jobs} jobs"
    if expected.size_bytes is not None and moved < expected.size_bytes - expected.slack_bytes:
        return f"fio moved {moved} of {expected.size_bytes} bytes asked for: I/O was lost, and its exit code was {completed.exit_code}"
    if completed.exit_code != 0:
        return f"fio ended with exit code {completed.exit_code}: {_said(completed.stderr) or 'no message'}"
    return None


def _throughput(scratch: Path) -> tuple[Series, ...]:
    try:
        return fio_log.parse(_read(path) for path in sorted(scratch.glob("throughput_bw.*.log")))
    except ValueError:  # a log cut off by a full disk: the totals stand without it
        return ()


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _said(text: str) -> str:
    """What fio said last, short."""
    lines = _lines(text)
    return lines[-1][:300] if lines and not lines[-1].startswith(("{", "}")) else ""
