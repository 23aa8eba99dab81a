"""The visibility matrix as one HTML file: what was changed against how it was probed, in words on colours, then every cell.

The words carry the meaning and the colours only help: they are Okabe and Ito's blues and vermilions, told apart also by their lightness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from leadline import __version__
from leadline.analyse.promises import Kept
from leadline.analyse.visibility import WORST_FIRST, CellWindow
from leadline.report import write_whole
from leadline.report.page import template_text, templates
from leadline.report.visibility_words import headline, looked_at, promise_sentence, witness_sentence, word
from leadline.store.visibility import Visibility

LEGEND = (
    ("once", "at once"),
    ("later-0", "within 10 ms"),
    ("later-1", "within 0.2 s"),
    ("later-2", "within 2 s"),
    ("later-3", "later"),
    ("never", "never seen"),
    ("lost", "lost for good"),
    ("open", "undecided or not offered"),
)


COLUMNS = {
    "append": ("append",),
    "open and read": ("open",),
    "file held open": ("held", "held fstat", "held SEEK_END"),
    "name": ("stat", "access", "readlink"),
    "attribute": ("size", "mode", "modified", "links", "getxattr"),
    "folder": ("readdir",),
    "lock": ("lock (fcntl)", "lock (flock)"),
}
"""What of a file a probe looks at -> the probes: as many columns as fit on a page. The gravest losses come first."""


def write_visibility_page(
    path: Path, result: Visibility, found: Sequence[CellWindow], judged: Sequence[Kept]
) -> Path:
    """Writes the page whole."""
    return write_whole(path, visibility_page(result, found, judged))


def visibility_page(result: Visibility, found: Sequence[CellWindow], judged: Sequence[Kept]) -> str:
    """The page as text."""
    patience_seconds = result.settings["patience_seconds"]
    return (
        templates()
        .get_template("visibility.html.j2")
        .render(
            version=__version__,
            result=result,
            headline=headline(found),
            looked_at=looked_at(result),
            promises=[(each, promise_sentence(each)) for each in judged],
            columns=[column for column in COLUMNS if any(column_of(each) == column for each in found)],
            rows=matrix(found, patience_seconds),
            cells=[
                (each, word(each, patience_seconds), witness_sentence(each)) for each in worst_first(found)
            ],
            legend=LEGEND,
            style=Markup(template_text("page.css") + template_text("visibility.css")),
        )
    )


def worst_first(found: Sequence[CellWindow]) -> list[CellWindow]:
    """What a reader has to know before the rest."""
    return sorted(found, key=lambda each: WORST_FIRST.index(each.ending))


def matrix(
    found: Sequence[CellWindow], patience_seconds: float
) -> list[tuple[str, Mapping[str, list[dict[str, Any]]]]]:
    """(what the writer did, column -> its cells), the worst rows first; a square has a cell for each way in which the reader looks."""
    rows: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for each in worst_first(found):
        entry = {"found": each, "word": word(each, patience_seconds), "beside": beside(each)}
        rows.setdefault(row_of(each), {}).setdefault(column_of(each), []).append(entry)
    return list(rows.items())


def column_of(found: CellWindow) -> str:
    """The column of its probe; a probe that no column names has one of its own."""
    return next((name for name, probes in COLUMNS.items() if found.cell.probe in probes), found.cell.probe)


def row_of(found: CellWindow) -> str:
    """ "overwrite, fsync"."""
    sync = found.cell.writer_sync
    return found.cell.mutation if sync == "none" else f"{found.cell.mutation}, {sync}"


def beside(found: CellWindow) -> str:
    """How the reader looks, what it had in its caches, and what else it does: "stat, looked"."""
    sync = found.cell.reader_sync
    words = (found.cell.probe, found.cell.prior, "" if sync == "none" else sync)
    return ", ".join(dict.fromkeys(filter(None, words)))
