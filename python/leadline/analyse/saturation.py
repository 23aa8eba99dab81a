"""Where throughput over load bends: onset, knee, censoring, collapse of a curve (docs/concepts/knees.md).

Two things are called knee. Queueing begins at N* = Xmax / X1 (Kleinrock's power); throughput saturates at
N90, the smallest load with 0.9 of the peak. Both are given; N90 is the one called the knee, since it hardly
moves under noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from leadline.analyse.results import Saturation

PLATEAU = 0.9
KNEE_SHARE = 0.9
CENSORING_GAIN = 1.10
COLLAPSE_SHARE = 0.85
FEWEST_POINTS = 3
_ROUNDING = 1 - 1e-9


def find_saturation(loads: Sequence[float], rates: Sequence[float]) -> Saturation | None:
    """`loads` ascending, `rates` the throughput at each; None below three points or without throughput."""
    if len(loads) < FEWEST_POINTS or max(rates) <= 0:
        return None
    peak = find_peak(rates)
    peak_load = next(load for load, rate in zip(loads, rates, strict=True) if rate >= peak * _ROUNDING)
    collapse_load = next(
        (
            load
            for load, rate in zip(loads, rates, strict=True)
            if load > peak_load and has_collapsed(rate, peak)
        ),
        None,
    )
    return Saturation(
        peak=peak,
        peak_load=peak_load,
        onset_load=peak / rates[0] if loads[0] == 1 and rates[0] > 0 else None,
        knee_load=_find_knee(loads, rates, peak),
        censored=_is_censored(loads, rates),
        collapse_load=collapse_load,
    )


def find_peak(rates: Sequence[float]) -> float:
    """The median of the top three where they lie within 10 % of the maximum (a plateau), else the maximum."""
    top = sorted(rates, reverse=True)[:3]
    is_plateau = len(top) == 3 and top[2] >= PLATEAU * top[0] * _ROUNDING
    return top[1] if is_plateau else top[0]


def has_collapsed(rate: float, peak: float) -> bool:
    """More than 15 % below the peak."""
    return rate < COLLAPSE_SHARE * peak * _ROUNDING


def _find_knee(loads: Sequence[float], rates: Sequence[float], peak: float) -> float:
    """N90, interpolated linearly in throughput over the logarithm of the load."""
    wanted = KNEE_SHARE * peak
    place = next(place for place, rate in enumerate(rates) if rate >= wanted * _ROUNDING)
    if place == 0:
        return loads[0]
    share = (wanted - rates[place - 1]) / (rates[place] - rates[place - 1])
    return math.exp(math.log(loads[place - 1]) + share * math.log(loads[place] / loads[place - 1]))


def _is_censored(loads: Sequence[float], rates: Sequence[float]) -> bool:
    """The last doubling of the load still gained more than 10 %."""
    return rates[-1] > CENSORING_GAIN * _rate_at(loads, rates, loads[-1] / 2) / _ROUNDING


def _rate_at(loads: Sequence[float], rates: Sequence[float], load: float) -> float:
    """Throughput at a load between the measured ones, over the logarithm of the load."""
    place = next(place for place, measured in enumerate(loads) if measured >= load)
    if place == 0:
        return rates[0]
    share = math.log(load / loads[place - 1]) / math.log(loads[place] / loads[place - 1])
    return rates[place - 1] + share * (rates[place] - rates[place - 1])
