"""Unlike repeats: the repeats differ more than this machine differs from itself."""

from __future__ import annotations

from statistics import median

from leadline.analyse.results import Verdict, VerdictName
from leadline.analyse.verdicts.context import CellContext
from leadline.analyse.wording import bandwidth, percent

NOISE_FACTOR = 1.5
SMALLEST_THRESHOLD = 0.05


def unlike_repeats(context: CellContext) -> Verdict | None:
    """(max - min) / median of the bandwidth above 1.5 x the noise floor and above 5 %."""
    values = [trial.bandwidth_bytes_per_second for trial in context.trials.trials]
    middle = median(values)
    if len(values) < 2 or middle <= 0:
        return None
    spread = (max(values) - min(values)) / middle
    floor = context.reference.noise_floor
    threshold = max(NOISE_FACTOR * (floor or 0.0), SMALLEST_THRESHOLD)
    if spread <= threshold:
        return None
    known = "unknown" if floor is None else percent(floor)
    evidence = (
        f"{len(values)} repeats lie between {bandwidth(min(values))} and {bandwidth(max(values))}, "
        f"{percent(spread)} of "
        f"their median (at most {percent(threshold)}; noise floor {known})"
    )
    return Verdict(VerdictName.UNLIKE_REPEATS, evidence, severity=spread / threshold)
