"""`leadline doctor [DIR]`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("doctor")
@click.argument("directory", default=".", type=click.Path(path_type=Path))
def command(directory: Path) -> None:
    """What this machine can and cannot measure on DIRECTORY (default: here), and why."""
    from rich.console import Console
    from rich.table import Table

    from leadline.run.observe.capabilities import examine

    colours = {"ok": "green", "limited": "yellow", "missing": "red"}
    table = Table(box=None, padding=(0, 2, 0, 0))
    for head in ("", "subject", "finding", "what to do"):
        table.add_column(head)
    for finding in examine(directory):
        table.add_row(
            f"[{colours[finding.state]}]{finding.state}[/]",
            finding.subject,
            finding.sentence,
            finding.remedy or "",
        )
    Console().print(table)
