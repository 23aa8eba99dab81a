"""What a run stands on: a directory as it is, one that must lie on a stated filesystem, or a target of the lab.

A target of the lab stands for the length of the run: brought up before the first check, taken down whatever ends the run. A run
that was killed finds its own leavings by its folder's name, takes them down and starts from a fresh filesystem.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from leadline.errors import UserError
from leadline.run.lab.laboratory import Wishes
from leadline.run.lab.lifecycle import standing
from leadline.run.lab.registry import lab_target
from leadline.run.observe.machine import Machine
from leadline.run.observe.mounts import find_mount
from leadline.run.seams import Target
from leadline.run.targets.mounted import Mounted
from leadline.run.targets.work_directory import WorkDirectory, check_directory


@dataclass(frozen=True)
class Ground:
    """Where the run works, and what is known of it."""

    directory: Path
    filesystem: str | None = None
    """The type that must be mounted there; None when nobody stated one."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the lab made it of."""

    def target(self, space_bytes: int, sections: frozenset[str], named: frozenset[str]) -> Target:
        """The safeguards around the directory; sections and file names are those of a user's job file."""
        inner = WorkDirectory(self.directory, space_bytes, sections, named)
        return Mounted(inner, self.filesystem, filesystem_of) if self.filesystem else inner


@contextmanager
def ground(
    target: Mapping[str, Any], directory: Path, space_bytes: int, run_folder: Path
) -> Iterator[Ground]:
    """`target` is the campaign's table; raises UserError when it cannot be brought up or must not be written to."""
    name = target.get("name")
    if name is None:
        yield Ground(check_directory(directory), target.get("filesystem"))
        return
    options = {key: _written(value) for key, value in target.get("options", {}).items()}
    wishes = Wishes(space_bytes, options=options)
    with standing(name, lab_target(name), wishes, click.echo, str(run_folder)) as ready:
        if "://" in ready.directory:
            raise UserError(
                f"{name} is an object store at {ready.directory} with no files in it to measure; take another target"
            )
        facts = {"name": name, **ready.facts}
        yield Ground(check_directory(Path(ready.directory)), ready.filesystem, facts)


def _written(value: object) -> str:
    """An option as a mount command takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def filesystem_of(path: Path) -> str | None:
    """The type in the mount table."""
    mount = find_mount(Machine(), path)
    return mount.type if mount else None
