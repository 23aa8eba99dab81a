"""The published tables, loaded: one JSON file each beside this one, figures as the source prints them.

Facts with a citation. Nothing here was measured by leadline or enters its results; reports show it in grey.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from leadline.errors import UserError, did_you_mean

Value = str | int | float | None


@dataclass(frozen=True)
class Source:
    """Whom to cite."""

    author: str
    title: str
    year: int
    url: str | None
    """None where the text at hand states none."""

    def __str__(self) -> str:
        place = f", {self.url}" if self.url else ""
        return f'{self.author}, "{self.title}", {self.year}{place}'


@dataclass(frozen=True)
class Column:
    """A column's head."""

    name: str
    unit: str | None
    """As printed; None for words."""


@dataclass(frozen=True)
class PublishedTable:
    """One table of a published evaluation."""

    name: str
    title: str
    source: Source
    note: str
    """What a reader must know to read the figures rightly."""
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    """As many values as columns; None where the source states nothing."""
    campaign: str | None = None
    """The ready-made campaign that measures the same: its reports show the table without being asked."""
    experiment: str | None = None
    """Of that campaign."""
    shape: Mapping[str, int] = field(default_factory=dict)
    """Settings of cells that did the same work, apart from how much of it: their figures stand beside it."""


@cache
def published_tables() -> tuple[PublishedTable, ...]:
    """All of them, by name."""
    folder = resources.files("leadline.published")
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".json")), key=lambda file: file.name
    )
    return tuple(_table(json.loads(file.read_text(encoding="utf-8"))) for file in files)


def tables_of_campaign(name: str) -> tuple[PublishedTable, ...]:
    """Those that a report of this ready-made campaign shows by itself."""
    return tuple(published for published in published_tables() if published.campaign == name)


def table(name: str) -> PublishedTable:
    """The one of this name; raises UserError."""
    known = {published.name: published for published in published_tables()}
    if name not in known:
        raise UserError(
            f'there is no published table "{name}"{did_you_mean(name, known)} (known: {", ".join(known)})'
        )
    return known[name]


def _table(document: dict[str, Any]) -> PublishedTable:
    return PublishedTable(
        name=document["name"],
        title=document["title"],
        source=Source(**document["source"]),
        note=document["note"],
        columns=tuple(Column(**column) for column in document["columns"]),
        rows=tuple(tuple(row) for row in document["rows"]),
        campaign=document.get("campaign"),
        experiment=document.get("experiment"),
        shape=document.get("shape", {}),
    )
