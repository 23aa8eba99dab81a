"""Concurrency that was asked for but not kept: an inert axis, and jobs that did not run together."""

from __future__ import annotations

from leadline.analyse.client_windows import Load, Span, spans_of
from leadline.analyse.merge import Trial, overlap_share
from leadline.analyse.results import Verdict, VerdictName
from leadline.analyse.verdicts.context import CellContext
from leadline.analyse.verdicts.short_window import excess_in_flight, not_counted
from leadline.analyse.wording import digits, listed, percent, seconds

LITTLE_LOW, LITTLE_HIGH = 0.8, 1.2
LEAST_OVERLAP = 0.95


def inert_axis(context: CellContext) -> Verdict | None:
    """Little's law: IOPS x mean latency must come to iodepth x numjobs, else the engine keeps another one.

    Only for closed loops whose jobs ran together: a job that ended early keeps none from then on. What the ends of a short
    window explain is no other depth.
    """
    kept, depth = context.trials.effective_concurrency, context.trials.iodepth
    if kept is None or depth <= 1 or "rate" in context.trials.cell:
        return None
    ratio = kept / context.trials.concurrency
    if LITTLE_LOW <= ratio <= LITTLE_HIGH or context.trials.least_overlap < LEAST_OVERLAP:
        return None
    if excess_in_flight(context) or not_counted(context):
        return None
    evidence = (
        f"Little's law gives an effective iodepth of {digits(kept / context.trials.jobs)} where "
        f"{depth} was asked for "
        f"({percent(ratio)}; {percent(LITTLE_LOW)} to {percent(LITTLE_HIGH)} is right)"
    )
    severity = LITTLE_LOW / ratio if ratio < 1 else ratio / LITTLE_HIGH
    return Verdict(VerdictName.INERT_AXIS, evidence, severity=severity)


def not_overlapping(context: CellContext) -> Verdict | None:
    """Some clients or jobs were done while others still ran: the window does not show all of them at once."""
    return _clients_apart(context) or _jobs_apart(context)


def _clients_apart(context: CellContext) -> Verdict | None:
    """By the windows of the clients' loads; names the one without which they would overlap best."""
    if len(context.result.clients) < 2:
        return None
    span = min(spans_of(context.trials.trials), key=lambda span: span.overlap_share)
    if span.overlap_share >= LEAST_OVERLAP:
        return None
    odd = span.odd_one()
    evidence = (
        f"clients ran together for {percent(span.overlap_share)} of the window (at least "
        f"{percent(LEAST_OVERLAP)}): {odd.name} {_out_of_step(odd, span)}"
    )
    severity = LEAST_OVERLAP / max(span.overlap_share, 0.01)
    return Verdict(VerdictName.NOT_OVERLAPPING, evidence, severity=severity)


def _out_of_step(load: Load, span: Span) -> str:
    """How much later than the first it began, how much earlier than the last it was done."""
    late, early = load.begin_ns - span.begin_ns, span.end_ns - load.end_ns
    words = [
        *([f"began {seconds(late)} after the first"] if late > 0 else []),
        *([f"was done {seconds(early)} before the last"] if early > 0 else []),
    ]
    return listed(words)


def _jobs_apart(context: CellContext) -> Verdict | None:
    worst = min(context.trials.trials, key=overlap_share)
    share = overlap_share(worst)
    if share >= LEAST_OVERLAP:
        return None
    evidence = (
        f"jobs ran together for {percent(share)} of the window (at least {percent(LEAST_OVERLAP)}): "
        f"{_ends(worst)}"
    )
    return Verdict(VerdictName.NOT_OVERLAPPING, evidence, severity=LEAST_OVERLAP / max(share, 0.01))


def _ends(trial: Trial) -> str:
    runtimes = trial.job_runtimes_ns
    first, last = min(runtimes, key=runtimes.__getitem__), max(runtimes, key=runtimes.__getitem__)
    return (
        f"first done {_job(first)} after {seconds(runtimes[first])}, last done {_job(last)} after "
        f"{seconds(runtimes[last])}"
    )


def _job(name: tuple[str, int]) -> str:
    host, job = name
    return f"job {job} on {host}" if host else f"job {job}"
