"""A target that is a plain folder without safeguards: for tests, which say themselves when it is gone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass
class FakeTarget:
    """`gone` is what `check` answers from the moment a test sets it."""

    path: Path
    gone: str | None = None
    cleaned_up: int = 0

    def prepare(self) -> Path:
        """The folder as it is."""
        return self.path

    def check(self) -> str | None:
        """What the test says."""
        return self.gone

    def clean_up(self) -> None:
        """Counted."""
        self.cleaned_up += 1
