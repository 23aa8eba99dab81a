"""Emptying the kernel's caches between cells, so that a cold read is cold.

Drops clean pages, dentries and inodes of this kernel only (kernel Documentation/admin-guide/sysctl/vm.rst):
what a server, a FUSE process or the disk itself remembers stays.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path

from leadline.run.observe.machine import Machine

DROP_CACHES = "/proc/sys/vm/drop_caches"
PAGES_AND_OBJECTS = b"3\n"


@dataclass(frozen=True)
class CacheDrop:
    """Whether the caches were emptied, and if not, why, in one sentence."""

    dropped: bool
    reason: str | None = None


def drop_caches(root: Path = Path("/")) -> CacheDrop:
    """Write dirty pages back, since only clean ones are dropped, then drop."""
    reason = reason_caches_stay(root)
    if reason is not None:
        return CacheDrop(False, reason)
    os.sync()
    try:
        _write(root, PAGES_AND_OBJECTS)
    except OSError as error:
        return CacheDrop(False, _sentence(error))
    return CacheDrop(True)


def reason_caches_stay(root: Path = Path("/")) -> str | None:
    """Why the caches could not be dropped, found without dropping them; None when they could."""
    try:
        _write(root, b"")
    except OSError as error:
        return _sentence(error)
    return None


def _write(root: Path, content: bytes) -> None:
    descriptor = os.open(Machine(root).path(DROP_CACHES), os.O_WRONLY)
    try:
        if content:
            os.write(descriptor, content)
    finally:
        os.close(descriptor)


def _sentence(error: OSError) -> str:
    if isinstance(error, PermissionError):
        return f"Caches were not dropped: only root may write {DROP_CACHES}."
    if isinstance(error, FileNotFoundError):
        return f"Caches were not dropped: {DROP_CACHES} does not exist here (a sandbox or container)."
    if error.errno == errno.EROFS:
        return f"Caches were not dropped: {DROP_CACHES} is mounted read-only (a container)."
    return f"Caches were not dropped: {DROP_CACHES} cannot be written: {error.strerror}."
