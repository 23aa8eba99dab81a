"""The vocabulary of predictions: what is handed to the terminal and to programs.

Units: operations per second, nanoseconds, shares 0..1.
"""

from __future__ import annotations

from dataclasses import dataclass

from leadline.analyse.prediction.stations import Correction
from leadline.analyse.prediction.workload import Load

MODELS = ("napkin", "bounds", "queueing", "calibrated")
"""From the simplest to the best informed; the last has seen two cells of each test on the target."""


@dataclass(frozen=True)
class Forecast:
    """What a cell should do, or did."""

    iops: float
    mean_ns: float

    @classmethod
    def of(cls, iops: float, offered: int) -> Forecast:
        """Latency follows by Little's law from the requests whose latency runs."""
        return cls(iops, offered / iops * 1e9)


@dataclass(frozen=True)
class Calibration:
    """What two probe cells of the target told that the baselines do not hold."""

    correction: Correction
    reached: float
    """Throughput of the heavy probe, over what the baselines promise."""
    probes: tuple[Load, Load]


@dataclass(frozen=True)
class PredictedCell:
    """One cell, foretold."""

    load: Load
    in_flight: int
    forecasts: dict[str, Forecast]
    """By model; "calibrated" only where two probes were measured."""
    binding: str
    """The resource that is used up, or where the time goes when nothing is."""
    shares: dict[str, float]
    """How far each resource is used, by name."""
    network_share: float
    """Of the fullest NIC."""
    disk_share: float
    actual: Forecast | None = None
    is_probe: bool = False


@dataclass(frozen=True)
class Score:
    """How far one model was from what was measured."""

    model: str
    metric: str
    """"throughput" or "latency"."""
    direction: str
    """"read" or "write"."""
    block_size: int | None
    """None: all of them."""
    cells: int
    over_actual: float
    """Median of |predicted / actual - 1|."""
    over_predicted: float
    """Median of |actual / predicted - 1|: the other way round, which punishes what is too small."""
    worst_tenth: float
    """Nine of ten cells are nearer to the actual than this."""


@dataclass(frozen=True)
class Prediction:
    """Everything that `leadline predict` has to say."""

    cluster: str
    cells: tuple[PredictedCell, ...]
    probes: dict[tuple[str, int], tuple[Load, Load]]
    """By test and block size, the two cells that calibrate, or that would: a light one and a heavy one."""
    calibrations: dict[tuple[str, int], Calibration]
    """By test and block size; empty before anything is measured."""
    scores: tuple[Score, ...]
    notes: tuple[str, ...]
    """What was assumed, found or left out, one sentence each."""
