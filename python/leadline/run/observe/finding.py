"""One thing `leadline doctor` says about a machine."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How far a thing can be relied on for measuring."""

    OK = "ok"
    LIMITED = "limited"  # it works, but figures need the stated care
    MISSING = "missing"


@dataclass(frozen=True)
class Finding:
    """What is so, in a sentence, and what the user can do about it where something can be done."""

    subject: str
    state: State
    sentence: str
    remedy: str | None = None
