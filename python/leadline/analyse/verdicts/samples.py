"""Too few samples: a percentile needs about 100/(1-p) of them; it spoils that percentile and nothing else."""

from __future__ import annotations

from leadline.analyse.results import PERCENTILES, Verdict, VerdictName
from leadline.analyse.verdicts.context import CellContext


def needed_samples(fraction: float) -> int:
    """100/(1-p): then about a hundred samples lie above the percentile."""
    return round(100 / (1 - fraction))


def too_few_samples(context: CellContext) -> Verdict | None:
    """Names every percentile that has too few."""
    if context.trials.stated_only:
        return None
    spoiled = [
        (name, estimate.n)
        for name, fraction in PERCENTILES.items()
        if (estimate := context.result.metrics.get(name)) is not None
        and estimate.n < needed_samples(fraction)
    ]
    if not spoiled:
        return None
    first, samples = spoiled[0]
    names = tuple(name for name, _ in spoiled)
    needed = ", ".join(f"{name} needs {needed_samples(PERCENTILES[name]):,}" for name in names)
    severity = needed_samples(PERCENTILES[first]) / max(samples, 1)
    return Verdict(VerdictName.TOO_FEW_SAMPLES, f"{samples:,} samples; {needed}", names, severity)
