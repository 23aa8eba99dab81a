"""Latency histograms as sorted values with counts: the only form in which latencies are stored and merged.

Percentiles are computed from merged counts and never averaged. fio's json+ bins are mid-points of a grid that is
the same on every host (stat.h, error <= 1/128), so adding counts value by value merges jobs, hosts and repeats exactly.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Histogram:
    """`values_ns` ascending and unique, `counts` of the same length, each > 0."""

    values_ns: Integers
    counts: Integers

    @classmethod
    def from_bins(cls, bins: Mapping[int, int]) -> Histogram:
        """From {latency_ns: count}; empty bins are dropped."""
        kept = sorted((value, count) for value, count in bins.items() if count > 0)
        table = np.array(kept, dtype=np.int64).reshape(-1, 2)
        return cls(table[:, 0], table[:, 1])

    @classmethod
    def merge(cls, histograms: Iterable[Histogram]) -> Histogram:
        """The histogram of all samples together (jobs, hosts, repeats)."""
        parts = list(histograms)
        if not parts:
            return cls.from_bins({})
        values, places = np.unique(np.concatenate([part.values_ns for part in parts]), return_inverse=True)
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, places, np.concatenate([part.counts for part in parts]))
        return cls(values, counts)

    @property
    def total(self) -> int:
        """How many samples it holds."""
        return int(self.counts.sum())

    def value_at_rank(self, rank: int) -> int:
        """The latency in ns of the sample with this rank (1 = smallest), clamped into the histogram.

        Raises ValueError when there are no samples.
        """
        if not len(self.counts):
            raise ValueError("an empty histogram has no ranks")
        place = int(np.searchsorted(np.cumsum(self.counts), max(rank, 1)))
        return int(self.values_ns[min(place, len(self.values_ns) - 1)])

    def percentile(self, fraction: float) -> int:
        """The smallest latency in ns that at least `fraction` (0..1) of the samples do not exceed."""
        return self.value_at_rank(int(np.ceil(fraction * self.total)))

    def to_bytes(self) -> bytes:
        """Compressed: little-endian int64 values, then counts."""
        return zlib.compress(np.concatenate([self.values_ns, self.counts]).astype("<i8").tobytes())

    @classmethod
    def from_bytes(cls, blob: bytes) -> Histogram:
        """The inverse of `to_bytes`; raises ValueError or zlib.error when the blob is not one."""
        both = np.frombuffer(zlib.decompress(blob), dtype="<i8").astype(np.int64)
        if len(both) % 2:
            raise ValueError("a stored histogram has as many counts as values")
        return cls(both[: len(both) // 2], both[len(both) // 2 :])
