"""The thing that a trial is about, as it is before a change and after it: from it follows what each probe must be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from leadline.run.consistency.calls import BLOCK_BYTES, Answer, failed, value

SUBJECT, OTHER = "f", "g"
"""Names in the folder of a trial."""
OLD_MODIFIED, NEW_MODIFIED = 1_000_000_000, 1_500_000_000


@dataclass(frozen=True)
class Subject:
    """What lies at the name `f` in a folder of its own; the inode is the same before and after unless said otherwise."""

    kind: str | None = "file"
    """`file`, `directory`, `link`; None: nothing."""
    text: str = ""
    """The words in it, or where the link points."""
    size_bytes: int = 0
    mode: int | None = None
    modified_unix_seconds: int | None = None
    attribute: str | None = None
    """These three are known only where a trial sets them itself: what a filesystem gives a new file is its own affair."""
    links: int = 1
    names: tuple[str, ...] = (SUBJECT,)
    """All names in the folder."""
    locked_by: str | None = None
    """The family of the lock that the writer holds on it."""

    def told(self, what: str) -> Answer | None:
        """The right answer about its `kind`, `size`, `mode`, `modified`, `links`, `attribute`, `text`, `names` or a lock; None where
        every answer would be right."""
        if what == "names":
            return value(" ".join(self.names))
        if self.kind is None:
            return failed("ENOENT")
        if what in ("fcntl", "flock") and self.kind == "file":
            return failed("EAGAIN") if self.locked_by == what else value("granted")
        known = self._known().get(what)
        return None if known is None else value(str(known))

    def _known(self) -> Mapping[str, str | int | None]:
        every = {"there": "", "kind": self.kind}
        if self.kind == "directory":
            return every
        if self.kind == "link":
            return {**every, "text": self.text}
        return {
            **every,
            "text": self.text,
            "size": self.size_bytes,
            "links": self.links,
            "mode": None if self.mode is None else f"{self.mode:o}",
            "modified": self.modified_unix_seconds,
            "attribute": self.attribute,
        }


NOTHING = Subject(kind=None, names=())
OLD = Subject(text="old old", size_bytes=BLOCK_BYTES)
"""One block with the old token at both ends."""
NEW = Subject(text="new new", size_bytes=2 * BLOCK_BYTES)
"""Twice as long, so that its size tells as well."""
EMPTY = Subject()
FOLDER = Subject(kind="directory")
POINTER = Subject(kind="link", text="old")
