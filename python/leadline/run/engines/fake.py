"""An engine that reads known operations instead of running any: for tests of whatever stands behind the seam.

Every job of a step does `OPERATIONS` operations of one block in one second, each in `LATENCY_NS`; a test that wants
something else hands in the outcome of that step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from leadline.plan.steps import Step
from leadline.run.layouts import layout_files
from leadline.run.seams import Completed, Invocation, Now, Outcome, Place
from leadline.store.histogram import Histogram
from leadline.store.records import Direction, JobUse, Latency, Measurement

OPERATIONS = 1000
LATENCY_NS = 1_000_000
RUNTIME_NS = 1_000_000_000


@dataclass
class FakeEngine:
    """Remembers which steps it was given."""

    outcomes: Mapping[int, Outcome] = field(default_factory=dict)
    """By the step's place in the plan, in place of the known operations."""
    prepared: list[Step] = field(default_factory=list)

    def check(self, steps: Sequence[Step]) -> None:
        """It can perform anything."""

    def prepare(self, step: Step, place: Place, scratch: Path) -> Invocation:
        """Writes the files of a step that leaves some: later steps are only run when they are there."""
        data = place.data
        self.prepared.append(step)
        if step.files == "fresh" and step.layout is not None:
            for path in layout_files(step.layout, data):
                path.write_bytes(b"\1" * step.layout.file_bytes)
        return Invocation(("fake", str(step.ordinal)), scratch, data, step.timeout_seconds)

    def collect(self, step: Step, invocation: Invocation, completed: Completed) -> Outcome:
        """The outcome handed in for the step, else the known operations."""
        return self.outcomes.get(step.ordinal, known_outcome(step))

    def now(self, line: str) -> Now | None:
        """A line that is a number is the share done, at the known rate."""
        try:
            return Now(OPERATIONS * 4096.0, float(OPERATIONS), float(line))
        except ValueError:
            return None


def known_outcome(step: Step) -> Outcome:
    """What every job of the step is said to have done."""
    block, jobs = int(step.cell.get("block_size", 4096)), int(step.cell.get("numjobs", 1))
    direction = Direction.WRITE if "write" in str(step.cell.get("rw")) else Direction.READ
    histogram = Histogram.from_bins({LATENCY_NS: OPERATIONS})
    latency = Latency(OPERATIONS, float(LATENCY_NS), LATENCY_NS, LATENCY_NS, 0.0, histogram)
    return Outcome(
        measurements=tuple(
            Measurement("local", job, direction, OPERATIONS, OPERATIONS * block, RUNTIME_NS, latency)
            for job in range(jobs)
        ),
        jobs=tuple(JobUse("local", job, 0.1, 0.1, OPERATIONS, RUNTIME_NS, 0) for job in range(jobs)),
        raw={"fake.txt": b"known operations"},
    )
