"""Servers and clients that no distribution packages and that build as Go modules: built once, kept outside the source tree.

The build runs in the module's own folder of Go's module cache, so that the exact versions and replacements of its go.mod hold.
It is a process of the lab's journal: a killed leadline leaves no compiler running once the lab is down.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from leadline.errors import UserError
from leadline.run.lab.laboratory import Laboratory

CACHE_VARIABLE = "LEADLINE_CACHE"
BUILT_WITHIN_SECONDS = 600.0
BUILD = """
set -e
said=$(go mod download -json "$1")
cd "$(printf '%s' "$said" | sed -n 's/^.*"Dir": "\\(.*\\)".*$/\\1/p')"
go build -mod=readonly -trimpath -ldflags='-s -w' -tags "$2" -o "$4.draft$$" "$3"
mv "$4.draft$$" "$4"
"""
"""Module with version, build tags, package, and where the program goes: by rename, so that two builders do no harm."""


@dataclass(frozen=True)
class GoProgram:
    """One program at one version."""

    name: str
    module: str
    version: str
    package: str = "."
    """The folder of its `main` inside the module."""
    tags: tuple[str, ...] = ()
    needs_c: bool = False

    @property
    def path(self) -> Path:
        """Where it is kept; whoever has it from elsewhere may put it there."""
        return cache_root() / f"{self.name}-{self.version}" / self.name


def cache_root() -> Path:
    """Where built programs stay between labs."""
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "leadline"
    return Path(os.environ.get(CACHE_VARIABLE) or usual).absolute()


def built(lab: Laboratory, program: GoProgram) -> Path:
    """The program, built when it is not there yet; raises UserError when it cannot be."""
    path = program.path
    if path.exists():
        return path
    _check_tools(program)
    lab.tell(f"building {program.name} {program.version} (some minutes, only once) into {path.parent}")
    path.parent.mkdir(parents=True, exist_ok=True)
    words = (f"{program.module}@{program.version}", ",".join(program.tags), program.package, str(path))
    number = lab.start(f"build-{program.name}", ("sh", "-c", BUILD, "leadline", *words))
    try:
        lab.wait(number, path.exists, BUILT_WITHIN_SECONDS)
    except UserError as error:
        if not path.exists():  # it may have ended, well done, between the two looks
            raise UserError(f"{program.name} {program.version} could not be built: {error}") from None
    return path


def _check_tools(program: GoProgram) -> None:
    tools = ("go", "gcc") if program.needs_c else ("go",)
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        raise UserError(
            f"{program.name} {program.version} has to be built and {' and '.join(missing)} cannot be found; put Go 1.25 or newer"
            f"{' and a C compiler' if program.needs_c else ''} on the PATH, or the finished program at {program.path}"
        )
