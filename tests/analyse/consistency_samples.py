"""Documents of what two JuiceFS mounts saw of each other, as a run really left them, and records of campaigns that hold them.

documents/ is of JuiceFS 1.4.1 with its default caches, two mounts and a witness on one machine: five cells of the grid, ten seconds of
free-running load, 60 delayed looks of each mechanism.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leadline.analyse.analysis import analyse
from leadline.analyse.results import Results
from leadline.store.records import Direction, Scalar, Status, StepKind, StepRecord

from .metadata_samples import Phase, metadata_record
from .samples import manifest

DOCUMENTS = {
    kind: (Path(__file__).parent / "documents" / f"juicefs.{kind}.json").read_text(encoding="utf-8")
    for kind in ("visibility", "histories")
}
CELL: dict[str, Scalar] = {"clients": 2, "cells": "default", "patience": 3.0, "trials": 2}
CACHES = (0.0, 0.1, 1.0, 5.0)


def consistency_record(
    ordinal: int = 0,
    cell: Mapping[str, Scalar] | None = None,
    documents: Mapping[str, str] | None = None,
    repeat: int = 0,
    reason: str | None = None,
) -> StepRecord:
    """A step of the consistency engine."""
    return StepRecord(
        ordinal=ordinal,
        kind=StepKind.CELL,
        experiment="seen",
        cell={**CELL, **(cell or {})},
        repeat=repeat,
        status=Status.FAILED if reason else Status.FINISHED,
        reason=reason,
        engine="consistency",
        documents=DOCUMENTS if documents is None else documents,
    )


def sounded(*records: StepRecord, **known: Any) -> Results:
    """A run of these records, analysed for real."""
    return analyse(list(records), manifest(**known), {})


def late_by(window_seconds: float, lost: bool) -> str:
    """The grid's document with every late trial late by so much, and appends lost or seen."""
    document = json.loads(DOCUMENTS["visibility"])
    document["settings"]["patience_seconds"] = 8.0
    for trial in document["trials"]:
        if trial["ending"] == "lost" and not lost:
            trial["ending"] = "at once"
        if trial["ending"] == "later":
            trial["seen"][-1]["start_ns"] = round(window_seconds * 1e9)
            trial["ending"] = "later" if window_seconds else "at once"
    return json.dumps(document)


def swept(lose_from: float = 0.1) -> Results:
    """JuiceFS under several cache times, each measured and sounded: stat gains up to eight times, create nothing."""
    records, plan = [], []
    for number, seconds in enumerate(CACHES):
        site: dict[str, Scalar] = {"target": f"caches {seconds:g} s"}
        stat = Phase(Direction.FILE_STAT, rate=5000 * min(1 + 7 * seconds, 8))
        rates = metadata_record(Phase(Direction.FILE_CREATE, rate=1000), stat, ordinal=2 * number, cell=site)
        documents = {"visibility": late_by(seconds, seconds >= lose_from)}
        records += [rates, consistency_record(2 * number + 1, site, documents)]
        times = [["attr-cache", f"{seconds:g}"], ["entry-cache", f"{seconds:g}"]]
        options = [["metadata", "redis"], *times]
        plan += [
            {"ordinal": 2 * number + part, "site": {"target": "juicefs", "options": options}}
            for part in (0, 1)
        ]
    return analyse(records, manifest(plan=tuple(plan)), {})
