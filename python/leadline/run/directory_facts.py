"""What quick has to know of a directory before it plans: tried on a small file that is removed again."""

from __future__ import annotations

import mmap
import os
import shutil
import tempfile
from pathlib import Path

from leadline.errors import UserError
from leadline.plan.quick import DirectoryFacts
from leadline.run.engines.fio_capabilities import installed_fio, starts

PREFERRED = ("io_uring", "libaio", "psync")
PROBE_BYTES = 1 << 16


def directory_facts(path: Path) -> DirectoryFacts:
    """Raises UserError when nothing can be written there or fio is missing."""
    engines = installed_fio().ioengines
    usable = tuple(name for name in PREFERRED if name in engines and starts(name))
    if not usable:
        raise UserError("fio starts none of io_uring, libaio and psync here; see leadline doctor")
    return DirectoryFacts(shutil.disk_usage(path).free, accepts_direct(path), usable)


def accepts_direct(path: Path) -> bool:
    """Whether O_DIRECT reads work on a file in this directory; raises UserError when it cannot be written."""
    try:
        descriptor, name = tempfile.mkstemp(prefix="leadline-probe-", dir=path)
    except OSError as error:
        raise UserError(
            f"{path} cannot be written ({error.strerror}); point leadline at a directory you may write to"
        ) from None
    try:
        os.write(descriptor, bytes(PROBE_BYTES))
        os.fsync(descriptor)
        return _reads_directly(name)
    except OSError as error:
        raise UserError(f"{path} cannot be written ({error.strerror})") from None
    finally:
        os.close(descriptor)
        Path(name).unlink()


def _reads_directly(name: str) -> bool:
    aligned = mmap.mmap(-1, PROBE_BYTES)  # pages are aligned as O_DIRECT wants them (open(2))
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_DIRECT)
    except OSError:
        return False
    try:
        return os.preadv(descriptor, [aligned], 0) == PROBE_BYTES
    except OSError:
        return False
    finally:
        os.close(descriptor)
