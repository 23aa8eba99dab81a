"""The target of experiments that touch no files: nothing to prepare, nothing to clear."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class NoFiles:
    """`directory` is where commands are started, and nothing more."""

    directory: Path

    def prepare(self) -> Path:
        """As it is."""
        return self.directory

    def check(self) -> str | None:
        """There is nothing that could go."""
        return None

    def clean_up(self) -> None:
        """Nothing was made."""
