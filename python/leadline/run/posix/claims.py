"""What a filesystem offers of what POSIX leaves open, found out on the filesystem itself, and how finely it keeps times.

What the standard requires (utimensat, UTIME_NOW) is always asked for, so that its absence is a failure and not a skipped case.
"""

from __future__ import annotations

import ctypes
import errno
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

FINEST_NAP_SECONDS = 0.02
CHANGES = 4
"""So many differences between times that followed each other are looked at."""
LOOKED_AT_MOST_SECONDS = 6.0
NAP_WHERE_NOTHING_CHANGED_SECONDS = 2.0


@dataclass(frozen=True)
class Claims:
    """What the suite's configuration is made of."""

    posix_fallocate: bool
    fallocate_emulated: bool
    """The C library writes zeros instead: the filesystem has no call for it."""
    rename_ctime: bool
    time_step_seconds: float
    """Between two change times that differ."""

    @property
    def nap_seconds(self) -> float:
        """What the suite sleeps between two changes that must show in the times."""
        return max(FINEST_NAP_SECONDS, 1.2 * self.time_step_seconds)


def probe(directory: Path) -> Claims:
    """Makes one file there, and removes it."""
    path = directory / "probe"
    path.write_bytes(b"")
    try:
        offered, emulated = _fallocate(path)
        step = _time_step(path)
        return Claims(offered, emulated, _rename_changes_ctime(path, step), step)
    finally:
        path.unlink(missing_ok=True)


def _fallocate(path: Path) -> tuple[bool, bool]:
    """Offered at all, and by the C library only. The suite goes through the C library, as applications do."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        signature = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
        library.fallocate64.argtypes = signature
        refused = library.fallocate64(descriptor, 0, 0, 4096) != 0
        emulated = refused and ctypes.get_errno() in (errno.EOPNOTSUPP, errno.ENOSYS)
        os.posix_fallocate(descriptor, 0, 8192)
        return True, emulated
    except OSError:
        return False, False
    finally:
        os.close(descriptor)


def _time_step(path: Path) -> float:
    """The median difference between change times, of changes made as fast as they go."""
    seen = [path.stat().st_ctime_ns]
    until = time.monotonic() + LOOKED_AT_MOST_SECONDS
    while len(seen) <= CHANGES and time.monotonic() < until:
        path.chmod(0o600 if len(seen) % 2 else 0o644)
        now = path.stat().st_ctime_ns
        if now != seen[-1]:
            seen.append(now)
        time.sleep(0.0005)
    # The first difference began before we looked.
    steps = [later - earlier for earlier, later in pairwise(seen[1:])]
    return statistics.median(steps) / 1e9 if steps else NAP_WHERE_NOTHING_CHANGED_SECONDS


def _rename_changes_ctime(path: Path, step: float) -> bool:
    other = path.with_name("probe2")
    return _changes_ctime(path, other, lambda: path.rename(other), step) and _changes_ctime(
        other, path, lambda: other.rename(path), step
    )


def _changes_ctime(before: Path, after: Path, rename: Callable[[], object], step: float) -> bool:
    earlier = before.stat().st_ctime_ns
    time.sleep(max(FINEST_NAP_SECONDS, 1.2 * step))
    rename()
    return after.stat().st_ctime_ns != earlier
