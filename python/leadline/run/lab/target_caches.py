"""Caches of a target's own, emptied for a cold cell, beside the kernel's (observe/caches.py).

The directories that a target names are cleared, never what waits there for its upload. What a client's or a server's process
holds in its own memory stays: only a remount would empty that.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leadline.run.lab.juicefs_cache import clear_cache

UPLOADED_WITHIN_SECONDS = 60.0


def clear_target_caches(
    facts: Mapping[str, Any], wait_seconds: float = UPLOADED_WITHIN_SECONDS
) -> Mapping[str, Any]:
    """Facts for the record, from those of a lab (`Ready.facts`); raises UserError when staged data is not uploaded in time.

    Before the kernel's caches are dropped: the files of the directories lie in them as well.
    """
    caches = [Path(each) for each in facts.get("cache_directories", ())]
    if not caches:
        return {"target_caches": "none"}
    cleared_bytes = sum(clear_cache(cache, wait_seconds) for cache in caches)
    return {"target_caches": "cleared", "target_cache_cleared_bytes": cleared_bytes}
