"""Verdicts on object stores: objects that are files of this machine and come out of its own memory."""

from __future__ import annotations

from leadline.analyse.results import Verdict, VerdictName
from leadline.analyse.verdicts.context import CellContext
from leadline.analyse.wording import size
from leadline.store.records import Direction


def from_memory_of_this_machine(context: CellContext) -> Verdict | None:
    """Gets of files that were put just before and that the page cache holds. Servers' caches cannot be seen from here."""
    dataset, memory = context.facts.get("dataset_bytes"), context.caching_memory_bytes
    of_files = context.facts.get("object_scheme") == "fs"
    if context.trials.direction is not Direction.OBJECT_GET or not of_files or not dataset or not memory:
        return None
    if dataset >= memory:
        return None
    evidence = f"the objects are files of this machine, {size(dataset)} where its memory holds {size(memory)}, and were just put"
    return Verdict(VerdictName.CACHED, evidence, severity=memory / dataset)
