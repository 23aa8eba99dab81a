"""The metrics of a cell, each with interval and n: from totals, merged bins and the window of its series."""

from __future__ import annotations

import math

import numpy as np

from leadline.analyse.intervals import percentile_ranks, t_half_width
from leadline.analyse.merge import Trials, total_mean_ns
from leadline.analyse.results import PERCENTILES, Estimate
from leadline.analyse.trend import find_trend
from leadline.analyse.windows import Window
from leadline.store.histogram import Histogram

STATED = "as stated by the source"
_ONE_RUN = "one repeat, no series to judge its spread by"
_LITTLE_HOLDS = (0.8, 1.2)
_KINDS = len(PERCENTILES)


def estimate_metrics(
    trials: Trials, window: Window | None, noise_floor: float | None = None
) -> dict[str, Estimate]:
    """By name (results.METRICS); what the source does not give is absent. `window`: the first repeat's.

    Where the repeats have a trend, nothing is a mean of them.
    """
    bandwidths = [trial.bandwidth_bytes_per_second for trial in trials.trials]
    rates = [trial.iops for trial in trials.trials]
    seconds = trials.runtime_ns / 1e9 or 1.0
    known = {
        "bandwidth": _rate(
            trials, sum(trial.size_bytes for trial in trials.trials) / seconds, bandwidths, window
        ),
        "iops": _rate(trials, sum(trial.operations for trial in trials.trials) / seconds, rates, window),
        "mean": _mean(trials, window),
    }
    found = {name: one for name, one in known.items() if one is not None}
    if find_trend([trial.throughput for trial in trials.trials], noise_floor) is not None:
        means = [trial.mean_latency_ns for trial in trials.trials]
        courses = {"bandwidth": bandwidths, "iops": rates, "mean": means}
        found = {name: _first_and_last(courses[name]) for name in found}
    return {**found, **_percentiles(trials)}


def _first_and_last(repeats: list[float]) -> Estimate:
    method = f"a trend over {len(repeats)} repeats: the last one, not averaged"
    return Estimate(repeats[-1], None, None, len(repeats), method, (repeats[0], repeats[-1]))


def _rate(trials: Trials, value: float, repeats: list[float], window: Window | None) -> Estimate | None:
    """Bandwidth or IOPS; None where nothing moved."""
    if value <= 0:
        return None
    if trials.stated_only:
        return Estimate(value, None, None, len(repeats), STATED)
    if len(repeats) > 1:
        return _over_repeats(value, repeats)
    if window is None or window.half_width_share is None:
        return Estimate(value, None, None, 1, _ONE_RUN)
    share = window.half_width_share
    method = f"batch means over {window.batches} intervals"
    return Estimate(value, max(value * (1 - share), 0.0), value * (1 + share), window.batches, method)


def _over_repeats(value: float, repeats: list[float]) -> Estimate:
    half_width = t_half_width(repeats)
    method = f"t interval over {len(repeats)} repeats"
    return Estimate(value, max(value - half_width, 0.0), value + half_width, len(repeats), method)


def _mean(trials: Trials, window: Window | None) -> Estimate | None:
    """By Little's law the relative error of a closed loop's mean is that of its throughput."""
    value = total_mean_ns(part.latency for part in trials.measurements)
    if not value:
        return None
    if trials.stated_only:
        return Estimate(value, None, None, len(trials.trials), STATED)
    if len(trials.trials) > 1:
        return _over_repeats(value, [trial.mean_latency_ns for trial in trials.trials])
    kept = (trials.effective_concurrency or 0.0) / trials.concurrency
    closed_loop = _LITTLE_HOLDS[0] <= kept <= _LITTLE_HOLDS[1] and "rate" not in trials.cell
    share = window.half_width_share if window else None
    if window is None or share is None or share >= 1 or not closed_loop:
        return Estimate(value, None, None, 1, _ONE_RUN)
    method = f"Little's law from batch means over {window.batches} intervals"
    return Estimate(value, value / (1 + share), value / (1 - share), window.batches, method)


def _percentiles(trials: Trials) -> dict[str, Estimate]:
    """From merged bins; without bins as a single source states them (stated ones cannot be merged)."""
    merged = trials.histogram
    if merged is None:
        return _stated_percentiles(trials)
    samples = merged.total
    bounds = [percentile_ranks(samples, fraction) for fraction in PERCENTILES.values()]
    ranks = [*_ranks(samples), *(low for low, _ in bounds), *(high for _, high in bounds)]
    found = _values_at(merged, ranks)
    values, lows, highs = found[:_KINDS], found[_KINDS : 2 * _KINDS], found[2 * _KINDS :]
    if len(trials.trials) > 1:
        rows = [_values_at(part, _ranks(part.total)) for part in _histograms(trials)]
        lows = [min(column) for column in zip(lows, *rows, strict=True)]
        highs = [max(column) for column in zip(highs, *rows, strict=True)]
    return {
        name: Estimate(
            value=values[place],
            low=lows[place] if bounds[place][0] >= 1 else None,
            high=highs[place] if bounds[place][1] <= samples else None,
            n=samples,
            method=_method(len(trials.trials)),
        )
        for place, name in enumerate(PERCENTILES)
    }


def _method(repeats: int) -> str:
    return (
        "order statistics" if repeats == 1 else f"order statistics, widened to the range of {repeats} repeats"
    )


def _histograms(trials: Trials) -> list[Histogram]:
    return [part for part in (trial.histogram for trial in trials.trials) if part is not None]


def _ranks(samples: int) -> list[int]:
    """Of the percentiles among so many samples, 1 = smallest."""
    return [math.ceil(fraction * samples) for fraction in PERCENTILES.values()]


def _values_at(histogram: Histogram, ranks: list[int]) -> list[float]:
    """Latencies of the samples with these ranks, clamped into the data."""
    places = np.searchsorted(np.cumsum(histogram.counts), np.array(ranks))
    found: list[float] = histogram.values_ns.take(places, mode="clip").astype(float).tolist()
    return found


def _stated_percentiles(trials: Trials) -> dict[str, Estimate]:
    if len(trials.measurements) != 1:
        return {}
    latency = trials.measurements[0].latency
    stated = {float(name): value for name, value in latency.stated_percentiles_ns.items()}
    samples = 0 if trials.stated_only else latency.count
    return {
        name: Estimate(stated[fraction], None, None, samples, STATED)
        for name, fraction in PERCENTILES.items()
        if fraction in stated
    }
