"""A directory on a filesystem that must be of a stated type: an unmounted mount point is an empty local directory, and would be
measured as such without a word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from leadline.errors import UserError
from leadline.run.seams import Target

FilesystemOf = Callable[[Path], str | None]
"""The type of the filesystem that a path lies on, as the mount table names it; None when it cannot be told."""


class Mounted:
    """Wraps the target that works in the directory: prepared and cleaned up by it, checked by both."""

    def __init__(self, inner: Target, filesystem: str, filesystem_of: FilesystemOf) -> None:
        self._inner = inner
        self._filesystem = filesystem
        self._filesystem_of = filesystem_of
        self._directory: Path | None = None

    def prepare(self) -> Path:
        """Raises UserError before anything is measured, or left behind, on the wrong filesystem."""
        directory = self._inner.prepare()
        wrong = check_filesystem(directory, self._filesystem, self._filesystem_of)
        if wrong is not None:
            self._inner.clean_up()
            raise UserError(wrong)
        self._directory = directory
        return directory

    def check(self) -> str | None:
        """The same filesystem (its device number), and of the stated type."""
        gone = self._inner.check()
        if gone is not None or self._directory is None:
            return gone
        return check_filesystem(self._directory, self._filesystem, self._filesystem_of)

    def clean_up(self) -> None:
        """As the wrapped target does."""
        self._inner.clean_up()


def check_filesystem(directory: Path, stated: str, filesystem_of: FilesystemOf) -> str | None:
    """None when it is what the campaign states, else one sentence."""
    found = filesystem_of(directory)
    if found == stated:
        return None
    lies_on = f"lies on {found}" if found else "lies on a filesystem that cannot be told"
    return f'{directory} {lies_on} where the campaign states filesystem = "{stated}"; mount it, or correct the campaign'
