"""A JuiceFS client's cache directory, emptied for a cold cell, but never with data in it that exists nowhere else.

With `writeback` a write is acknowledged when its block lies in the cache directory's `rawstaging`; it is uploaded later. Blocks
under `raw` can be fetched again (pkg/chunk/disk_cache.go).
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from leadline.errors import UserError

CACHED = "raw"
STAGED = "rawstaging"
UNFINISHED = ".tmp"
"""Ends the name of a block that the client has not written whole; it gets its own name then, wherever we look meanwhile."""
LOOK_AGAIN_SECONDS = 0.05


def staged_blocks(cache: Path) -> int:
    """How many blocks wait there for their upload."""
    return sum(1 for path in _files(cache, STAGED))


def cached_bytes(cache: Path) -> int:
    """What lies there and can be fetched again."""
    return sum(_size_bytes(path) for path in _files(cache, CACHED) if path.suffix != UNFINISHED)


def clear_cache(cache: Path, wait_seconds: float = 0.0) -> int:
    """Removes what can be fetched again, and how many bytes that was; waits for uploads, then raises UserError when blocks are staged.

    `rawstaging` is not touched at all, so that a block staged after the look is safe too.
    """
    until = time.monotonic() + wait_seconds
    while staged := staged_blocks(cache):
        if time.monotonic() > until:
            raise UserError(
                f"{cache} holds {staged} blocks that are not uploaded yet and exist nowhere else; wait for the upload "
                "(the option upload-delay holds it back) before the cache is cleared"
            )
        time.sleep(LOOK_AGAIN_SECONDS)
    cleared_bytes = cached_bytes(cache)
    for volume in _volumes(cache):
        shutil.rmtree(volume / CACHED, ignore_errors=True)  # the client may add to it meanwhile
    return cleared_bytes


def _volumes(cache: Path) -> list[Path]:
    """One directory a volume, by its UUID."""
    return [path for path in cache.iterdir() if path.is_dir()] if cache.is_dir() else []


def _files(cache: Path, kind: str) -> Iterator[Path]:
    """By a walk that passes over what goes meanwhile: the client removes blocks, and directories that are empty."""
    for volume in _volumes(cache):
        for folder, _, names in os.walk(volume / kind):
            yield from (Path(folder) / name for name in names)


def _size_bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # evicted while we looked
        return 0
