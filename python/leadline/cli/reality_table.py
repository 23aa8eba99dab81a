"""The published workloads as shares of their own hardware, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from leadline.analyse.prediction.reality import RealityCheck
from leadline.analyse.wording import bandwidth, percent
from leadline.published.tables import PublishedTable


def show_reality(checks: Sequence[RealityCheck], source: PublishedTable, console: Console) -> None:
    """The table, and whose figures they are."""
    table = Table(title=source.title, title_justify="left", box=None, pad_edge=False)
    for name in ("workload", "what", "of"):
        table.add_column(name)
    for name in ("printed", "is", "% of network", "% of disks, sequential", "random"):
        table.add_column(name, justify="right", overflow="fold")
    for check in checks:
        shares = (check.network_share, check.sequential_share, check.random_share)
        table.add_row(
            check.workload,
            check.what,
            check.of,
            check.printed,
            bandwidth(check.bytes_per_second),
            *("–" if share is None else percent(share) for share in shares),
        )
    console.print(table)
    console.print(Text(f"Published by {source.source}. {source.note}", style="dim"))
