"""Results in; terminal view, one HTML file, figures for papers and JSON out. No arithmetic on measurements here.

The four verbs below are all that the command line needs. Drawing libraries are loaded when a verb is called, so that
`leadline --help` does not wait for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leadline.analyse.results import METRICS, Results

if TYPE_CHECKING:
    from rich.console import Console

    from leadline.published.tables import PublishedTable
    from leadline.store.conformance import Conformance

FIGURE_METRICS = ("bandwidth", "p99")


def write_report(
    results: Sequence[Results],
    path: Path,
    beside: Sequence[PublishedTable] = (),
    conformance: Sequence[Conformance] = (),
) -> Path:
    """Writes everything about these runs as one HTML file that needs no network; several runs share each picture.

    `beside` are published tables to lay beside them, cited and in grey; ready-made campaigns bring their own. `conformance` are
    runs of `leadline posix` that stand in the matrix with those of the runs.
    """
    from leadline.report.metadata_trees import tables_of
    from leadline.report.page import page

    tables = {table.name: table for table in (*beside, *tables_of(results))}
    return write_whole(path, page(results, list(tables.values()), conformance))


def write_figures(
    results: Sequence[Results],
    folder: Path,
    format: str = "svg",
    metrics: Sequence[str] = FIGURE_METRICS,
) -> list[Path]:
    """Writes the report's figures as "svg" or "png" files for papers; surfaces for each of `metrics` (of METRICS)."""
    from leadline.report.figures.gallery import write_gallery

    return write_gallery(results, folder, format, [name for name in METRICS if name in metrics])


def show(results: Sequence[Results], console: Console, report: Path | None = None) -> None:
    """Prints the answers, the doubts, the cells with their verdicts and where the report is."""
    from leadline.report.terminal import show_all

    show_all(results, console, report)


def as_json(results: Sequence[Results]) -> dict[str, Any]:
    """All results as a JSON-ready dictionary; keys and units are described in report/document.py."""
    from leadline.report.document import document

    return document(results)


def write_whole(path: Path, text: str) -> Path:
    """A reader sees the old file or the new one, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".draft")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
    return path
