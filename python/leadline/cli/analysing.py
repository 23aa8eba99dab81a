"""A stored run, read and analysed, for every command that shows results."""

from __future__ import annotations

from pathlib import Path

from leadline.analyse.analysis import analyse
from leadline.analyse.results import Results
from leadline.store.run_folder import RunFolder


def analysed(path: Path, label: str = "") -> Results:
    """Raises UserError when the folder is no readable run."""
    folder = RunFolder.open(path)
    try:
        return analyse(folder.records(), folder.manifest, folder.environment, label)
    finally:
        folder.close()


def analysed_all(paths: tuple[Path, ...]) -> list[Results]:
    """Several runs, told apart by the shortest end of their paths that does."""
    return [analysed(path, label) for path, label in zip(paths, _labels(paths), strict=True)]


def _labels(paths: tuple[Path, ...]) -> list[str]:
    if len(paths) == 1:
        return [""]
    resolved = [path.resolve() for path in paths]
    for depth in range(1, max(len(path.parts) for path in resolved) + 1):
        labels = ["/".join(path.parts[-depth:]) for path in resolved]
        if len(set(labels)) == len(labels):
            return labels
    return [f"{path} ({number})" for number, path in enumerate(resolved, 1)]
