"""Unsteady: the throughput moved inside the window, so its mean depends on when one looked."""

from __future__ import annotations

from leadline.analyse.results import Verdict, VerdictName
from leadline.analyse.verdicts.context import CellContext
from leadline.analyse.windows import LARGEST_EXCURSION, LARGEST_RANGE, ROUNDS, Window
from leadline.analyse.wording import percent


def not_steady(context: CellContext) -> Verdict | None:
    """The worst repeat fails the SNIA PTS steady-state criterion (windows.py)."""
    unsteady = [window for window in context.windows if window is not None and window.is_steady is False]
    if not unsteady:
        return None
    worst = max(unsteady, key=_severity)
    evidence = (
        f"SNIA PTS steady state not met over {ROUNDS} rounds of {worst.samples} samples: range "
        f"{percent(worst.range_share or 0)} of the mean (at most {percent(LARGEST_RANGE)}), drift "
        f"{percent(worst.excursion_share or 0)} (at most {percent(LARGEST_EXCURSION)})"
    )
    return Verdict(VerdictName.UNSTEADY, evidence, severity=_severity(worst))


def _severity(window: Window) -> float:
    return max((window.range_share or 0) / LARGEST_RANGE, (window.excursion_share or 0) / LARGEST_EXCURSION)
