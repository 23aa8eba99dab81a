"""Unlike repeats: they differ more than this machine differs from itself. Trend: they differ in one direction."""

from __future__ import annotations

from functools import partial
from statistics import median

from leadline.analyse.results import Verdict, VerdictName
from leadline.analyse.trend import DECISIVE_REPEATS
from leadline.analyse.verdicts.context import CellContext
from leadline.analyse.wording import percent, throughput

NOISE_FACTOR = 1.5
SMALLEST_THRESHOLD = 0.05


def unlike_repeats(context: CellContext) -> Verdict | None:
    """(max - min) / median of the throughput above 1.5 x the noise floor and above 5 %; a trend says more than this."""
    values = [trial.throughput for trial in context.trials.trials]
    middle = median(values)
    if len(values) < 2 or middle <= 0 or context.trend is not None:
        return None
    spread = (max(values) - min(values)) / middle
    floor = context.result.noise_floor
    threshold = max(NOISE_FACTOR * (floor or 0.0), SMALLEST_THRESHOLD)
    if spread <= threshold:
        return None
    in_words = partial(throughput, context.result)
    known = "unknown" if floor is None else percent(floor)
    evidence = (
        f"{len(values)} repeats lie between {in_words(min(values))} and {in_words(max(values))}, "
        f"{percent(spread)} of "
        f"their median (at most {percent(threshold)}; noise floor {known})"
    )
    return Verdict(VerdictName.UNLIKE_REPEATS, evidence, severity=spread / threshold)


def trend(context: CellContext) -> Verdict | None:
    """The repeats rise or fall throughout: the figure is that of the last one, and no mean is given."""
    found = context.trend
    if found is None:
        return None
    in_words = partial(throughput, context.result)
    course = "rose" if found.last > found.first else "fell"
    rarity = f"an order as clear as this comes by chance in {percent(found.chance)} of cases"
    few = (
        f"; {found.repeats} repeats cannot decide by their order alone (at least {DECISIVE_REPEATS})"
        if found.repeats < DECISIVE_REPEATS
        else ""
    )
    evidence = (
        f"the rate {course} over {found.repeats} repeats from {in_words(found.first)} to {in_words(found.last)}, "
        f"{found.ratio:.3g} x (at most {found.threshold:.3g} x): not averaged; {rarity}{few}"
    )
    return Verdict(VerdictName.TREND, evidence, severity=found.ratio / found.threshold)
