"""What a conformance suite said about a filesystem, case by case, and the JSON document in which it is kept.

One document is one run of one suite. Later runs are compared with it, and matrices are made of several.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.store.document_file import write_document

FORMAT = "leadline posix 1"


class Outcome(StrEnum):
    """How a case ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    """Could have been tested on another filesystem, by another user, or with another option: the reason says which."""
    NOT_APPLICABLE = "not applicable"
    """Tests nothing on this operating system, whatever the filesystem does."""


@dataclass(frozen=True)
class Case:
    """One named behaviour of the Rust suite, or one script of the C suite."""

    name: str
    """`rename::updates_link_parent` or `rename/00.t`."""
    outcome: Outcome
    reason: str = ""
    """Why it failed or was skipped, in the suite's words."""
    seconds: float = 0.0
    assertions: int | None = None
    """How many were made; None where the suite stops at the first that fails."""
    failed_assertions: int | None = None

    @property
    def call(self) -> str:
        """The system call that it is about."""
        return self.name.replace("::", "/").partition("/")[0]


@dataclass(frozen=True)
class Conformance:
    """A run of a suite in one directory."""

    suite: str
    """`rust` or `c`: their figures are never compared with each other."""
    version: str
    label: str
    """What tables call the filesystem: "ext4", "juicefs (metadata=redis)"."""
    facts: Mapping[str, Any]
    """Where, on what, as whom and with what claims: JSON-ready."""
    cases: tuple[Case, ...]
    notes: tuple[str, ...] = field(default=())
    """What a reader must know to read the outcome rightly, in sentences."""

    @property
    def seconds(self) -> float:
        """Of all cases together."""
        return sum(case.seconds for case in self.cases)


def conformance_text(result: Conformance) -> str:
    """As the file and a stored step hold it."""
    document = {"format": FORMAT, **asdict(result)}
    cases = ",\n".join(
        f"  {json.dumps(_written(case), ensure_ascii=False)}" for case in document.pop("cases")
    )
    head = json.dumps(document, indent=1, ensure_ascii=False).removesuffix("\n}")
    return f'{head},\n "cases": [\n{cases}\n ]\n}}\n'  # a line a case


def write_conformance(result: Conformance, path: Path) -> None:
    """Raises UserError when the file cannot be written."""
    write_document(path, conformance_text(result))


def _written(case: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in case.items() if value not in (None, "")}


def read_conformance(path: Path) -> Conformance:
    """Raises UserError for a file that is none of these."""
    try:
        return conformance_of(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(_foreign(str(path))) from None


def conformance_of(text: str, whose: str) -> Conformance:
    """Raises UserError for a text that is none of these; `whose` it is, for the sentence."""
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise ValueError(document["format"])
        cases = tuple(Case(**{**case, "outcome": Outcome(case["outcome"])}) for case in document["cases"])
        rest = {name: document[name] for name in ("suite", "version", "label", "facts")}
        return Conformance(**rest, cases=cases, notes=tuple(document["notes"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(_foreign(whose)) from None


def _foreign(whose: str) -> str:
    return (
        f'{whose} is no result of `leadline posix --json` ("format": "{FORMAT}"); give a file that it wrote'
    )
