"""Typed reading of foreign JSON: each value is checked where it is taken, and a wrong one named by its path.

Stands below every parser of formats/ and importers/: whatever stands in a file, they either get a value of
the type they asked for or raise FormatError, one sentence with the place in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from leadline.errors import UserError

LARGEST_INTEGER = 2**63 - 1
"""Counts and nanoseconds are stored as 64-bit integers."""


class FormatError(UserError):
    """Foreign text that is not what it should be: what is wrong and at which place of the text."""


@dataclass(frozen=True)
class Fields:
    """One JSON object and the path that led to it."""

    values: Mapping[str, Any]
    path: str = ""

    def place(self, key: str) -> str:
        """The key with the path that leads to it, for messages."""
        return f"{self.path}.{key}" if self.path else key

    def section(self, key: str) -> Fields:
        """The object under `key`; an empty one when it is absent or null."""
        return object_at(self.values.get(key) or {}, self.place(key))

    def sections(self, key: str) -> Iterator[Fields]:
        """The objects of the array under `key`; none when it is absent or null."""
        items = self.values.get(key) or []
        if not isinstance(items, list):
            raise FormatError(f"{self.place(key)} is {shown(items)}, but should be an array")
        for place, item in enumerate(items):
            yield object_at(item, f"{self.place(key)}[{place}]")

    def has(self, key: str) -> bool:
        """Whether there is anything under `key`."""
        return self.values.get(key) is not None

    def text(self, key: str, default: str = "") -> str:
        """The string under `key`; numbers are taken as they are written."""
        value = self.values.get(key)
        if value is None:
            return default
        if isinstance(value, dict | list):
            raise FormatError(f"{self.place(key)} is {shown(value)}, but should be a string")
        return str(value)

    def number(self, key: str, default: float | None = None) -> float:
        """The finite number >= 0 under `key`; without a default it must be there."""
        value = self.values.get(key)
        if value is None:
            if default is None:
                raise FormatError(f"{self.place(key)} is missing")
            return default
        return amount(value, self.place(key))

    def integer(self, key: str, default: int | None = None) -> int:
        """The integer >= 0 under `key` (64 bits); a fraction is cut off."""
        return int(self.number(key, default))


def object_at(value: Any, path: str) -> Fields:
    """`value` as Fields when it is a JSON object."""
    if not isinstance(value, dict):
        raise FormatError(f"{path} is {shown(value)}, but should be an object")
    return Fields(value, path)


def amount(value: Any, path: str) -> float:
    """`value` when it is a finite number from 0 to the largest that can be stored."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormatError(f"{path} is {shown(value)}, but should be a number")
    # A comparison, not float(): a thousand digits must be refused, not overflow. It is false for NaN, too.
    if not 0 <= value <= LARGEST_INTEGER:
        raise FormatError(f"{path} is {shown(value)}, but should be a number from 0 to 2^63")
    return value


def shown(value: Any) -> str:
    """A foreign value, short enough for a sentence."""
    text = json.dumps(value, default=str)
    return text if len(text) <= 40 else f"{text[:37]}..."
