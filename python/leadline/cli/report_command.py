"""`leadline report RUN...`."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("report")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--output", type=click.Path(path_type=Path), help="The HTML file (default: report.html in the first run)."
)
@click.option(
    "--figures", type=click.Choice(["svg", "png"]), help="Also write every figure as a file, for papers."
)
@click.option("--json", "as_document", is_flag=True, help="Print the results as JSON instead, for programs.")
def command(runs: tuple[Path, ...], output: Path | None, figures: str | None, as_document: bool) -> None:
    """Write one HTML file on one or several RUNS."""
    from leadline.cli.analysing import analysed_all

    results = analysed_all(runs)
    if as_document:
        from leadline.report import as_json

        click.echo(json.dumps(as_json(results)))
        return
    from leadline.report import write_report

    path = output or runs[0] / "report.html"
    click.echo(f"Report:  {write_report(results, path)}")
    if figures:
        from leadline.report import write_figures

        for drawn in write_figures(results, path.parent / "figures", figures):
            click.echo(f"Figure:  {drawn}")
