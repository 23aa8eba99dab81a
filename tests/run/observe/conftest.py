"""Recorded machines: `machines/<name>/tree.txt` holds one, a fixture unpacks it below a temporary root.

An entry is `/name = one line`, `/name -> link`, `/directory/`, or `/name:` with its lines indented below it.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

MACHINES = Path(__file__).parent / "machines"


@pytest.fixture
def recorded(tmp_path: Path) -> Callable[[str], Path]:
    """Unpack a machine and return its root."""

    def unpack(name: str) -> Path:
        root = tmp_path / name
        root.mkdir()
        for entry in _entries((MACHINES / name / "tree.txt").read_text()):
            _place(root, *entry)
        return root

    return unpack


def _entries(text: str) -> list[list[str]]:
    """A heading and the indented lines that belong to it."""
    entries: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("/"):
            entries.append([line])
        else:
            entries[-1].append(line[4:])
    return entries


def _place(root: Path, heading: str, *lines: str) -> None:
    name, link, target = heading.partition(" -> ")
    if not link:
        name, _, value = heading.partition(" =")
        lines = lines if heading.endswith(":") else (value.strip(),)
        name = name.removesuffix(":") if heading.endswith(":") else name
    path = root / name.lstrip("/")
    path.parent.mkdir(parents=True, exist_ok=True)
    if link:
        path.symlink_to(target)
    elif heading.endswith("/"):
        path.mkdir(exist_ok=True)
    else:
        path.write_text("\n".join(lines) + "\n")
