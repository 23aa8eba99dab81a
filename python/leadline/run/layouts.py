"""The files that cells share: where they lie, whether they are really there, and when they may go."""

from __future__ import annotations

import shutil
from pathlib import Path

from leadline.errors import UserError
from leadline.plan.steps import Layout

OWN_PREFIX = "leadline-"
"""Every folder that leadline makes in a work directory begins with it; nothing else is ever removed."""

TREE, CONSISTENCY = "metadata-", "consistency-"
"""Folders of steps that make and remove their own files, by what the steps are about."""

BLOCK_BYTES = 512
"""st_blocks counts in 512 bytes, whatever the filesystem's own block (stat(2))."""


def data_folder(directory: Path, layout: Layout | None) -> Path:
    """The folder of a layout, or of steps that keep no files; made when missing. Raises UserError for a planted link."""
    return _own_folder(directory, layout.key if layout else "scratch")


def tree_folder(directory: Path, number: int, kind: str = TREE) -> Path:
    """An empty folder for a step that makes and removes its own files; what earlier ones have left goes. Raises as `data_folder`."""
    for left in directory.glob(f"{OWN_PREFIX}{kind}*"):
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
    return _own_folder(directory, f"{kind}{number}")


def _own_folder(directory: Path, name: str) -> Path:
    path = directory / f"{OWN_PREFIX}{name}"
    if path.is_symlink():
        raise UserError(f"{path} is a link, which leadline never makes and never writes through; remove it")
    path.mkdir(exist_ok=True)
    return path


def layout_present(layout: Layout, directory: Path) -> bool:
    """Whether every file has its full size and is not sparse: holes would be read as zeros without any I/O.

    Filesystems that compress, or report no blocks at all (some network ones), are taken at their word for the size.
    """
    folder = directory / f"{OWN_PREFIX}{layout.key}"
    return all(_written(path, layout.file_bytes) for path in layout_files(layout, folder))


def layout_files(layout: Layout, folder: Path) -> list[Path]:
    """Every file of the layout, named as fio is told to name them."""
    names = [layout.filename] if layout.filename else _names(layout)
    folders = [folder / client_folder(number) for number in range(1, layout.clients + 1)] or [folder]
    return [each / name for each in folders for name in names]


def _names(layout: Layout) -> list[str]:
    return [f"{job}.{file}" for job in range(layout.jobs) for file in range(layout.files_a_job)]


def client_folder(number: int) -> str:
    """Of the files of client `number`, from 1, inside a layout that tells clients apart."""
    return f"client{number}"


def remove_other_layouts(directory: Path, layout: Layout) -> None:
    """Makes room: cells of one layout stand together in the plan, so the others are no longer needed."""
    for entry in directory.iterdir():
        other = entry.name.startswith(OWN_PREFIX) and entry.name != f"{OWN_PREFIX}{layout.key}"
        if other and entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)


def _written(path: Path, size_bytes: int) -> bool:
    try:
        status = path.stat()
    except OSError:
        return False
    sparse = 0 < status.st_blocks * BLOCK_BYTES < size_bytes // 2
    return status.st_size >= size_bytes and not sparse
