"""`leadline show RUN`."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("show")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_document", is_flag=True, help="Print the results as JSON, for programs.")
def command(runs: tuple[Path, ...], as_document: bool) -> None:
    """Show RUNS in the terminal: the answers, the cells with their verdicts, and what not to trust."""
    from rich.console import Console

    from leadline.cli.analysing import analysed_all

    results = analysed_all(runs)
    if as_document:
        from leadline.report import as_json

        click.echo(json.dumps(as_json(results)))
        return
    from leadline.report import show

    show(results, Console())
