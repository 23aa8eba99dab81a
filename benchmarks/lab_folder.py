"""A lab of a benchmark's own: beside those of whoever works on this machine, and gone when the benchmark ends."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from leadline.run.lab import lifecycle
from leadline.run.lab.laboratory import LabTarget, Wishes
from leadline.run.lab.state import ROOT_VARIABLE, STORAGE_VARIABLE, Ready

SIZE_BYTES = 1 << 30


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@contextmanager
def a_lab(name: str, target: LabTarget, options: Mapping[str, str]) -> Iterator[Ready]:
    """One target, up for the length of the block. Needs root."""
    with tempfile.TemporaryDirectory(prefix="leadline-benchmark-", dir="/var/tmp") as folder:
        state, storage = Path(folder) / "state", Path(folder) / "storage"
        storage.mkdir()
        # From here to the end of this process: taking the lab down looks there, too.
        os.environ.update({ROOT_VARIABLE: str(state), STORAGE_VARIABLE: str(storage)})
        wishes = Wishes(SIZE_BYTES, options=options)
        with lifecycle.standing(name, target, wishes, _tell, folder) as ready:
            yield ready
