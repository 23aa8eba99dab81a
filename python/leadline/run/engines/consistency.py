"""The consistency engine: one command that works through the mounts of all clients; its results are documents and no rates."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.plan.consistency import has_witness
from leadline.plan.steps import Step
from leadline.run.consistency.grid import named
from leadline.run.seams import Client, Completed, Invocation, Now, Outcome, Place
from leadline.spec.consistency import NO_GRID, grid_cells

WORKER = "leadline.run.consistency.worker"
DOCUMENTS = {"visibility": "visibility.json", "histories": "histories.json"}
"""Kind -> the file in which the worker leaves it."""
PROGRESS = re.compile(r"trial (\d{1,9}) (\d{1,9})\s*")
CUT_SHORT = ("was cut short", "were cut short", "its part of the history is missing")
"""What notes say that tell of a client or a mount that was lost (run/consistency)."""


class ConsistencyEngine:
    """`leadline consistency` as a step."""

    def check(self, steps: Sequence[Step]) -> None:
        """Whether all cells are known; raises UserError."""
        for step in steps:
            try:
                _cells(step)
            except UserError as error:
                raise UserError(f'experiment "{step.experiment}": {error}') from None

    def prepare(self, step: Step, place: Place, scratch: Path) -> Invocation:
        """Clients are named by letters; the last is the witness. Raises UserError where they cannot be reached from here."""
        seats = _seats(step, place)
        document = {
            **wishes_of(step),
            "stations": seats[:-1] if has_witness(step.cell) else seats,
            "witness": seats[-1] if has_witness(step.cell) else None,
            "label": label_of(step),
            "results": {kind: str(scratch / name) for kind, name in DOCUMENTS.items()},
            "facts": {"target": step.site.target, "options": dict(step.site.options)}
            if step.site.target
            else {},
        }
        asked = scratch / "wishes.json"
        asked.write_text(json.dumps(document), encoding="utf-8")
        argv = (sys.executable, "-m", WORKER, str(asked))
        return Invocation(argv, scratch, scratch, step.timeout_seconds, by_hand=_by_hand(step, seats))

    def collect(self, step: Step, invocation: Invocation, completed: Completed) -> Outcome:
        """What was violated is the result and no fault of the step; a mount that died is one, and what was seen until then is kept."""
        documents = {
            kind: path.read_text(encoding="utf-8")
            for kind, name in DOCUMENTS.items()
            if (path := invocation.scratch / name).is_file()
        }
        raw = {"consistency.txt": completed.stderr.encode()}
        reason = _reason(completed, documents)
        return Outcome(reason=reason, raw=raw, documents=documents)

    def now(self, line: str) -> Now | None:
        """How many of the trials are done; there is no rate."""
        found = PROGRESS.fullmatch(line)
        return Now(0.0, 0.0, int(found[1]) / max(int(found[2]), 1)) if found else None


def wishes_of(step: Step) -> dict[str, Any]:
    """What is to be done, whoever does it."""
    cell = step.cell
    return {
        "cells": list(grid_cells(cell["cells"])) if cell["cells"] != NO_GRID else [],
        "trials": cell.get("trials", 0),
        "patience_seconds": cell["patience"],
        "lanes": int(step.options["lanes"]),
        "control": bool(cell.get("control", False)),
        "histories_seconds": cell.get("histories"),
        "delays": cell.get("delays", 0),
        "longest_delay_seconds": float(step.options["longest_delay"]),
        "seed": step.seed,
    }


def label_of(step: Step) -> str:
    """The target with its options."""
    site = step.site
    name = site.label or site.target or "the directory"
    options = ", ".join(f"{key}={value}" for key, value in site.options)
    return f"{name} ({options})" if options else name


def _cells(step: Step) -> None:
    if step.cell["cells"] != NO_GRID:
        named(grid_cells(step.cell["cells"]))


def _seats(step: Step, place: Place) -> list[dict[str, Any]]:
    """Where each client works; for the control twice the same."""
    clients = place.clients * 2 if step.cell.get("control") else place.clients
    if far := next((client for client in clients if client.machine != "local"), None):
        raise UserError(
            f"{far.name} is another machine, and clients of consistency run on this one; mount it here several times, "
            "or take a target of the lab"
        )
    letters = [chr(ord("A") + number) for number in range(len(clients))]
    if has_witness(step.cell):
        letters[-1] = "witness"
    return [_seat(letter, client, place.within) for letter, client in zip(letters, clients, strict=True)]


def _seat(name: str, client: Client, within: str) -> dict[str, Any]:
    return {
        "name": name,
        "directory": str(client.directory / within),
        "namespace": client.namespace,
        "groups": list(client.groups),
    }


def _reason(completed: Completed, documents: Mapping[str, str]) -> str | None:
    if completed.exit_code != 0 or not documents:
        said = completed.stderr.strip().splitlines()
        return said[-1] if said else "the sounding ended without a result"
    notes = [note for text in documents.values() for note in json.loads(text)["notes"]]
    return next((note.rstrip(".") for note in notes if any(words in note for words in CUT_SHORT)), None)


def _by_hand(step: Step, seats: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """What a user types for the same; a list of cells has no such command."""
    cell, site = step.cell, step.site
    if not site.target:
        where = tuple(str(Path(seat["directory"]).parent) for seat in seats)
    else:
        options = (word for key, value in site.options for word in ("--option", f"{key}={value}"))
        where = ("--target", site.target, *options, "--clients", str(cell.get("clients", 2)))
    grid = (
        ("--trials", str(cell["trials"]), "--patience", f"{cell['patience']:g}s") if "trials" in cell else ()
    )
    return ("leadline", "consistency", *where, *grid, *(("--control",) if cell.get("control") else ()))
