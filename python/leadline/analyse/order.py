"""The order in which cells are read, whatever order the run drew: by experiment, test and settings."""

from __future__ import annotations

from collections.abc import Iterable

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
)
PHASES = tuple(sorted((way for way in Direction if way.is_phase), key=lambda way: way.is_of_trees))
"""In the order of mdtest's table: directories, files, trees."""


def in_reading_order(groups: Iterable[Trials]) -> list[Trials]:
    """Sorted; cells that these settings do not tell apart stay in the order in which they ran."""
    cells = list(groups)
    experiments = {name: place for place, name in enumerate(dict.fromkeys(cell.experiment for cell in cells))}
    return sorted(cells, key=lambda trials: (experiments[trials.experiment], *_rank(trials)))


def _rank(trials: Trials) -> tuple[object, ...]:
    cell = trials.cell
    name = str(cell.get("rw", ""))
    place = _TESTS.index(name) if name in _TESTS else len(_TESTS)
    if trials.direction.is_phase:
        place += 1 + PHASES.index(trials.direction)
    own = sorted(
        (setting, _sortable(value)) for setting, value in cell.items() if setting.startswith(TARGET_OPTION)
    )
    known = [_sortable(cell.get(setting, 0)) for setting in _SETTINGS]
    return (place, known[0], tuple(own), *known[1:], str(trials.direction))


def _sortable(value: Scalar) -> tuple[bool, float, str]:
    """Numbers by size, then words by the alphabet."""
    return (True, 0.0, value) if isinstance(value, str) else (False, float(value), "")
