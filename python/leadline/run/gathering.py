"""What several clients brought home from one step, put together: labelled by client, nobody left out.

Nothing is averaged: measurements stay apart by client and job; only throughput over time is added up, on one clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from leadline.run.hosts.answering import LEFT_ALONE
from leadline.run.hosts.supervised import NOT_LET_GO
from leadline.run.phases import put_together
from leadline.run.seams import Completed, Outcome
from leadline.store.records import Direction, JobUse, Measurement
from leadline.store.series import Series

OPERATIONS = "1/s"
SUMMED_FACTS = ("dataset_bytes", "expected_bytes", "retransmitted_segments")
CONSEQUENCES = (NOT_LET_GO, LEFT_ALONE, "another host refused the step")


def gather(
    outcomes: Mapping[str, Outcome], completed: Mapping[str, Completed], machines: Mapping[str, str]
) -> Outcome:
    """One outcome of all clients; it has a reason as soon as one of them has. `machines` says whose processors each used."""
    offsets_ns = _offsets(completed)
    return Outcome(
        measurements=tuple(part for name, each in outcomes.items() for part in _measured_by(name, each)),
        jobs=tuple(job for name, each in outcomes.items() for job in _used_by(name, each)),
        throughput=_throughput(outcomes, offsets_ns),
        warnings=tuple(f"{name}: {line}" for name, each in outcomes.items() for line in each.warnings),
        reason=_reason(outcomes, completed),
        raw={f"{name}.{file}": raw for name, each in outcomes.items() for file, raw in each.raw.items()},
        facts=_facts(outcomes) | _clients(completed, offsets_ns, machines),
        documents={
            kind: text for each in reversed([*outcomes.values()]) for kind, text in each.documents.items()
        },
    )


def together(completed: Mapping[str, Completed]) -> Completed:
    """The crew's command seen as one: from the first start to the last end."""
    several = list(completed.values())
    worst = next((each for each in several if each.exit_code != 0), several[0])
    started = [each.started_ns for each in several if each.ended_ns]
    ended = [each.ended_ns for each in several if each.ended_ns]
    spent = [each.cpu_seconds for each in several if each.cpu_seconds is not None]
    return Completed(
        exit_code=worst.exit_code,
        stdout="",
        stderr="",
        wall_ns=max(ended) - min(started) if ended else max(each.wall_ns for each in several),
        timed_out=any(each.timed_out for each in several),
        interrupted=any(each.interrupted for each in several),
        cpu_seconds=sum(spent) if len(spent) == len(several) else None,
    )


def _measured_by(name: str, outcome: Outcome) -> Iterable[Measurement]:
    return (part.by(name) for part in outcome.measurements)


def _used_by(name: str, outcome: Outcome) -> Iterable[JobUse]:
    return (job.by(name) for job in outcome.jobs)


def _reason(outcomes: Mapping[str, Outcome], completed: Mapping[str, Completed]) -> str | None:
    """Why the host could not run it comes before what the engine makes of the missing output."""
    reasons = {
        name: reason
        for name, each in outcomes.items()
        if (reason := completed[name].reason or each.reason) is not None
    }
    if not reasons:
        return None
    name, reason = min(reasons.items(), key=lambda item: is_consequence(item[1]))
    others = f" ({len(reasons)} of {len(outcomes)} clients failed)" if len(reasons) > 1 else ""
    return f"{name}: {reason}{others}"


def is_consequence(reason: str) -> bool:
    """Whether it only says that another client has failed, whose own reason tells more."""
    return any(sentence in reason for sentence in CONSEQUENCES)


def _facts(outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    """As the first client says, and bytes added up."""
    several = [each.facts for each in outcomes.values()]
    summed = {
        name: sum(facts[name] for facts in several)
        for name in SUMMED_FACTS
        if all(facts.get(name) is not None for facts in several)
    }
    phases = {}
    if all("phases" in facts for facts in several):
        phases["phases"] = put_together([facts["phases"] for facts in several])
    return dict(several[0]) | summed | phases


def _offsets(completed: Mapping[str, Completed]) -> dict[str, int]:
    """How long after the first client each of them started."""
    first = min((each.started_ns for each in completed.values() if each.started_ns), default=0)
    return {name: max(0, each.started_ns - first) for name, each in completed.items()}


def _clients(
    completed: Mapping[str, Completed], offsets_ns: Mapping[str, int], machines: Mapping[str, str]
) -> dict[str, Any]:
    windows = [
        {
            "name": name,
            "host": machines.get(name, name),
            "started_ns": offsets_ns[name],
            "ended_ns": offsets_ns[name] + max(0, each.ended_ns - each.started_ns),
        }
        for name, each in completed.items()
    ]
    return {"clients": windows, "release_skew_ns": max(offsets_ns.values())}


def _throughput(outcomes: Mapping[str, Outcome], offsets_ns: Mapping[str, int]) -> tuple[Series, ...]:
    """Each client's own series ("read@client1") and before them the sum ("read"), all since the first start; operations of a phase
    since it began, which is when all clients left its barrier.
    """
    own = {
        name: [
            series if series.unit == OPERATIONS else _later(series, offsets_ns[name])
            for series in each.throughput
        ]
        for name, each in outcomes.items()
    }
    totals = [
        _sum(direction, parts)
        for direction in Direction
        if (parts := [each for several in own.values() for each in several if each.name == direction])
    ]
    named = [
        Series(f"{each.name}@{name}", each.unit, each.times_ns, each.values)
        for name, several in own.items()
        for each in several
    ]
    return (*totals, *named)


def _later(series: Series, offset_ns: int) -> Series:
    return Series(series.name, series.unit, [time + offset_ns for time in series.times_ns], series.values)


def _sum(direction: Direction, parts: list[Series]) -> Series:
    """On the grid of the longest: each is turned into what was done until then, so that none is lost or counted twice."""
    unit = parts[0].unit
    grid = max((each.times_ns for each in parts), key=len)
    if len(grid) < 2 and unit != OPERATIONS:
        return Series(str(direction), unit, list(grid), [sum(sum(each.values) for each in parts)])
    first = min(_begin(each) for each in parts)
    last = max(each.times_ns[-1] for each in parts)
    edges = np.array([first, *[time for time in grid[:-1] if time > first], last], dtype=np.float64)
    moved = np.sum([np.interp(edges, *_moved(each)) for each in parts], axis=0)
    rates = np.diff(moved) / (np.diff(edges) / 1e9)
    return Series(str(direction), unit, [int(edge) for edge in edges[1:]], [float(rate) for rate in rates])


def _moved(series: Series) -> tuple[Any, Any]:
    """Moments in ns and bytes moved, or operations done, until then."""
    times = np.array([_begin(series), *series.times_ns], dtype=np.float64)
    amounts = np.array(series.values) * np.diff(times) / 1e9
    return times, np.concatenate([[0.0], np.cumsum(amounts)])


def _begin(series: Series) -> int:
    """A point stands for the tick before it; a phase begins at 0."""
    times_ns = series.times_ns
    if series.unit == OPERATIONS:
        return 0
    tick = times_ns[1] - times_ns[0] if len(times_ns) > 1 else times_ns[0]
    return max(0, times_ns[0] - tick)
