"""fio, the field's closed-loop engine: a step becomes a command line, its json+ and its bandwidth logs become measurements.

A step counts only when the totals agree (fio_totals.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from leadline.errors import UserError
from leadline.formats import fio_eta, fio_json, fio_log
from leadline.plan.steps import Step
from leadline.run.engines.fio_access import reach_of
from leadline.run.engines.fio_capabilities import (
    check_ioengine,
    check_options,
    installed_fio,
    lacks_until_up,
    passed_options,
)
from leadline.run.engines.fio_totals import Expectation, expectation_of, fault_of, last_line, lines_of
from leadline.run.seams import Completed, Invocation, Now, Outcome, Place
from leadline.spec.settings import SETTINGS
from leadline.store.records import Cell, Scalar
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
WITHOUT_DIRECT = frozenset({"nfs"})
"""Engines that `direct` says nothing to: libnfs asks for UNSTABLE writes (nfs_v3.c), which only COMMIT brings to the server's disk."""


class FioEngine:
    """Runs one cell by one fio process."""

    def check(self, steps: Sequence[Step]) -> None:
        """Engines and options of all steps, before the first one runs; raises UserError."""
        for ioengine in {str(step.cell["ioengine"]) for step in steps if "ioengine" in step.cell}:
            if not lacks_until_up(ioengine):
                check_ioengine(ioengine)
        asked = {(name, str(step.cell["ioengine"])) for step in steps for name in passed_options(step.cell)}
        for name, ioengine in sorted(asked):
            if name in RESERVED_OPTIONS:
                raise UserError(
                    f'fio option "{name}" is set by leadline itself; take it out of the experiment\'s `fio` table'
                )
            if not lacks_until_up(ioengine):
                check_options([name], ioengine)

    def prepare(self, step: Step, place: Place, scratch: Path) -> Invocation:
        """The command line; every value is explicit, so that it repeats the cell by hand."""
        reach = reach_of(step, place)
        load = (
            *_options(reach.cell), *_caching(step), f"--randseed={step.seed}",
            "--lat_percentiles=1", "--clat_percentiles=0", "--output-format=json+",
        )  # fmt: skip
        watched = (
            f"--write_bw_log={scratch / 'throughput'}", f"--log_avg_msec={_log_interval_ms(step.cell)}",
            "--eta=always", "--eta-interval=500ms", f"--output={scratch / RESULT}",
        )  # fmt: skip
        argv = (installed_fio().path, *reach.around((*load, *watched), reach.naming))
        by_hand = (*_with(reach.environment), "fio", *reach.around(load, reach.naming_by_hand))
        return Invocation(argv, scratch, place.data, step.timeout_seconds, by_hand, reach.environment)

    def collect(self, step: Step, invocation: Invocation, completed: Completed) -> Outcome:
        """Measurements, or the reason why there are none."""
        return collect_fio(invocation, completed, expectation_of(step), facts_of(step))

    def now(self, line: str) -> Now | None:
        """From fio's ETA line."""
        return now_from_eta(line)


def collect_fio(
    invocation: Invocation, completed: Completed, expected: Expectation, facts: dict[str, Scalar]
) -> Outcome:
    """Reads what fio left in the scratch folder and cross-checks its totals."""
    text = _read(invocation.scratch / RESULT)
    raw = {"fio.json": text.encode(), "fio.stderr": completed.stderr.encode()}
    try:
        output = fio_json.parse(text)
    except UserError as error:
        said = last_line(completed.stderr) or last_line(text)
        return Outcome(reason=f"fio gave no result: {said or error}", raw=raw)
    measurements = tuple(measurement for job in output.jobs for measurement in job.measurements)
    return Outcome(
        measurements=measurements,
        jobs=tuple(job.use for job in output.jobs),
        throughput=_throughput(invocation.scratch),
        warnings=(*output.warnings, *lines_of(completed.stderr)),
        reason=fault_of(output, completed, expected),
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


def _with(environment: Mapping[str, str]) -> list[str]:
    """In front of a command for a person."""
    return ["env", *(f"{name}={text}" for name, text in environment.items())] if environment else []


def _options(cell: Cell) -> Iterator[str]:
    for name, value in cell.items():
        if option := _option(name):
            yield f"--{option}={_written(name, value)}"
    if "runtime" in cell:
        yield "--time_based=1"


def _option(name: str) -> str | None:
    """fio's own name of a setting; None for what fio is not told, such as the options of a target."""
    if name.startswith("fio."):
        return name.removeprefix("fio.")
    return SETTINGS[name].fio if name in SETTINGS else None


def _written(name: str, value: Scalar) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if name in ("ramp", "runtime"):
        return f"{round(float(value) * 1e6)}us"  # whole seconds would cut 1.5 s down
    return str(value)


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
    direct = bool(cell.get("direct")) and cell.get("ioengine") not in WITHOUT_DIRECT
    return writes and not direct and not any(cell.get(name) for name in flushes)


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
