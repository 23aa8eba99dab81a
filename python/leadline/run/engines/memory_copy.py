"""Memory copy bandwidth by the Rust engine: nothing served from a cache on this machine can be faster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from leadline.plan.steps import Step
from leadline.run.engines.engine_process import invocation_of, result_of
from leadline.run.seams import Completed, Invocation, Now, Outcome, Place
from leadline.store.records import Direction, Latency, Measurement


class MemoryCopyEngine:
    """One workload of leadline-engine."""

    def check(self, steps: Sequence[Step]) -> None:
        """Needs nothing but the executable."""

    def prepare(self, step: Step, place: Place, scratch: Path) -> Invocation:
        """Writes the engine's step and calls it."""
        document = {
            "workload": "memory_copy",
            "threads": int(step.cell["numjobs"]),
            "block_size_bytes": int(step.cell["block_size"]),
            "working_set_bytes": int(step.cell["size"]),
            "runtime_ns": round(float(step.cell["runtime"]) * 1e9),
        }
        return invocation_of(document, scratch, step.timeout_seconds)

    def collect(self, step: Step, invocation: Invocation, completed: Completed) -> Outcome:
        """Bytes copied over the time; a copy reads and writes, it is counted once."""
        document, reason = result_of(completed)
        raw = {"engine.json": completed.stdout.encode()}
        if document is None:
            return Outcome(reason=reason, raw=raw)
        size_bytes, runtime_ns = int(document["copied_bytes"]), int(document["runtime_ns"])
        operations = size_bytes // int(step.cell["block_size"])
        mean_ns = runtime_ns * int(step.cell["numjobs"]) / max(operations, 1)
        measurement = Measurement(
            "local", 0, Direction.READ, operations, size_bytes, runtime_ns, Latency(operations, mean_ns)
        )
        return Outcome(measurements=(measurement,), raw=raw)

    def now(self, line: str) -> Now | None:
        """It prints its result only."""
        return None
