"""95 % intervals that hold what they promise: of repeats, of one autocorrelated series, of percentiles.

A series of throughput samples is autocorrelated, so s/sqrt(n) over its samples is far too narrow. Batch
means cure it: the series is cut into fewer and longer batches until neighbours hardly correlate (Law and
Kelton, Simulation Modeling and Analysis, ch. 9), and what correlation remains widens the interval (variance
of an AR(1) mean). tests/analyse/test_intervals.py shows the coverage.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NORMAL_QUANTILE = 1.959964
FEWEST_BATCHES = 5
_BATCH_COUNTS = (32, 24, 20, 16, 12, 10, 8, 6, FEWEST_BATCHES)
_SMALL_CORRELATION = 0.2
_LARGEST_CORRELATION = 0.8

# 97.5 % quantiles of Student's t for 1..30 degrees of freedom.
_T_QUANTILES = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


def t_quantile(degrees: int) -> float:
    """97.5 % quantile of Student's t; above the table by its expansion in 1/degrees (error < 0.001)."""
    if degrees <= len(_T_QUANTILES):
        return _T_QUANTILES[degrees - 1]
    z = NORMAL_QUANTILE
    return z + (z**3 + z) / (4 * degrees)


def t_half_width(values: list[float]) -> float:
    """Half the 95 % interval of the mean of independent repeats (at least 2)."""
    n = len(values)
    mean = sum(values) / n
    variance = sum((value - mean) ** 2 for value in values) / (n - 1)
    return t_quantile(n - 1) * math.sqrt(variance / n)


def batch_half_widths(series: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """For each row of equally long series: half the 95 % interval of its mean, and the batches it rests on.

    NaN and 0 where even five batches still correlate, or the series has fewer than five samples.
    """
    rows, samples = series.shape
    half_widths, batches = np.full(rows, np.nan), np.zeros(rows, dtype=np.int64)
    for count in (count for count in _BATCH_COUNTS if count <= samples):
        pending = np.flatnonzero(batches == 0)
        if not len(pending):
            break
        means = _batch_means(series[pending], count)
        correlation, widths = _correlation_and_half_width(means)
        settled = correlation <= _SMALL_CORRELATION
        half_widths[pending[settled]] = widths[settled]
        batches[pending[settled]] = count
    return half_widths, batches


def _batch_means(series: Floats, count: int) -> Floats:
    """Means of `count` batches that together hold every sample of a row; lengths differ by one at most."""
    edges = np.arange(count + 1) * series.shape[1] // count
    means: Floats = np.add.reduceat(series, edges[:-1], axis=1) / np.diff(edges)
    return means


def _correlation_and_half_width(means: Floats) -> tuple[Floats, Floats]:
    """Of each row: lag-1 autocorrelation (its bias of -1/count undone) and half the interval."""
    count = means.shape[1]
    centred = means - means.mean(axis=1, keepdims=True)
    squares = (centred**2).sum(axis=1)
    products = (centred[:, 1:] * centred[:, :-1]).sum(axis=1)
    correlation = np.divide(products, squares, out=np.full(len(means), -1.0), where=squares > 0) + 1 / count
    # Half a standard error on top: a few batches cannot show how small their correlation is.
    remaining = np.clip(correlation + 0.5 / math.sqrt(count), 0.0, _LARGEST_CORRELATION)
    variance = squares / (count - 1) / count * (1 + remaining) / (1 - remaining)
    return correlation, t_quantile(count - 1) * np.sqrt(variance)


@lru_cache(maxsize=65536)
def percentile_ranks(samples: int, fraction: float) -> tuple[int, int]:
    """Ranks (1 = smallest) between which the true percentile lies with 95 %, whatever the distribution.

    Samples count as independent. A rank of 0 or samples + 1 lies outside the data: there nothing is known.
    """
    if samples * min(fraction, 1 - fraction) > 50:
        spread = NORMAL_QUANTILE * math.sqrt(samples * fraction * (1 - fraction))
        return max(math.floor(samples * fraction - spread), 0), math.ceil(samples * fraction + spread) + 1
    if fraction > 0.5:
        low, high = percentile_ranks(samples, 1 - fraction)
        return samples + 1 - high, samples + 1 - low
    return _exact_ranks(samples, fraction)


def _exact_ranks(samples: int, fraction: float) -> tuple[int, int]:
    """By the binomial distribution of how many samples lie below the percentile (expected: at most 50)."""
    low, high, below = 0, samples + 1, 0.0
    probability = (1 - fraction) ** samples
    for hits in range(samples + 1):
        below += probability  # P(at most `hits` samples lie below)
        if below <= 0.025:
            low = hits + 1
        if below >= 0.975:
            high = hits + 1
            break
        probability *= (samples - hits) / (hits + 1) * fraction / (1 - fraction)
    return low, high
