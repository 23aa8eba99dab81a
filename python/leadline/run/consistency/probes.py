"""How a reader can look, what it did before so that its caches hold something, and how it looks once everything is over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from leadline.run.consistency.calls import (
    ATTRIBUTE,
    Answer,
    Call,
    at,
    in_words,
    on,
    opened,
    session,
    stat,
    value,
    whole,
    write,
)
from leadline.run.consistency.subjects import SUBJECT, Subject

HELD = "r"
"""The reader's handle, where it keeps the file open."""


@dataclass(frozen=True)
class Probe:
    """A way to look."""

    what: str
    """What of the subject it is told (subjects.Subject.told)."""
    look: Callable[[str], list[Call]]
    """The calls, by the path of the subject."""
    at_the_end: str = ""
    """The probe by which the final state is seen, where this one needs a file that was opened before; itself, when empty."""
    held: bool = False
    """Whether it looks at a file that was opened before the change."""
    act: Callable[[str], list[Call]] | None = None
    """What the reader does once, after the change and before it looks."""
    adds: str = ""
    """What that adds to the words in the file."""

    def right(self, subject: Subject) -> Answer | None:
        """What it must be told while the subject is so; None where every answer would be right."""
        told = subject.told(self.what)
        return value(f"{in_words(told)} {self.adds}") if self.adds and told and "value" in told else told


def _locked(by: str) -> Callable[[str], list[Call]]:
    return lambda path: session(path, "read", "write", then=(on("session", "lock", by=by),))


def _listed(path: str) -> list[Call]:
    return [at(path.rpartition("/")[0], "list")]


PROBES: Mapping[str, Probe] = {
    "stat": Probe("kind", lambda path: [stat(path)]),
    "access": Probe("there", lambda path: [at(path, "access")]),
    "size": Probe("size", lambda path: [stat(path, "size")]),
    "mode": Probe("mode", lambda path: [stat(path, "mode")]),
    "modified": Probe("modified", lambda path: [stat(path, "modified")]),
    "links": Probe("links", lambda path: [stat(path, "links")]),
    "getxattr": Probe("attribute", lambda path: [at(path, "get_attribute", key=ATTRIBUTE)]),
    "readlink": Probe("text", lambda path: [at(path, "read_link")]),
    "readdir": Probe("names", _listed),
    "open": Probe("text", whole),
    "held": Probe("text", lambda path: [on(HELD, "read")], at_the_end="open", held=True),
    "held fstat": Probe(
        "size", lambda path: [on(HELD, "file_stat", field="size")], at_the_end="size", held=True
    ),
    "held SEEK_END": Probe("size", lambda path: [on(HELD, "seek_end")], at_the_end="size", held=True),
    "append": Probe(
        "text",
        whole,
        act=lambda path: session(path, "append", then=(write("session", "3 "),)),
        adds="3",
    ),
    "lock (fcntl)": Probe("fcntl", _locked("fcntl")),
    "lock (flock)": Probe("flock", _locked("flock")),
}
"""Name -> how it looks."""


@dataclass(frozen=True)
class Prior:
    """What the reader does before the change, and what that tells it."""

    what: str
    calls: Callable[[str, tuple[str, ...]], list[Call]]
    """By the path, and the flags that its reader sync opens files with."""
    kinds: tuple[str | None, ...]
    """What must lie at the name for it to make sense."""
    holds: bool = False


def _holding(path: str, flags: tuple[str, ...]) -> list[Call]:
    return [opened(path, HELD, *flags), on(HELD, "read")]


ANY = ("file", "directory", "link", None)
PRIORS: Mapping[str, Prior | None] = {
    "cold": None,
    "looked": Prior("kind", lambda path, flags: [stat(path)], ANY),
    "read": Prior("text", lambda path, flags: whole(path), ("file",)),
    "resolved": Prior("text", lambda path, flags: [at(path, "read_link")], ("link",)),
    "listed": Prior("names", lambda path, flags: _listed(path), ANY),
    "held": Prior("text", _holding, ("file",), holds=True),
    "made it": Prior("kind", lambda path, flags: [stat(path)], ("file", "directory", "link")),
}
"""Name -> what it does. `cold`: nothing; `made it`: the reader itself had made what the writer then changes."""

READER_SYNCS: Mapping[str, Callable[[list[Call]], list[Call]]] = {
    "none": lambda look: look,
    "drop pages": lambda look: [on(HELD, "drop_pages"), *look],
    "lock": lambda look: [
        on(HELD, "lock", by="fcntl"),
        *look,
        on(HELD, "unlock", by="fcntl"),
    ],
    "O_DIRECT": lambda look: look,
}
"""Name -> the probe with what the reader does beside it; for probes of files that it holds open."""


def holding_flags(reader_sync: str) -> tuple[str, ...]:
    """How the reader opens the file that it will hold; a lock for writing needs one that may be written."""
    return {"O_DIRECT": ("read", "direct"), "lock": ("read", "write")}.get(reader_sync, ("read",))


def path_in(folder: str) -> str:
    """Of the subject."""
    return f"{folder}/{SUBJECT}"
