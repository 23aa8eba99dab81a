"""The order in which cells are read, whatever order the run drew: by experiment, test and settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leadline.analyse.merge import Trials
from leadline.spec.settings import TARGET_OPTION
from leadline.store.records import Direction, Scalar

_TESTS = ("read", "write", "randread", "randwrite", "rw", "readwrite", "randrw")
_SETTINGS = (
    "target",
    "storage_nodes",
    "block_size",
    "message_size",
    "ioengine",
    "direct",
    "clients",
    "numjobs",
    "iodepth",
    "object_size",
    "part_size",
    "concurrency",
    "instances",
)
PHASES = tuple(sorted((way for way in Direction if way.is_phase), key=lambda way: way.is_of_trees))
"""In the order of mdtest's table: directories, files, trees."""


def in_reading_order(groups: Iterable[Trials], targets: Sequence[str] = ()) -> list[Trials]:
    """Sorted; cells that these settings do not tell apart stay in the order in which they ran. `targets` as the campaign lists them."""
    cells = list(groups)
    places = {name: place for place, name in enumerate(targets)}
    experiments = {name: place for place, name in enumerate(dict.fromkeys(cell.experiment for cell in cells))}
    return sorted(cells, key=lambda trials: (experiments[trials.experiment], *_rank(trials, places)))


def titles_of(campaign: Mapping[str, Any]) -> list[str]:
    """The targets of a campaign as results name them, in its order; none where the manifest holds no campaign."""
    listed = campaign.get("target")
    entries = (
        [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list | tuple) else []
    )
    named = [each.get("label") or each.get("name") or each.get("directory") for each in entries]
    return [str(name) for name in named if name]


def natural(words: str) -> tuple[tuple[bool, float, str], ...]:
    """Sort key: "5 s" before "30 s"."""
    parts = re.split(r"(\d+(?:\.\d+)?)", words)
    return tuple(
        (False, float(part), "") if part[:1].isdecimal() else (True, 0.0, part) for part in parts if part
    )


def _rank(trials: Trials, places: Mapping[str, int]) -> tuple[object, ...]:
    cell = trials.cell
    target = cell.get("target", 0)
    name = str(cell.get("rw", ""))
    place = _TESTS.index(name) if name in _TESTS else len(_TESTS)
    if trials.direction.is_phase:
        place += 1 + PHASES.index(trials.direction)
    own = sorted(
        (setting, _sortable(value)) for setting, value in cell.items() if setting.startswith(TARGET_OPTION)
    )
    known = [_sortable(cell.get(setting, 0)) for setting in _SETTINGS]
    listed = places.get(str(target), len(places))
    return (place, listed, known[0], tuple(own), *known[1:], str(trials.direction))


def _sortable(value: Scalar) -> tuple[bool, float, tuple[object, ...]]:
    """Numbers by size, then words by the alphabet, numbers in them by size."""
    return (True, 0.0, natural(value)) if isinstance(value, str) else (False, float(value), ())
