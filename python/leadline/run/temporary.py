"""Temporary folders that do not outlive leadline for long, even when it is killed: the next one removes them.

Whoever uses a folder holds a lock on it, which the kernel frees with its process. A process id would not tell: containers that
share /tmp do not see each other's.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SETTLED_AFTER_SECONDS = 60.0
"""A folder younger than this may just be about to be locked."""


@contextmanager
def temporary_folder(kind: str) -> Iterator[Path]:
    """`leadline-<kind>-...` among the system's temporary files, for this user only; others of the kind that nobody holds go first."""
    prefix = f"leadline-{kind}-"
    remove_abandoned(Path(tempfile.gettempdir()), prefix)
    path = Path(tempfile.mkdtemp(prefix=prefix)).resolve()
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(descriptor)


def remove_abandoned(top: Path, prefix: str) -> None:
    """Folders of ours by that name whose lock is free."""
    for path in top.glob(f"{prefix}*"):
        with contextlib.suppress(OSError):  # another's, gone meanwhile, or in use
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                status = os.fstat(descriptor)
                if status.st_uid == os.geteuid() and time.time() - status.st_mtime > SETTLED_AFTER_SECONDS:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(descriptor)
