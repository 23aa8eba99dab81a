"""A prediction as a run keeps it: a document of a step of its own, written before what it foretells is measured.

The step's time and its place in the plan say when it was made; nothing in a finished run can be predicted afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from leadline.store.records import Cell

PREDICTION = "prediction"
"""The kind of document."""


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


def _foretold(document: Mapping[str, Any]) -> Foretold:
    relief = document.get("relief")
    return Foretold(**{**document, "relief": tuple(relief) if relief else None})
