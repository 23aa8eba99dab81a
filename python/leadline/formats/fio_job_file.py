"""A user's fio job file, read as far as leadline must know it: its sections and their options (fio(1), "JOB FILE FORMAT").

The file itself goes to fio as it is; nothing is rewritten from what is read here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from leadline.errors import UserError


@dataclass(frozen=True)
class Section:
    """One job, with the options of [global] under its own."""

    name: str
    options: Mapping[str, str]


def parse_job_file(text: str, where: str) -> tuple[Section, ...]:
    """The sections in order, those of one name joined (fio's --section runs them together); raises UserError."""
    shared: dict[str, str] = {}
    sections: dict[str, dict[str, str]] = {}
    current: dict[str, str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        content = line.strip()
        if not content or content[0] in "#;":
            continue
        if content.startswith("["):
            name = _section_name(content, f"{where}, line {number}")
            current = shared if name == "global" else sections.setdefault(name, dict(shared))
            continue
        if content.startswith("include"):  # init.c takes any character after it; no option begins so
            raise UserError(
                f"{where}, line {number}: `include` is not followed; put the included options into the file"
            )
        if current is None:
            raise UserError(
                f"{where}, line {number}: {content[:60]!r} stands before the first [section]; this is not a fio job file"
            )
        key, _, value = content.partition("=")
        current[key.strip().lower()] = value.strip() if value else "1"
    if not sections:
        raise UserError(
            f"{where} has no job section; a fio job file needs at least one [name] besides [global]"
        )
    return tuple(Section(name, options) for name, options in sections.items())


def _section_name(content: str, place: str) -> str:
    name, bracket, rest = content[1:].partition("]")
    if not bracket or not name.strip() or (rest.strip() and rest.strip()[0] not in "#;"):
        raise UserError(f"{place}: {content[:60]!r} is not a section; write [name] on a line of its own")
    return name.strip()
