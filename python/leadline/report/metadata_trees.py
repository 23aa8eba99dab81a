"""What tells metadata cells apart beside their load: the tree they worked on, the way, the target; and what was published of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from leadline.analyse.results import CellResult, Results
from leadline.analyse.wording import FULL_PATH, listed, load, setting, way_asked
from leadline.published.tables import PublishedTable, tables_of_campaign
from leadline.store.records import Direction, Scalar

LOAD = ("clients", "numjobs", "iodepth")
_PUBLISHED_WORDS = {"creation": "create", "removal": "remove"}
_PROCESSES = "processes"


def tree_title(cell: CellResult) -> str:
    """ "wide on nfs, full path: depth 2, 3 branches, 1,000 items a directory, a tree for each rank"."""
    target = f" on {cell.cell['target']}" if "target" in cell.cell else ""
    return ": ".join(filter(None, (f"{cell.experiment}{target}, {way_asked(cell.cell)}", tree_shape(cell))))


def tree_shape(cell: CellResult) -> str:
    """The tree and what lies in it, as far as the cell says."""
    known = cell.cell
    parts = [
        *([f"depth {known['depth']}"] if "depth" in known else []),
        *([f"{known['branching_factor']} branches"] if "branching_factor" in known else []),
        *(
            [f"{_items(known['items_per_directory'])} a directory"]
            if _is_count(known, "items_per_directory")
            else []
        ),
        *([f"{_items(known['items_per_rank'])} a rank"] if _is_count(known, "items_per_rank") else []),
        *(["a tree for each rank"] if known.get("unique_trees") else []),
        *(["in the deepest directories only"] if known.get("leaves_only") else []),
    ]
    return ", ".join(parts)


def _items(count: Scalar) -> str:
    return "1 item" if count == 1 else f"{count:,} items"


def _is_count(known: Mapping[str, Any], name: str) -> bool:
    return isinstance(known.get(name), int)


def load_words(cell: CellResult) -> str:
    """ "8 ranks, on 2 clients, iodepth 8"; depth 1 goes without saying."""
    clients, depth = cell.cell.get("clients", 1), cell.cell.get("iodepth", 1)
    parts = [
        load("numjobs", ranks(cell)),
        *([f"on {setting('clients', clients)}"] if clients != 1 else []),
        *([f"iodepth {depth}"] if depth != 1 else []),
    ]
    return ", ".join(parts)


def ranks(cell: CellResult) -> int:
    """Of all clients: mdtest's processes."""
    counts = [cell.cell.get(name, 1) for name in ("numjobs", "clients")]
    return int(counts[0]) * int(counts[1])


def published_rates(
    table: PublishedTable, cell: CellResult, campaign: str
) -> dict[float, dict[Direction, float]]:
    """Processes -> operation -> rate, of a table of the same work; empty for any other table.

    The same tree is the same work, and so is the campaign that was made after the table, also where it was scaled down.
    """
    after_it = campaign == table.campaign and cell.experiment == table.experiment
    if way_asked(cell.cell) != FULL_PATH or cell.cell.get("iodepth", 1) != 1:
        return {}  # mdtest knows no other way
    if not after_it and (not table.shape or _differing(table, cell)):
        return {}
    heads = [_direction(column.name) for column in table.columns]
    place = next((at for at, column in enumerate(table.columns) if column.name == _PROCESSES), None)
    if place is None:
        return {}
    return {
        float(row[place] or 0): {
            head: float(value)
            for head, value in zip(heads, row, strict=True)
            if head and isinstance(value, int | float)
        }
        for row in table.rows
    }


def published_title(table: PublishedTable, cell: CellResult) -> str:
    """Says where the tree was another one, as in a campaign that was scaled down."""
    others = [f"{name.replace('_', ' ')} {table.shape[name]}" for name in _differing(table, cell)]
    return f"{table.title} (there {listed(others)})" if others else table.title


def _differing(table: PublishedTable, cell: CellResult) -> list[str]:
    return [name for name, value in table.shape.items() if cell.cell.get(name) != value]


def tables_of(results: Iterable[Results]) -> list[PublishedTable]:
    """Published tables that the campaigns of these runs bring, each once."""
    names = dict.fromkeys(one.manifest.name for one in results)
    return [table for name in names for table in tables_of_campaign(name)]


def _direction(column: str) -> Direction | None:
    """ "directory creation" -> directory create."""
    what, _, done = column.partition(" ")
    name = f"{what} {_PUBLISHED_WORDS.get(done, done)}"
    return Direction(name) if name in set(Direction) else None
