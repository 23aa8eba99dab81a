"""The scale asked for, and in words what it changed: the report repeats them."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction


@dataclass
class Scaling:
    """What is multiplied is the experiments' affair (expand.py, metadata.py); what came of it is collected here."""

    scale: Fraction = Fraction(1)
    effects: list[str] = field(default_factory=list)

    def note(self, what: str, before: str, after: str) -> None:
        """That something became something else, if it did."""
        if before != after:
            self.say(f"{what} {before} became {after}")

    def say(self, sentence: str) -> None:
        """Once."""
        if sentence not in self.effects:
            self.effects.append(sentence)
