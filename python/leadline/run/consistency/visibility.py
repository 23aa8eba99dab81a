"""The whole grid on mounts that are there: checked, sounded in lanes, left to settle, looked at a last time, cleaned up."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from leadline import __version__
from leadline.run.consistency.clients import ClientLost, Station
from leadline.run.consistency.clock_report import hosts_in
from leadline.run.consistency.lanes import Lanes, assignments, clients_at
from leadline.run.consistency.mounts import Claim, check_distinct, check_shared, claimed, described
from leadline.run.consistency.settling import judge_for_good, settle_seconds
from leadline.store.visibility import Cell, Trial, Visibility


@dataclass(frozen=True)
class Sounding:
    """What is asked for."""

    cells: Sequence[Cell]
    trials: int = 3
    """Of each cell."""
    patience_seconds: float = 5.0
    """How long a change is waited for; longer than the longest cache time, or a stale answer cannot be told from one that stays."""
    lanes: int = 8
    control: bool = False
    """Several stations may lie on one mount."""


def sound(
    label: str,
    stations: Sequence[Station],
    witness: Station | None,
    sounding: Sounding,
    facts: Mapping[str, Any],
    on_trial: Callable[[int, int], None] = lambda done, of: None,
) -> Visibility:
    """All trials; raises UserError when the mounts are unfit. A mount that dies meanwhile leaves the rest undecided."""
    everybody = [*stations, *([witness] if witness else [])]
    began = time.monotonic()
    with claimed(everybody) as claim:
        if not sounding.control:
            check_distinct(everybody)
        clients = tuple(described(station) for station in everybody)
        with clients_at(stations) as there:
            check_shared(claim.folder, list(there.values()), sounding.patience_seconds)
        trials, settled_seconds, lost = _perform(claim, stations, witness, sounding, on_trial)
    settings = {
        "trials": sounding.trials,
        "patience_seconds": sounding.patience_seconds,
        "settled_seconds": settled_seconds,
        "lanes": sounding.lanes,
        "cells": len(sounding.cells),
        "control": sounding.control,
        "seconds": time.monotonic() - began,
    }
    versions = {"leadline": __version__, "kernel": platform.release(), "host": platform.node()}
    when = {"created_utc": datetime.now(UTC).isoformat(timespec="seconds")}
    notes = _notes(sounding, everybody, witness, lost)
    name = witness.name if witness else ""
    return Visibility(label, clients, name, settings, {**facts, **versions, **when}, trials, notes)


def _perform(
    claim: Claim,
    stations: Sequence[Station],
    witness: Station | None,
    sounding: Sounding,
    on_trial: Callable[[int, int], None],
) -> tuple[tuple[Trial, ...], float | None, ClientLost | None]:
    todo = assignments(sounding.cells, sounding.trials, stations, claim.folder)
    lanes = Lanes(stations, sounding.patience_seconds, lambda done: on_trial(done, len(todo)))
    trials = lanes.perform(todo, sounding.lanes)
    if lanes.lost is None:
        wait_seconds = settle_seconds(trials, sounding.patience_seconds)
        time.sleep(wait_seconds)
        try:
            with clients_at([*stations, *([witness] if witness else [])]) as there:
                last = there.pop(witness.name) if witness else None
                judged = judge_for_good(
                    dict(zip(todo, trials, strict=True)), list(there.values()), last, wait_seconds
                )
            return tuple(judged.values()), wait_seconds, None
        except ClientLost as lost:
            lanes.lost = lost
    claim.hangs = lanes.lost.hangs
    return tuple(trials), None, lanes.lost


def _notes(
    sounding: Sounding, everybody: Sequence[Station], witness: Station | None, lost: ClientLost | None
) -> tuple[str, ...]:
    far = any(station.far for station in everybody)
    notes = [
        "Asking may itself refresh a cache: a window is what an application sees that keeps asking.",
        f"The clients are on {hosts_in(everybody)} hosts; a window is measured on the reader's own clock, so none is compared with another."
        if far
        else "All clients are on one machine: their caches are their own, the way between them is not a real network's.",
    ]
    if sounding.control:
        notes.append("Control: clients that share a mount share its cache, and nothing can be stale there.")
    if witness is None:
        notes.append(
            "Lost means wrong on every mount after the caches had time to expire; no client was kept fresh (--witness)."
        )
    if lost is not None:
        notes.append(
            f"The run was cut short: {lost}. What was not decided by then is undecided, and the final state was not looked at."
        )
    return tuple(notes)
