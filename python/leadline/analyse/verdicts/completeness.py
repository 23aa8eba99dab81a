"""Incomplete: something that belongs to the figure is missing from it."""

from __future__ import annotations

from leadline.analyse.clients import absent_clients
from leadline.analyse.results import Verdict, VerdictName
from leadline.analyse.verdicts.context import CellContext
from leadline.analyse.wording import digits, listed, percent, seconds
from leadline.store.records import StepRecord

LEAST_OF_RUNTIME = 0.95


def incomplete(context: CellContext) -> Verdict | None:
    """All that is missing, in one sentence."""
    missing = [
        part
        for check in (_flush, _repeats, _clients, _jobs, _planned, _runtime, _ending)
        if (part := check(context)) is not None
    ]
    return Verdict(VerdictName.INCOMPLETE, "; ".join(missing)) if missing else None


def _flush(context: CellContext) -> str | None:
    unflushed = any(trial.record.facts.get("buffered_without_flush") for trial in context.trials.trials)
    if context.is_read or not unflushed:
        return None
    sent = context.nic_share
    seen = f"; the NICs of the clients sent {percent(sent)} of it" if sent is not None else ""
    return (
        "buffered writes were not flushed at the end (no end_fsync, no fsync_on_close): data may "
        f"still lie in memory{seen}"
    )


def _repeats(context: CellContext) -> str | None:
    if not context.failures:
        return None
    planned = len(context.failures) + len(context.trials.trials)
    return f"{len(context.failures)} of {planned} repeats failed: {context.failures[0]}"


def _clients(context: CellContext) -> str | None:
    """A client that was asked for and gave no figure is never dropped silently."""
    absence = absent_clients(context.trials)
    if absence is None:
        return None
    named = f": {listed(absence.names)} {'is' if len(absence.names) == 1 else 'are'} missing"
    return f"{absence.present} of {absence.asked} clients gave a figure{named if absence.names else ''}"


def _jobs(context: CellContext) -> str | None:
    """Group reporting and imports may fold jobs into one entry: there, fewer mean nothing."""
    if (
        "numjobs" not in context.trials.cell
        or context.facts.get("imported")
        or context.facts.get("group_reporting")
    ):
        return None
    asked = context.trials.jobs
    reported = min(len(_reporting_jobs(trial.record)) for trial in context.trials.trials)
    return None if reported >= asked else f"{reported} of {asked} jobs reported"


def _planned(context: CellContext) -> str | None:
    """Operations of a phase that neither succeeded nor failed were never tried."""
    phase = context.result.phase
    tried = context.result.operations + sum(context.result.failed.values())
    if phase is None or phase.planned is None or tried >= phase.planned:
        return None
    return f"{tried:,} of {phase.planned:,} operations were tried"


def _reporting_jobs(record: StepRecord) -> set[tuple[str, int]]:
    return {(job.host, job.job) for job in record.jobs or record.measurements}


def _runtime(context: CellContext) -> str | None:
    """A cell that is not time-based (bench-fio's) may run out of data before its time."""
    asked = context.trials.cell.get("runtime")
    ran_ns = min(trial.runtime_ns for trial in context.trials.trials)
    if any(trial.record.facts.get("ended_early") for trial in context.trials.trials):
        return f"it ended after {seconds(ran_ns)}, before the runtime asked for: it ran out of data"
    if (
        not isinstance(asked, int | float)
        or context.trials.stated_only
        or ran_ns >= LEAST_OF_RUNTIME * asked * 1e9
    ):
        return None
    return f"it ended after {seconds(ran_ns)} of the {digits(asked)} s asked for: it ran out of data"


def _ending(context: CellContext) -> str | None:
    interrupted = any(trial.record.facts.get("interrupted") for trial in context.trials.trials)
    return "it was interrupted" if interrupted else None
