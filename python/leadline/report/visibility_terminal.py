"""The visibility grid in the terminal: one line a cell, worst first, then the promises and what to know."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from leadline.analyse.promises import Kept
from leadline.analyse.visibility import WORST_FIRST, CellWindow
from leadline.report.visibility_words import headline, looked_at, promise_sentence, witness_sentence, word
from leadline.store.visibility import Ending, Visibility

STYLES = {Ending.LOST: "bold red", Ending.NEVER: "red", Ending.LATER: "yellow", Ending.AT_ONCE: "green"}
TOLD_OF = (Ending.LOST,)
"""Endings whose witness is told below the table."""


def show_visibility(
    result: Visibility, found: Sequence[CellWindow], judged: Sequence[Kept], console: Console
) -> None:
    """All that was seen."""
    console.print(Text.assemble((result.label, "bold"), f"  {looked_at(result)}"))
    console.print(headline(found))
    console.print(_table(result, found))
    for each in found:
        if each.ending in TOLD_OF:
            console.print(Text(f"{each.cell}: {witness_sentence(each)}"))
    for promise in judged:
        console.print(Text(f"Promise {promise_sentence(promise)}", style="bold"))
    for note in result.notes:
        console.print(Text(note, style="dim"))


def _table(result: Visibility, found: Sequence[CellWindow]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("change", "probe", "reader had", "with", "stale for", ""):
        table.add_column(column, no_wrap=column == "stale for")
    patience_seconds = result.settings["patience_seconds"]
    for each in sorted(found, key=lambda one: WORST_FIRST.index(one.ending)):
        said = word(each, patience_seconds)
        cell = each.cell
        told = Text(said.headline, style=STYLES.get(each.ending, "dim"))
        beside = Text(said.beside, style="dim")
        table.add_row(cell.mutation, cell.probe, cell.prior, cell.syncs, told, beside)
    return table
