"""What the visibility grid saw, trial by trial, and the JSON document in which it is kept.

One client changes something; another, which had looked before, probes until it sees the change. A cell is what was changed, how
it was probed, what the prober's cache held, and what either did beside it; a trial is one such change.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from leadline.store.document_file import read_document, write_document

FORMAT = "leadline visibility 1"


@dataclass(frozen=True)
class Cell:
    """One combination of the five axes."""

    mutation: str
    """What the writer does: "unlink", "overwrite" ..."""
    probe: str
    """How the reader looks: "stat", "open", "held" ..."""
    prior: str
    """What the reader did before the change, and so has in its caches."""
    writer_sync: str = "none"
    """What the writer does with the data beside writing it."""
    reader_sync: str = "none"
    """What the reader does beside looking."""

    @property
    def syncs(self) -> str:
        """What both do to synchronise, in words; empty where neither does anything."""
        both = (("writer", self.writer_sync), ("reader", self.reader_sync))
        return ", ".join(f"{who} {sync}" for who, sync in both if sync != "none")

    def __str__(self) -> str:
        return ", ".join(filter(None, (f"{self.mutation} / {self.probe}", self.prior, self.syncs)))


class Ending(StrEnum):
    """How a trial ended."""

    AT_ONCE = "at once"
    """The first probe that began after the change saw it."""
    LATER = "later"
    """Stale first, then right: a window."""
    NEVER = "never"
    """Still stale when the probing was given up."""
    LOST = "lost"
    """Wrong for good: after all caches had time to expire, on every client or on one that had never looked before."""
    UNDECIDED = "undecided"
    """A client, a mount or a call failed in a way that leaves open what happened."""
    UNSUPPORTED = "unsupported"
    """The filesystem does not offer what the cell is about."""


DECIDED = frozenset({Ending.AT_ONCE, Ending.LATER, Ending.NEVER, Ending.LOST})


@dataclass(frozen=True)
class Seen:
    """One answer that the reader got, for as long as it stayed the same; times since it was told that the change is done."""

    answer: str
    start_ns: int
    last_start_ns: int
    probes: int


@dataclass(frozen=True)
class Trial:
    """One change, and how another client came to see it."""

    cell: Cell
    writer: str
    reader: str
    ending: Ending
    before: str = ""
    """What a reader was told, rightly, before the change."""
    expected: str = ""
    """What it must be told after it."""
    seen: tuple[Seen, ...] = ()
    at_the_end: Mapping[str, str] = field(default_factory=dict)
    """What each client saw when everything was over and all caches had time to expire."""
    reason: str = ""
    """Why it is undecided, unsupported or lost."""

    @property
    def window_ns(self) -> int | None:
        """From the moment the reader knew that the change was done to the beginning of the first probe that saw it, on the reader's
        own clock: 0 when it was seen at once, None when it was not seen or nothing is known."""
        if self.ending is Ending.AT_ONCE:
            return 0
        return self.seen[-1].start_ns if self.ending is Ending.LATER else None

    @property
    def never_true(self) -> tuple[str, ...]:
        """Answers that were right neither before the change nor after it."""
        return tuple(each.answer for each in self.seen if each.answer not in (self.before, self.expected))


@dataclass(frozen=True)
class Visibility:
    """All trials of one run."""

    label: str
    clients: tuple[Mapping[str, Any], ...]
    """Each: name, directory, filesystem, source, options, device, namespace."""
    witness: str
    """The client that looked at nothing before the end; empty where there was none."""
    settings: Mapping[str, Any]
    """trials, patience_seconds, settled_seconds, lanes, seconds, cells."""
    facts: Mapping[str, Any]
    """Versions, the target and its options, when."""
    trials: tuple[Trial, ...]
    notes: tuple[str, ...] = ()
    """What a reader must know to read it rightly, in sentences."""


def write_visibility(result: Visibility, path: Path) -> None:
    """Raises UserError when the file cannot be written."""
    write_document(path, visibility_text(result))


def visibility_text(result: Visibility) -> str:
    """The document itself, for whoever keeps it elsewhere than in a file."""
    return json.dumps({"format": FORMAT, **asdict(result)}, indent=1, ensure_ascii=False) + "\n"


def read_visibility(path: Path) -> Visibility:
    """Raises UserError for a file that is none of these."""
    return read_document(
        path, visibility_of, f'is no result of `leadline consistency --json` ("format": "{FORMAT}")'
    )


def visibility_of(text: str) -> Visibility:
    """The result that a document holds; raises ValueError, KeyError, TypeError or AttributeError for any other text."""
    document = json.loads(text)
    if document.pop("format") != FORMAT:
        raise ValueError(FORMAT)
    document["trials"] = tuple(_trial(each) for each in document["trials"])
    lists = {name: tuple(document[name]) for name in ("clients", "notes")}
    return Visibility(**{**document, **lists})


def _trial(document: Mapping[str, Any]) -> Trial:
    parts = {
        "cell": Cell(**document["cell"]),
        "ending": Ending(document["ending"]),
        "seen": tuple(Seen(**each) for each in document["seen"]),
    }
    return Trial(**{**document, **parts})
