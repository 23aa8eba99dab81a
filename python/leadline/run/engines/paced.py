"""The paced engine: an open-loop load by leadline-engine, latency counted from each operation's scheduled arrival.

fio's rated mode starts its clock after the delay that a stall causes, so a stall hides from its percentiles
(coordinated omission); here every operation that should have been sent is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.plan.steps import Step
from leadline.run.engines.engine_process import invocation_of, result_of
from leadline.run.layouts import layout_files
from leadline.run.seams import Completed, Invocation, Now, Outcome, Place
from leadline.store.histogram import Histogram
from leadline.store.records import Direction, Latency, Measurement
from leadline.store.series import Series

DRAIN_LIMIT_NS = 2_000_000_000
KEPT_FACTS = ("scheduled", "served", "unserved", "offered_rate_per_second", "achieved_rate_per_second")


class PacedEngine:
    """One workload of leadline-engine."""

    def check(self, steps: Sequence[Step]) -> None:
        """fio's own options mean nothing here; raises UserError."""
        for step in steps:
            passed = [name for name in step.cell if name.startswith("fio.")]
            if passed:
                raise UserError(
                    f'experiment "{step.experiment}" uses the paced engine, which has no fio option "{passed[0][4:]}"; take it out'
                )

    def prepare(self, step: Step, place: Place, scratch: Path) -> Invocation:
        """Writes the engine's step and calls it."""
        data = place.data
        cell = step.cell
        assert step.layout is not None
        document = {
            "workload": "paced",
            "files": [
                str(path) for path in layout_files(replace(step.layout, jobs=int(cell["numjobs"])), data)
            ],
            "rw": cell["rw"],
            "read_percentage": cell.get("read_percentage"),  # only mixed cells have it
            "block_size_bytes": cell["block_size"],
            "direct": cell["direct"],
            "threads": cell["numjobs"],
            "arrival": "poisson",
            "rate_per_second": float(cell["rate"]),
            "ramp_ns": round(float(cell.get("ramp", 0)) * 1e9),
            "runtime_ns": round(float(cell["runtime"]) * 1e9),
            "seed": step.seed,
            "drain_limit_ns": DRAIN_LIMIT_NS,
        }
        return invocation_of(
            {key: value for key, value in document.items() if value is not None},
            scratch,
            step.timeout_seconds,
        )

    def collect(self, step: Step, invocation: Invocation, completed: Completed) -> Outcome:
        """Operations that were never served make the step fail: its latencies would lack the worst."""
        document, reason = result_of(completed)
        raw = {"engine.json": completed.stdout.encode()}
        if document is None:
            return Outcome(reason=reason, raw=raw)
        return Outcome(
            measurements=tuple(_measurement(job) for job in document["jobs"] if job["operations"]),
            throughput=_throughput(document["series"]),
            reason=_fault(document),
            raw=raw,
            facts={"direct": bool(step.cell["direct"]), **{key: document[key] for key in KEPT_FACTS}},
        )

    def now(self, line: str) -> Now | None:
        """It prints its result only."""
        return None


def _measurement(job: Mapping[str, Any]) -> Measurement:
    return Measurement(
        host="local", job=job["job"], direction=Direction(job["direction"]), operations=job["operations"], size_bytes=job["size_bytes"],
        runtime_ns=job["runtime_ns"], latency=_latency(job["latency"]), service=_latency(job["service"]), lag=_latency(job["lag"]),
    )  # fmt: skip


def _latency(document: Mapping[str, Any]) -> Latency:
    return Latency(
        count=document["count"], mean_ns=document["mean_ns"] or 0.0, min_ns=document["min_ns"], max_ns=document["max_ns"],
        standard_deviation_ns=document["stddev_ns"], histogram=Histogram.from_bins(dict(document["bins"])),
    )  # fmt: skip


def _throughput(series: Sequence[Mapping[str, int]]) -> tuple[Series, ...]:
    """Bytes in each interval -> bytes per second."""
    ends = [each["end_ns"] for each in series]
    widths = [end - start for start, end in zip([0, *ends], ends, strict=False)]
    result = []
    for direction in (Direction.READ, Direction.WRITE):
        rates = [
            each[f"{direction}_bytes"] * 1e9 / max(width, 1)
            for each, width in zip(series, widths, strict=True)
        ]
        if any(rates):
            result.append(Series(str(direction), "B/s", ends, rates))
    return tuple(result)


def _fault(document: Mapping[str, Any]) -> str | None:
    errors = [error for job in document["jobs"] for error in job["errors"]]
    if errors:
        count = sum(error["count"] for error in errors)
        most = max(errors, key=lambda error: error["count"])["name"]
        return f"{count} of {document['scheduled']} operations failed, most with {most}"
    if document["unserved"]:
        return (
            f"{document['unserved']} of {document['scheduled']} operations were not served in time: the offered "
            f"{document['offered_rate_per_second']:.0f}/s are above what the target can do"
        )
    return None
