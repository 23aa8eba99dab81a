"""Who uses a path: processes with a file, their working directory or their root below it, and loop devices over its files."""

from __future__ import annotations

from pathlib import Path

NAMED_AT_MOST = 3


def holders(point: Path) -> str:
    """In words: `fio (process 12, 13) and loop3`; "nobody that can be seen" when the kernel alone knows."""
    found: dict[str, list[str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and _uses(entry, point):
            found.setdefault(_name(entry), []).append(entry.name)
    words = [f"{name} (process {', '.join(pids[:NAMED_AT_MOST])})" for name, pids in found.items()]
    words += [loop for loop, backing in loops().items() if backing.is_relative_to(point)]
    return " and ".join(words[:NAMED_AT_MOST]) or "nobody that can be seen"


def loops() -> dict[str, Path]:
    """Loop devices in use -> the file behind each."""
    found = {}
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            found[backing.parts[-3]] = Path(backing.read_text().rstrip("\n").removesuffix(" (deleted)"))
        except OSError:  # detached while we looked
            continue
    return found


def _uses(process: Path, point: Path) -> bool:
    try:
        links = [process / "cwd", process / "root", process / "exe", *(process / "fd").iterdir()]
    except OSError:
        return False
    return any(_below(link, point) for link in links)


def _below(link: Path, point: Path) -> bool:
    try:
        return link.readlink().is_relative_to(point)
    except OSError:
        return False


def _name(process: Path) -> str:
    try:
        return (process / "comm").read_text().strip()
    except OSError:
        return "a process"
