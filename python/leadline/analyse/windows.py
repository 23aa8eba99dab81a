"""What the throughput series say, of all cells at once: how sure the mean is, and whether it was steady.

Thousands of cells have series of a few different lengths, so equally long ones are worked on as one matrix.

Steady state is the criterion of the SNIA Solid State Storage Performance Test Specification: over five
rounds the range of the round means is at most 20 % of their average, and the least-squares line through
them moves at most 10 % of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leadline.analyse.intervals import Floats, batch_half_widths

ROUNDS = 5
FEWEST_SAMPLES = 10
LARGEST_RANGE = 0.20
LARGEST_EXCURSION = 0.10


@dataclass(frozen=True)
class Window:
    """One repeat's series, summed up; shares are of its mean."""

    samples: int
    half_width_share: float | None
    """Half the 95 % interval of the mean; None where the series cannot give one."""
    batches: int
    range_share: float | None
    """Range of the five round means; None below ten samples."""
    excursion_share: float | None
    """How far the least-squares line through the round means moves."""

    @property
    def is_steady(self) -> bool | None:
        """By the criterion above; None where the window is too short to say."""
        if self.range_share is None or self.excursion_share is None:
            return None
        return self.range_share <= LARGEST_RANGE and self.excursion_share <= LARGEST_EXCURSION


def measure_windows(series: Sequence[Sequence[float]]) -> list[Window | None]:
    """One window per series, in order; None for an empty series or one that moved nothing."""
    places: dict[int, list[int]] = {}
    for place, values in enumerate(series):
        places.setdefault(len(values), []).append(place)
    windows: list[Window | None] = [None] * len(series)
    for length, members in places.items():
        if length:
            rows = _measure_rows(np.array([series[place] for place in members], dtype=np.float64))
            for place, window in zip(members, rows, strict=True):
                windows[place] = window
    return windows


def _measure_rows(rows: Floats) -> list[Window | None]:
    """Windows of equally long series."""
    means, samples = rows.mean(axis=1), rows.shape[1]
    moved = means > 0
    relative = np.where(moved, rows.T, 1.0).T / np.where(moved, means, 1.0)[:, np.newaxis]
    half_widths, batches = batch_half_widths(relative)
    ranges, excursions = _rounds(relative) if samples >= FEWEST_SAMPLES else (None, None)
    return [
        Window(
            samples=samples,
            half_width_share=float(half_widths[row]) if batches[row] else None,
            batches=int(batches[row]),
            range_share=None if ranges is None else float(ranges[row]),
            excursion_share=None if excursions is None else float(excursions[row]),
        )
        if moved[row]
        else None
        for row in range(len(rows))
    ]


def _rounds(rows: Floats) -> tuple[Floats, Floats]:
    """Range of the five round means and excursion of the line through them, as shares of their average."""
    edges = np.arange(ROUNDS + 1) * rows.shape[1] // ROUNDS
    means = np.add.reduceat(rows, edges[:-1], axis=1) / np.diff(edges)
    average = means.mean(axis=1)
    places = np.arange(ROUNDS) - (ROUNDS - 1) / 2
    slopes = means @ places / (places @ places)
    return np.ptp(means, axis=1) / average, np.abs(slopes) * (ROUNDS - 1) / average
