"""Network cells in the terminal: one line a message size, one table a tool."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from leadline.analyse.results import Results
from leadline.report.all_reduce import all_reduce_tables
from leadline.report.network import Table, tables

NARROW = 110
"""Below this many characters a line, of the latencies one is shown; the rest is told below the table."""
LATENCIES = ("p99", "mean", "p50")
TOLD_BELOW = ("region", "sent again")


def show_network(one: Results, console: Console) -> None:
    """Nothing where no network was measured."""
    for table in [*tables([one]), *all_reduce_tables([one])]:
        console.print(_drawn(table, console.width))
        for sentence in table.sentences:
            console.print(Text(f"  {sentence}", style="bold"))
        console.print()


def _drawn(table: Table, width: int) -> RichTable:
    drawn = RichTable(title=table.title, title_justify="left", box=None, pad_edge=False)
    shown = next((name for name in LATENCIES if name in table.heads), "")
    kept = [
        place
        for place, head in enumerate(table.heads)
        if width >= NARROW or head == shown or head not in (*LATENCIES, *TOLD_BELOW)
    ]
    for place in kept:
        words = place == 0 or table.heads[place] == "region"
        drawn.add_column(table.heads[place], justify="left" if words else "right", no_wrap=True)
    drawn.add_column("verdict", overflow="fold", min_width=12)
    for line in table.lines:
        style = "green" if line.verdict == "valid" else "yellow"
        drawn.add_row(*(Text(line.figures[place].text) for place in kept), Text(line.verdict, style=style))
    return drawn
