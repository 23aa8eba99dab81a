"""An experiment on metadata multiplied out: its cells, the trees that they come to, and what those cost.

Cells make their own trees and remove them, so there is nothing to lay out before them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from leadline.errors import UserError
from leadline.plan.scaling import Scaling
from leadline.spec.metadata import MetadataExperiment
from leadline.spec.settings import EXPERIMENT_AXES, SETTINGS
from leadline.store.records import Cell, Scalar

SPACE_AN_ITEM_BYTES = 4096
"""An empty directory takes a block on most filesystems."""
LAB_SPACE_AN_ITEM_BYTES = 16384
"""mke2fs makes one inode for this much of an image (mke2fs.conf(5), inode_ratio); images of the lab are sparse, so room costs nothing."""
ITEM_PHASES = {
    "directory": ("create", "stat", "rename", "remove"),
    "file": ("create", "stat", "read", "remove"),
}
_ALWAYS_SAID = frozenset({"iodepth", "numjobs", "driver", "naming", "depth", "branching_factor"})
"""Settings that are in a cell also where they have their default: nobody should have to look it up."""
_DEEPEST = 64
"""Enough for any tree that counts; deeper ones are the engine's to refuse."""


@dataclass(frozen=True)
class Shape:
    """What a cell makes."""

    directories: int
    """Of one tree."""
    holders: int
    """Directories of one tree that hold items."""
    trees: int
    """Of all ranks together."""
    items_per_rank: int
    """Of each kind."""
    ranks: int
    """Of all clients together."""
    kinds: tuple[str, ...]
    actions: tuple[str, ...]
    write_size_bytes: int

    @classmethod
    def of(cls, cell: Cell) -> Shape:
        """Without any check: see `check`."""
        ranks = int(cell["numjobs"]) * int(cell.get("clients", 1))
        directories, holders = _tree(cell)
        kinds = tuple(
            kind for kind, key in (("directory", "directories"), ("file", "files")) if cell.get(key, True)
        )
        return cls(
            directories=directories,
            holders=holders,
            trees=ranks if cell.get("unique_trees") else 1,
            items_per_rank=_items_per_rank(cell, holders),
            ranks=ranks,
            kinds=kinds,
            actions=tuple(str(cell["actions"]).split(",")) if "actions" in cell else (),
            write_size_bytes=int(cell.get("write_size", 0)),
        )

    @property
    def operations(self) -> int:
        """Of all phases together."""
        phases = sum(
            not self.actions or action in self.actions for kind in self.kinds for action in ITEM_PHASES[kind]
        )
        trees = 2 if not self.actions or "remove" in self.actions else 1
        return phases * self.items_per_rank * self.ranks + trees * self.directories * self.trees

    @property
    def inodes(self) -> int:
        """At most at one time: a kind is removed before the next one is made, unless nothing is removed."""
        stays = bool(self.actions) and "remove" not in self.actions
        kinds = len(self.kinds) if stays else 1
        return kinds * self.items_per_rank * self.ranks + self.directories * self.trees

    def space_bytes(self, in_the_lab: bool) -> int:
        """Room for the inodes and for what is written to the files."""
        each = LAB_SPACE_AN_ITEM_BYTES if in_the_lab else SPACE_AN_ITEM_BYTES
        blocks = -(-self.write_size_bytes // SPACE_AN_ITEM_BYTES) * SPACE_AN_ITEM_BYTES
        return self.inodes * each + self.items_per_rank * self.ranks * blocks


def expand_metadata(experiment: MetadataExperiment, scaling: Scaling) -> Iterator[dict[str, Scalar]]:
    """Every cell of an experiment, in the order in which its axes are listed; raises UserError for an impossible one."""
    axes = {
        name: values for name in EXPERIMENT_AXES if (values := getattr(experiment, name, None)) is not None
    }
    fixed = dict(_fixed(experiment))
    seen: set[tuple[tuple[str, Scalar], ...]] = set()
    for values in product(*axes.values()):
        cell: dict[str, Any] = {**dict(zip(axes, values, strict=True)), **fixed}
        if cell["driver"] == "calls":  # one in flight: an axis of depths is io_uring's alone
            cell["iodepth"] = 1
        cell = scaled(
            {name: value for name, value in cell.items() if value or name in _ALWAYS_SAID or name in fixed},
            scaling,
        )
        check(cell, experiment.name)
        identity = tuple(sorted(cell.items(), key=lambda item: item[0]))
        if identity not in seen:
            seen.add(identity)
            yield cell


def check(cell: Cell, experiment: str) -> None:
    """Raises UserError for a cell that the engine would refuse, before anything has started."""
    items, each = cell.get("items_per_rank"), cell.get("items_per_directory")
    where = f'experiment "{experiment}"'
    if items is not None and each is not None:
        if cell.get("unique_trees") or cell["depth"]:
            raise UserError(
                f"{where}: `items_per_rank` and `items_per_directory` together mean several trees of one directory each; "
                "leave one of them out, or take `depth` and `unique_trees` out"
            )
        if int(items) % int(each):
            raise UserError(
                f"{where}: `items_per_rank` {items} is not a multiple of `items_per_directory` {each}; choose one that is"
            )
    shape = Shape.of(cell)
    if not shape.items_per_rank:
        raise UserError(
            f"{where}: {items} items a rank leave none for some of the {shape.holders} directories; raise `items_per_rank`"
        )
    if int(cell.get("read_size", 0)) > shape.write_size_bytes:
        raise UserError(
            f"{where}: a `read_size` is above its `write_size`; files hold what was written, so raise that"
        )


def scaled(cell: dict[str, Scalar], scaling: Scaling) -> dict[str, Scalar]:
    """Fewer items; where a directory would have less than one, the tree is less deep instead."""
    if scaling.scale == 1:
        return cell
    if "items_per_rank" in cell:
        return _scaled_by_rank(cell, scaling)
    each = int(cell["items_per_directory"])
    wanted = each * scaling.scale
    result = {**cell, "items_per_directory": max(1, int(wanted))}
    scaling.note("items a directory", f"{each:,}", f"{max(1, int(wanted)):,}")
    if wanted < 1:
        result["depth"] = _less_deep(cell, Fraction(_tree(cell)[1]) * wanted, scaling)
    return result


def _scaled_by_rank(cell: dict[str, Scalar], scaling: Scaling) -> dict[str, Scalar]:
    items, each = int(cell["items_per_rank"]), cell.get("items_per_directory")
    wanted = max(1, int(items * scaling.scale))
    result = {**cell}
    if each is not None:  # several trees of one directory each: a multiple stays one
        result["items_per_directory"] = min(int(each), wanted)
        wanted -= wanted % int(result["items_per_directory"])
    else:
        result["depth"] = _less_deep(cell, Fraction(wanted), scaling)
    scaling.note("items a rank", f"{items:,}", f"{wanted:,}")
    return {**result, "items_per_rank": wanted}


def _less_deep(cell: Mapping[str, Scalar], items: Fraction, scaling: Scaling) -> int:
    """The deepest tree, not deeper than the cell's, that has an item for each of its directories that hold some."""
    before = int(cell["depth"])
    depths = range(before, -1, -1)
    depth = next((depth for depth in depths if _tree({**cell, "depth": depth})[1] <= items), 0)
    if depth != before:
        scaling.say(f"tree depth {before} became {depth}, so that each directory still holds one item")
    return depth


def _tree(cell: Cell) -> tuple[int, int]:
    """Directories of one tree, and those of them that hold items."""
    depth, children = min(int(cell["depth"]), _DEEPEST), int(cell["branching_factor"])
    directories = sum(children**level for level in range(depth + 1))
    return directories, children**depth if cell.get("leaves_only") else directories


def _items_per_rank(cell: Cell, holders: int) -> int:
    """As mdtest rounds them."""
    if "items_per_rank" not in cell:
        return int(cell["items_per_directory"]) * holders
    items = int(cell["items_per_rank"])
    return items if "items_per_directory" in cell else items // holders * holders


def _fixed(experiment: MetadataExperiment) -> Iterator[tuple[str, Scalar]]:
    """What is no axis, where it differs from what goes without saying."""
    for name, field in type(experiment).model_fields.items():
        value = getattr(experiment, name)
        if name in SETTINGS and not SETTINGS[name].axis and value != field.default:
            yield name, ",".join(value) if isinstance(value, tuple) else value
