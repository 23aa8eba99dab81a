"""Whether fio's totals add up. It exits with 0 after losing I/O, after a failed lookup, and without any job."""

from __future__ import annotations

from dataclasses import dataclass

from leadline.formats.fio_json import FioOutput
from leadline.plan.steps import Step
from leadline.run.seams import Completed

LOSSES = (
    "Failed NFS operation",
    "Got NFS EOF",
    "nfs: failed to poll events",
    "nfs: socket is in an unrecoverable",
)
"""What the NFS engine says of I/O that did not happen, while fio may go on to report success."""


@dataclass(frozen=True)
class Expectation:
    """What must have come out for a step to count."""

    jobs: int | None = None
    """Each of them has to have done something; None for a user's own job file."""
    size_bytes: int | None = None
    slack_bytes: int = 0
    """A last block that does not fit is not read."""


def expectation_of(step: Step) -> Expectation:
    """From the plan: bytes only where the step is bound by them."""
    jobs = int(step.cell.get("numjobs", 1))
    files = jobs * int(step.cell.get("nrfiles", 1))
    return Expectation(jobs, step.expected_bytes, files * (int(step.cell["block_size"]) - 1))


def fault_of(output: FioOutput, completed: Completed, expected: Expectation) -> str | None:
    """Why this must not count, whatever the exit code; the first that applies."""
    failed = next((job for job in output.jobs if job.error), None)
    measurements = [measurement for job in output.jobs for measurement in job.measurements]
    moved = sum(measurement.size_bytes for measurement in measurements)
    only_said = last_line(completed.stderr) or "no message"
    said = last_line(completed.stderr) or last_line(" ".join(output.warnings)) or "no message"
    if failed is not None:
        return f"fio's job {failed.use.job} ended with error {failed.error}: {said}"
    if not output.jobs:
        return f"fio ran no job: {said}"
    if not any(measurement.operations for measurement in measurements):
        return f"fio did no I/O (total_ios = 0): {only_said}"
    if expected.jobs is not None and len(output.jobs) < expected.jobs:
        return f"fio reported {len(output.jobs)} of {expected.jobs} jobs"
    idle = [job.use.job for job in output.jobs if not any(each.operations for each in job.measurements)]
    if expected.jobs is not None and idle:
        return f"fio's job {idle[0]} did no I/O while others did: {only_said}"
    if expected.size_bytes is not None and moved < expected.size_bytes - expected.slack_bytes:
        return f"fio moved {moved} of {expected.size_bytes} bytes asked for: I/O was lost, and its exit code was {completed.exit_code}"
    if lost := _never_completed(output):
        return (
            f"{lost} of fio's I/Os never completed: I/O was lost, and its exit code was {completed.exit_code}"
        )
    if complaint := _complaint(completed.stderr):
        return f"I/O failed and fio counted on: {complaint}"
    if completed.exit_code != 0:
        return f"fio ended with exit code {completed.exit_code}: {only_said}"
    return None


def last_line(text: str) -> str:
    """What fio said last, short."""
    lines = lines_of(text)
    return lines[-1][:300] if lines and not lines[-1].startswith(("{", "}")) else ""


def lines_of(text: str) -> list[str]:
    """Those that say something."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def _never_completed(output: FioOutput) -> int:
    """total_ios counts what was issued, latency what came back. After a ramp more comes back than was issued since; never less.

    Without latency (disable_lat) nothing is known.
    """
    each = [
        measurement for job in output.jobs for measurement in job.measurements if measurement.latency.count
    ]
    return sum(max(0, measurement.operations - measurement.latency.count) for measurement in each)


def _complaint(stderr: str) -> str | None:
    return next((line[:300] for line in lines_of(stderr) if any(words in line for words in LOSSES)), None)
