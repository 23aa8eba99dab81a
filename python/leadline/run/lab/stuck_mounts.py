"""Mounts whose servers answer no more: umount(8) would hang on them, beyond the reach of signals, and hold the lab's lock.

A server that was killed and did not come back is enough. The client's process on its leash is ended then: the kernel gives every
request that waits for it up, and the unmount goes through. What it had not written is lost, and so is the lab.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from leadline.run.lab.control_groups import kill_members
from leadline.run.lab.journal import Journal
from leadline.run.lab.mounts import Mount

ANSWERS_WITHIN_SECONDS = 5.0


def free_stuck_mounts(journal: Journal, within_seconds: float = ANSWERS_WITHIN_SECONDS) -> None:
    """Ends the clients of the lab's FUSE mounts that do not answer; the others are left alone."""
    asked = [(mount, _ask(journal, mount)) for mount in _fuse_mounts(journal)]
    until = time.monotonic() + within_seconds
    for mount, question in asked:
        if not _answered(question, until):
            kill_members(Path(mount.groups[0]))


def _fuse_mounts(journal: Journal) -> list[Mount]:
    return [
        entry.resource
        for entry in journal.entries()
        if isinstance(entry.resource, Mount)
        and entry.resource.groups
        and entry.resource.found(entry.identity)
    ]


def _ask(journal: Journal, mount: Mount) -> subprocess.Popen[bytes]:
    """In a process of its own, which may hang as umount would; it holds no lock and is not waited for."""
    child = subprocess.Popen(
        ["stat", "--file-system", mount.point],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", start_new_session=True,
    )  # fmt: skip
    journal.keep(child)
    return child


def _answered(question: subprocess.Popen[bytes], until: float) -> bool:
    try:
        question.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        question.kill()
        return False
    return True
