"""Short window: so much was under way when it opened and closed that a figure is provably wrong.

A closed loop never has more in flight than iodepth x numjobs. After a ramp more can be found by Little's law: answers to what
was issued before the window count with their whole latency, and fio gives all that is under way at its end the moment of the
last answer. The rate is of answers and holds; the latencies are too long, by as much as the law is broken.
"""

from __future__ import annotations

from leadline.analyse.results import METRICS, Verdict, VerdictName
from leadline.analyse.verdicts.completeness import LEAST_OF_RUNTIME
from leadline.analyse.verdicts.context import CellContext
from leadline.analyse.wording import digits, latency, percent, seconds

LARGEST_EXCESS = 0.05
"""Of what can be in flight."""
LATENCIES = METRICS[METRICS.index("mean") :]


def short_window(context: CellContext) -> Verdict | None:
    """More in flight than there can be, and not more than answers to earlier requests explain."""
    excess = excess_in_flight(context)
    if excess <= LARGEST_EXCESS:
        return None
    offered, window_seconds = context.trials.concurrency, float(context.trials.cell["runtime"])
    evidence = (
        f"Little's law gives {digits(offered * (1 + excess))} requests in flight where {offered} can be: what was under way at the "
        f"ends of a window of {digits(window_seconds)} s counts with all its latency, {latency(_mean_ns(context))} in the mean, which "
        f"is {percent(excess)} too long (at most {percent(LARGEST_EXCESS)}); about {seconds(_enough_ns(context, excess))} would do"
    )
    return Verdict(VerdictName.SHORT_WINDOW, evidence, LATENCIES, excess / LARGEST_EXCESS)


def excess_in_flight(context: CellContext) -> float:
    """By how much Little's law exceeds what can be in flight; 0 where it does not, or the ends of the window are not why."""
    trials, kept = context.trials, context.trials.effective_concurrency
    if kept is None or not _has_window(context):
        return 0.0
    excess = kept / trials.concurrency - 1
    explained = _mean_ns(context) * len(trials.trials) / trials.runtime_ns
    return excess if 0 < excess <= explained else 0.0


def not_counted(context: CellContext) -> Verdict | None:
    """Runs that were stored when leadline took fio's `total_ios` for the operations: what was issued since the ramp."""
    answered = sum(part.latency.count for part in context.trials.measurements)
    counted = sum(part.operations for part in context.trials.measurements)
    missing = 1 - counted / answered if answered and _has_window(context) else 0.0
    if missing <= LARGEST_EXCESS:
        return None
    evidence = (
        f"{answered:,} requests were answered and {counted:,} counted, those issued after the ramp: the operations a second are "
        f"{percent(missing)} too low (at most {percent(LARGEST_EXCESS)}); measure it anew"
    )
    return Verdict(VerdictName.SHORT_WINDOW, evidence, ("iops",), missing / LARGEST_EXCESS)


def _has_window(context: CellContext) -> bool:
    """fio's closed loops with a ramp, for a time. Without a ramp nothing was under way when the window opened."""
    trials, asked = context.trials, context.trials.cell.get("runtime")
    if not isinstance(asked, int | float) or not trials.cell.get("ramp") or "ioengine" not in trials.cell:
        return False
    if trials.stated_only or "rate" in trials.cell:
        return False
    return all(trial.runtime_ns >= LEAST_OF_RUNTIME * asked * 1e9 for trial in trials.trials)


def _mean_ns(context: CellContext) -> float:
    return context.result.metrics["mean"].value if "mean" in context.result.metrics else 0.0


def _enough_ns(context: CellContext, excess: float) -> float:
    """What the ends add is the same whatever lies between them, so a longer window thins it out."""
    trials = context.trials
    return trials.runtime_ns / len(trials.trials) * excess / LARGEST_EXCESS
