"""The environment record as readable lists: names in words, sizes with units, nested parts below their own heading.

The record is foreign data of any shape (run/observe/environment.py writes it, imports may lack it), so nothing here
expects a key to be there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.analyse import wording
from leadline.analyse.results import Results, Site

UNKNOWN = "unknown"

MEASURES = {
    "_bytes": wording.size,
    "_bits_per_second": lambda value: f"{wording.digits(value / 1e9)} Gb/s",
    "_mhz": lambda value: f"{wording.digits(value)} MHz",
    "_kib": lambda value: wording.size(value * 1024),
    "_share": wording.percent,
    "_seconds": lambda value: f"{wording.digits(value)} s",
    "_ns": wording.latency,
}
"""End of a key that names its unit -> how the value is written."""


@dataclass(frozen=True)
class Part:
    """One heading with its (name, value) lines."""

    title: str
    lines: tuple[tuple[str, str], ...]


def parts(environment: Mapping[str, Any]) -> list[Part]:
    """One part a key of the record; single values are gathered under "Other". What could not be read is left to `unreadable`."""
    found: list[Part] = []
    single: list[tuple[str, str]] = []
    for key, value in environment.items():
        if key == "unreadable":
            continue
        if isinstance(value, Mapping) or (is_nested(value) and any(is_nested(inner) for inner in value)):
            found.append(Part(in_words(key), with_gaps_last(lines(value))))
        else:
            single += leaf_or_lines(in_words(key), key, value)
    return [part for part in [*found, Part("other", tuple(single))] if part.lines]


def with_gaps_last(found: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """What is known line by line; what is not known in one line, so that it does not bury the rest."""
    listed = list(found)
    unknown = [name for name, value in listed if value == UNKNOWN]
    known = [line for line in listed if line[1] != UNKNOWN]
    return (*known, *([("not known", "; ".join(unknown))] if unknown else []))


def lines(value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every leaf of a part with the path to it in words; lists of plain values stay one line."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from leaf_or_lines(
                f"{prefix}, {in_words(key)}" if prefix else in_words(key), str(key), inner
            )
    elif isinstance(value, (list, tuple)):
        for place, inner in enumerate(value, start=1):
            yield from leaf_or_lines(list_name(prefix, inner, place), "", inner)


def leaf_or_lines(name: str, key: str, value: Any) -> Iterator[tuple[str, str]]:
    """One line for a plain value, several for a nested one."""
    if isinstance(value, Mapping) or (
        isinstance(value, (list, tuple)) and any(is_nested(inner) for inner in value)
    ):
        yield from lines(value, name)
    elif isinstance(value, (list, tuple)):
        yield name, ", ".join(text(key, inner) for inner in value) or "none"
    else:
        yield name, text(key, value)


def is_nested(value: Any) -> bool:
    """Whether a value needs lines of its own."""
    return isinstance(value, (Mapping, list, tuple))


def list_name(prefix: str, item: Any, place: int) -> str:
    """A list's entry by its own name where it has one."""
    own = item.get("name", place) if isinstance(item, Mapping) else place
    return f"{prefix} {own}".strip()


def in_words(key: str) -> str:
    """A key as words, without the unit that its value is written with."""
    if "." in key:
        return key  # a kernel setting: its name is how one looks it up
    for ending in MEASURES:
        key = key.removesuffix(ending)
    return key.replace("_", " ")


def text(key: str, value: Any) -> str:
    """A plain value with its unit, as the end of its key says."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    for ending, write in MEASURES.items():
        if key.endswith(ending) and isinstance(value, (int, float)):
            return write(value)
    return str(value)


def unreadable(environment: Mapping[str, Any]) -> list[str]:
    """What could not be read, a sentence each."""
    entries = environment.get("unreadable", ())
    return [one_unreadable(entry) for entry in entries] if isinstance(entries, Sequence) else [str(entries)]


def one_unreadable(entry: Any) -> str:
    """One entry, {"what", "why"} or already a sentence."""
    if isinstance(entry, Mapping):
        return f"{entry.get('what', 'something')}: {entry.get('why', 'unknown reason')}"
    return str(entry)


def headline(results: Results) -> str:
    """The machine in one line: processor, kernel, filesystem; only what is known."""
    record = results.environment
    processor = part_of(record, "processor") or part_of(record, "cpu")
    filesystem = part_of(record, "filesystem")
    threads = processor.get("threads") or processor.get("cores")
    words = [
        processor.get("model"),
        f"{threads} threads" if threads else None,
        f"Linux {part_of(record, 'kernel')['release']}" if part_of(record, "kernel").get("release") else None,
        targets_in_words(results)
        or (
            f"{filesystem['type']} on {filesystem.get('source', 'unknown')}"
            if filesystem.get("type")
            else None
        ),
    ]
    return " · ".join(str(word) for word in words if word)


def part_of(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A part of the record, empty where it is missing."""
    part = record.get(name)
    return part if isinstance(part, Mapping) else {}


def targets_in_words(results: Results) -> str | None:
    """The targets of a run that has several; None for any other, whose filesystem says it."""
    names = list(dict.fromkeys(site.target for site in results.sites if site.target))
    return f"{len(names)} targets: {', '.join(names)}" if len(names) > 1 else None


def footing(results: Results) -> Part | None:
    """What each target is and what the lab was held to; None where there is nothing to add to the environment."""
    named = {site.target for site in results.sites}
    held = any(site.conditions or site.machine.access for site in results.sites)
    if len(named) < 2 and not held:
        return None
    found: dict[str, list[str]] = {}
    for site in results.sites:
        words = site_in_words(site)
        if words not in found.setdefault(site.target or "the target", []):
            found[site.target or "the target"].append(words)
    return Part("targets and conditions", tuple((name, "; ".join(each)) for name, each in found.items()))


def site_in_words(site: Site) -> str:
    """ "fuse.glusterfs through gfapi, links of 1 Gb/s"."""
    conditions = wording.settings(site.conditions, site.conditions) or "nothing held back"
    return f"{site.machine.name}, {conditions}"
