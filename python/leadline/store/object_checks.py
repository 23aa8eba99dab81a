"""What an object store can do: its functional checks, and the JSON document in which a step keeps them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from leadline.errors import UserError

FORMAT = "leadline object checks 1"
DOCUMENT = "object_checks"
"""The kind of a step's document that is one."""
PASSED, FAILED, NOT_SUPPORTED = "passed", "failed", "not_supported"


@dataclass(frozen=True)
class Check:
    """One of the sixteen, by the name that `juicefs objbench` gives it."""

    name: str
    result: str
    """PASSED, FAILED or NOT_SUPPORTED."""
    reason: str = ""
    """Why it did not pass."""


@dataclass(frozen=True)
class ObjectChecks:
    """All of one store."""

    label: str
    """The target; empty where a run has one without a name."""
    checks: tuple[Check, ...]

    def named(self, result: str) -> list[str]:
        """The names of those that ended so."""
        return [check.name for check in self.checks if check.result == result]


def checks_text(found: ObjectChecks) -> str:
    """As a stored step holds it."""
    return json.dumps({"format": FORMAT, **asdict(found)}, indent=1, ensure_ascii=False)


def checks_of(text: str, whose: str) -> ObjectChecks:
    """Raises UserError for a text that is none of these; `whose` it is, for the sentence."""
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise ValueError(document["format"])
        checks = tuple(Check(**check) for check in document["checks"])
        return ObjectChecks(str(document["label"]), checks)
    except (ValueError, KeyError, TypeError):
        raise UserError(f"the object checks of {whose} cannot be read; they are no {FORMAT}") from None
