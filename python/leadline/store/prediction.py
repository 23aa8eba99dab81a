"""A prediction as a run keeps it: a document of a step of its own, written before what it foretells is measured.

The step's time and its place in the plan say when it was made; nothing in a finished run can be predicted afterwards.
What two probes of each test told is another document, of a later step: it foretells the other cells once more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from leadline.store.records import Cell

PREDICTION = "prediction"
"""The kind of document."""
CALIBRATED = "calibrated prediction"
"""The kind of the later one, and in that step's cell what tells it from the first."""


@dataclass(frozen=True)
class Foretold:
    """One cell, foretold: by model operations per second and mean latency; what binds, and how full each part would be."""

    experiment: str
    cell: Cell
    block_size: int
    iops: Mapping[str, float]
    mean_ns: Mapping[str, float]
    binding: str
    shares: Mapping[str, float]
    network_share: float
    disk_share: float
    relief: tuple[str, float, str] | None = None
    """Of a binding part: which, how many times the throughput twice of it would give at most, and what binds then."""


@dataclass(frozen=True)
class StoredPrediction:
    """All that was foretold of one cluster."""

    cluster: str
    baselines: tuple[str, ...]
    made_unix_ns: int
    cells: tuple[Foretold, ...]
    notes: tuple[str, ...]

    def to_text(self) -> str:
        """JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def of_text(cls, text: str) -> StoredPrediction:
        """The inverse of `to_text`; raises KeyError or TypeError for what is none."""
        document: dict[str, Any] = json.loads(text)
        cells = tuple(_foretold(each) for each in document["cells"])
        return cls(
            cluster=document["cluster"],
            baselines=tuple(document["baselines"]),
            made_unix_ns=document["made_unix_ns"],
            cells=cells,
            notes=tuple(document["notes"]),
        )


@dataclass(frozen=True)
class ProbedTest:
    """What two cells of a test told that the baselines do not hold."""

    experiment: str
    light: Cell
    heavy: Cell
    delay_seconds: float
    """Further time of a request."""
    speed: float
    """Rates of all parts, over those of the baselines."""
    further_seconds: float = 0.0
    """Service of a further part that all requests pass, one at a time; 0: there is none."""


@dataclass(frozen=True)
class Recalibrated:
    """One cell, foretold once more."""

    experiment: str
    cell: Cell
    iops: float
    mean_ns: float


@dataclass(frozen=True)
class StoredCalibration:
    """All that was foretold on one site of one cluster once its probes were measured; never the probes themselves."""

    cluster: str
    made_unix_ns: int
    tests: tuple[ProbedTest, ...]
    cells: tuple[Recalibrated, ...]
    notes: tuple[str, ...]

    def to_text(self) -> str:
        """JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def of_text(cls, text: str) -> StoredCalibration:
        """The inverse of `to_text`; raises KeyError or TypeError for what is none."""
        document: dict[str, Any] = json.loads(text)
        return cls(
            cluster=document["cluster"],
            made_unix_ns=document["made_unix_ns"],
            tests=tuple(ProbedTest(**each) for each in document["tests"]),
            cells=tuple(Recalibrated(**each) for each in document["cells"]),
            notes=tuple(document["notes"]),
        )


def _foretold(document: Mapping[str, Any]) -> Foretold:
    relief = document.get("relief")
    return Foretold(**{**document, "relief": tuple(relief) if relief else None})
