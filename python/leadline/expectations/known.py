"""The data files beside this one, read: cases of the pinned suite, meanings of failures, lists of expected failures.

A list of expected failures is a TOML file: `filesystem`, `suite`, and `[[failure]]` tables with `case` (a name, or a pattern
with `*`) and `why`. Users write their own in the same form.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from leadline.errors import UserError, did_you_mean

SUITES = ("rust", "c")
LIST_KEYS = ("filesystem", "suite", "failure")
FAILURE_KEYS = ("case", "why")


@dataclass(frozen=True)
class ExpectedFailure:
    """One line of a list."""

    case: str
    """A case's name, or a pattern: `chmod::update_ctime::*`."""
    why: str

    def covers(self, name: str) -> bool:
        """Whether it is about this case."""
        return fnmatchcase(name, self.case)


@dataclass(frozen=True)
class ExpectedFailures:
    """What a filesystem is known to fail."""

    filesystem: str
    suite: str
    failures: tuple[ExpectedFailure, ...]

    def of(self, name: str) -> ExpectedFailure | None:
        """What the list says of a case."""
        return next((failure for failure in self.failures if failure.covers(name)), None)


@cache
def suite_cases() -> tuple[str, ...]:
    """Every case of the pinned Rust suite on Linux."""
    return tuple(_read("cases.toml")["cases"])


@cache
def suite_version() -> str:
    """The version that these cases are of."""
    return str(_read("cases.toml")["version"])


def meaning_of(case: str) -> str | None:
    """What an application has to expect where this case fails; the first pattern that fits decides."""
    name = case.replace("/", "::")
    return next((says for pattern, says in _meanings() if fnmatchcase(name, pattern)), None)


def shipped_lists() -> tuple[str, ...]:
    """The names of the lists that come with leadline."""
    return tuple(
        sorted(file.name.removesuffix(".toml") for file in _lists().iterdir() if ".toml" in file.name)
    )


def expected_failures(name_or_file: str) -> ExpectedFailures:
    """A file of the user's, or a list that comes with leadline, by name; raises UserError."""
    path = Path(name_or_file)
    try:
        if path.is_file():
            return _checked(tomllib.loads(path.read_text(encoding="utf-8")), name_or_file)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is no TOML: {error}") from None
    if name_or_file not in shipped_lists():
        raise UserError(
            f'there is no list of expected failures "{name_or_file}"{did_you_mean(name_or_file, shipped_lists())} '
            f"(give a TOML file, or one of: {', '.join(shipped_lists())})"
        )
    text = (_lists() / f"{name_or_file}.toml").read_text(encoding="utf-8")
    return _checked(tomllib.loads(text), name_or_file)


def _checked(document: Mapping[str, Any], where: str) -> ExpectedFailures:
    _check_keys(document, LIST_KEYS, where)
    suite = document.get("suite", "rust")
    if suite not in SUITES:
        raise UserError(f'{where}: suite is "{suite}"; it is "rust" or "c"')
    entries = document.get("failure", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UserError(f"{where}: failure is no list of tables; write [[failure]] above each case")
    return ExpectedFailures(
        str(document.get("filesystem", "")), suite, tuple(_failure(entry, where) for entry in entries)
    )


def _failure(entry: Mapping[str, Any], where: str) -> ExpectedFailure:
    _check_keys(entry, FAILURE_KEYS, f"{where}: [[failure]]")
    case = entry.get("case")
    if not isinstance(case, str) or not case:
        raise UserError(f'{where}: a [[failure]] names no case; write case = "rename::updates_link_parent"')
    return ExpectedFailure(case, str(entry.get("why", "")))


def _check_keys(table: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in known:
            raise UserError(
                f'{where}: unknown key "{key}"{did_you_mean(key, known)} (known: {", ".join(known)})'
            )


@cache
def _meanings() -> tuple[tuple[str, str], ...]:
    return tuple((entry["cases"], entry["means"]) for entry in _read("meanings.toml")["meaning"])


def _lists() -> Traversable:
    return resources.files("leadline.expectations") / "failures"


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((resources.files("leadline.expectations") / name).read_text(encoding="utf-8"))
