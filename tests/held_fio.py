"""The real fio, but one load does not come back before the test lets it, so that a run is met in its midst however slow the machine is."""

from __future__ import annotations

import shutil
from pathlib import Path

SCRIPT = """#!/bin/sh
case "$*" in *--output=*) ;; *) exec {fio} "$@" ;; esac
echo >> {folder}/loads
{fio} "$@"
code=$?
if [ "$(wc -l < {folder}/loads)" -ge {number} ]; then
    touch {folder}/stands
    while [ -e {folder}/held ]; do sleep 0.02; done
fi
exit $code
"""
"""What only asks fio something has no output file."""


class HeldFio:
    """In `folder`, which belongs in front of the PATH. The load has done all its I/O when it stands."""

    def __init__(self, folder: Path, number: int) -> None:
        """`number` counts from 1, layouts included."""
        self._folder = folder
        folder.mkdir()
        (folder / "held").touch()
        (folder / "fio").write_text(SCRIPT.format(fio=shutil.which("fio"), folder=folder, number=number))
        (folder / "fio").chmod(0o755)

    def stands(self) -> bool:
        """Whether the load is there and waits to be let go."""
        return (self._folder / "stands").exists()

    def let_go(self) -> None:
        """It comes back, and so does every later one."""
        (self._folder / "held").unlink()
