"""The gate of a lab's faults: one is made or undone at a time, by whatever process, and none once the lab is being taken down.

A campaign holds its lab's lock for hours, and faults come from other processes meanwhile. They take this lock on the lab's folder
instead, for as long as a fault is being made or undone. The way down takes it once, to close the gate for good: what the journal
holds then is all there will be. The lock is the kernel's, so it ends with whoever holds it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from leadline.errors import UserError

CLOSED = "going-down"


@contextmanager
def passing(folder: Path) -> Iterator[bool]:
    """Alone inside; False when the gate is closed or the lab is gone: then there is nothing left to do."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        yield False
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield folder.exists() and not (folder / CLOSED).exists()
    finally:
        os.close(descriptor)


@contextmanager
def entered(folder: Path) -> Iterator[None]:
    """Alone inside; raises UserError when the gate is closed."""
    with passing(folder) as is_open:
        if not is_open:
            raise UserError(f"{folder.name} is being taken down, so no fault can be made")
        yield


def close(folder: Path) -> None:
    """From now on nobody makes or undoes a fault; waits for whoever is at it."""
    with passing(folder) as is_open:
        if is_open:
            (folder / CLOSED).touch(mode=0o600)
