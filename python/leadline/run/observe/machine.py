"""The one seam through which this package reads a machine: text below a root, normally `/`.

Tests point the root at a recorded machine. A reading that fails is never an error: it returns None and, when
the caller says in words what was wanted, goes on the list of what could not be read.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

Name = str | PurePosixPath | Path
"""An absolute path as the machine itself would spell it."""


class Machine:
    """Files of one machine, live or recorded."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = Path(os.path.realpath(root))
        self.unreadable: list[dict[str, str]] = []

    @property
    def is_live(self) -> bool:
        """False for a recording, where only files can be read: no system call describes that machine."""
        return self.root == Path("/")

    def path(self, name: Name) -> Path:
        """Where the file lies on the machine that runs us."""
        return self.root / str(name).lstrip("/")

    def resolve(self, name: Name) -> PurePosixPath:
        """The name with its symbolic links followed, links to absolute names staying inside the root."""
        real = Path(os.path.realpath(self.path(name)))
        if real.is_relative_to(self.root):
            return PurePosixPath("/") / real.relative_to(self.root)
        return PurePosixPath(real)

    def exists(self, name: Name) -> bool:
        return self.path(name).exists()

    def names(self, directory: Name) -> list[str]:
        """What lies in a directory, sorted; nothing when it cannot be listed."""
        try:
            return sorted(entry.name for entry in self.path(directory).iterdir())
        except OSError:
            return []

    def text(self, name: Name, what: str | None = None) -> str | None:
        """A file's content without surrounding blanks; `what` names the fact that is lost when it fails."""
        try:
            content = self.path(name).read_bytes()
        except OSError as error:
            if what is not None:
                self.note(what, sentence_for(error, name))
            return None
        return content.decode(errors="replace").strip("\x00\n\t ")

    def integer(self, name: Name, what: str | None = None) -> int | None:
        """A file that holds one number."""
        content = self.text(name, what)
        if content is None:
            return None
        try:
            return int(content)
        except ValueError:
            if what is not None:
                self.note(what, f'{name} holds "{content[:40]}", which is not a number.')
            return None

    def fields(self, name: Name, what: str | None = None, separator: str = ":") -> dict[str, str]:
        """A file of `key: value` lines; the first of equal keys wins."""
        found: dict[str, str] = {}
        for line in (self.text(name, what) or "").splitlines():
            key, mark, value = line.partition(separator)
            if mark:
                found.setdefault(key.strip(), value.strip())
        return found

    def note(self, what: str, why: str) -> None:
        """Record that a fact is missing, once per fact."""
        entry = {"what": what, "why": why}
        if entry not in self.unreadable:
            self.unreadable.append(entry)


def sentence_for(error: OSError, name: Name, done: str = "read") -> str:
    """Why a file could not be read, or whatever else was to be done, in words."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return f"{name} does not exist."
    if isinstance(error, PermissionError):
        return f"{name} may not be {done} by this user."
    return f"{name} cannot be {done}: {error.strerror or error}."


def chosen(listing: str | None) -> str | None:
    """The bracketed word of a sysfs choice like `none [mq-deadline] kyber`; a lone word is its own choice."""
    if not listing:
        return None
    for word in listing.split():
        if word.startswith("["):
            return word.strip("[]")
    words = listing.split()
    return words[0] if len(words) == 1 else listing


def cpu_count(ranges: str) -> int:
    """How many CPUs a kernel list such as `0-3,8-11` names."""
    count = 0
    for part in filter(None, ranges.strip().split(",")):
        first, _, last = part.partition("-")
        count += int(last or first) - int(first) + 1
    return count
