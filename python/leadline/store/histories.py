"""What free-running clients saw: the checker's report, the probes after a planned delay, and the JSON document in which both are kept.

Many workers of several clients change and read many small objects at once; each operation is a record. The records lie in files of their
own (`--keep-histories`); what the checker made of them is kept here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from leadline.store.document_file import read_document, write_document

FORMAT = "leadline histories 1"


@dataclass(frozen=True)
class DelaySample:
    """One change by one client and one look by another; nobody looked in between, since a look may refresh a cache."""

    mechanism: str
    """What was changed and how it was looked for: `unlink -> stat`, `overwrite -> size`, `rename over -> open`, `append -> length`."""
    delay_ns: int
    """From the end of the change to the beginning of the look."""
    stale: bool
    """Whether the look saw the old state, or what was true neither before nor after."""
    object: int
    """Samples of one object are not independent: bands are drawn over objects."""
    age_ns: int | None = None
    """How long before the end of the change the reader had looked: how old what it had cached was. None where nobody knows."""


@dataclass(frozen=True)
class Histories:
    """All that one run of free-running clients, of delayed probes, or of both came to."""

    label: str
    clients: tuple[Mapping[str, Any], ...]
    """Each: name, directory, filesystem, source, options, device, namespace."""
    witness: str
    """The client that looked at nothing before the end; empty where there was none."""
    settings: Mapping[str, Any]
    """seconds, workers, objects, settle_seconds, seed, kinds, probes, longest_delay_seconds, control."""
    report: Mapping[str, Any]
    """What the checker says, as `leadline-engine check` prints it; its lines are empty where no history was recorded."""
    delays: tuple[DelaySample, ...]
    facts: Mapping[str, Any]
    """Versions, the target and its options, when."""
    notes: tuple[str, ...] = ()
    """What a reader must know to read it rightly, in sentences."""


NO_REPORT: Mapping[str, Any] = {"operations": 0, "objects": 0, "whole": True, "lines": []}
"""Of a run that recorded no history."""


def write_histories(path: Path, histories: Histories) -> None:
    """Raises UserError when the file cannot be written."""
    write_document(path, histories_text(histories))


def histories_text(histories: Histories) -> str:
    """The document itself, for whoever keeps it elsewhere than in a file."""
    return json.dumps({"format": FORMAT, **asdict(histories)}, indent=1, ensure_ascii=False) + "\n"


def read_histories(path: Path) -> Histories:
    """Raises UserError for a file that is none of these."""
    return read_document(
        path, histories_of, f'is no result of `leadline consistency --histories` ("format": "{FORMAT}")'
    )


def histories_of(text: str) -> Histories:
    """The result that a document holds; raises ValueError, KeyError, TypeError or AttributeError for any other text."""
    document = json.loads(text)
    if document.pop("format") != FORMAT:
        raise ValueError(FORMAT)
    document["delays"] = tuple(DelaySample(**each) for each in document["delays"])
    lists = {name: tuple(document[name]) for name in ("clients", "notes")}
    return Histories(**{**document, **lists})
