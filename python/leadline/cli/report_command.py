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
    "--beside",
    multiple=True,
    metavar="TABLE",
    help="Lay a published table beside it, cited; repeatable (`--beside list` names them).",
)
@click.option(
    "--posix",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="JSON",
    help="Put this run of `leadline posix --json` into the POSIX matrix; repeatable.",
)
@click.option(
    "--figures", type=click.Choice(["svg", "png"]), help="Also write every figure as a file, for papers."
)
@click.option("--json", "as_document", is_flag=True, help="Print the results as JSON instead, for programs.")
def command(
    runs: tuple[Path, ...],
    output: Path | None,
    beside: tuple[str, ...],
    posix: tuple[Path, ...],
    figures: str | None,
    as_document: bool,
) -> None:
    """Write one HTML file on one or several RUNS."""
    if "list" in beside:
        _list_published()
        return
    from leadline.cli.analysing import analysed_all
    from leadline.published.tables import table
    from leadline.report import as_json, write_figures, write_report
    from leadline.store.conformance import read_conformance

    published = [table(name) for name in beside]
    conformance = [read_conformance(path) for path in posix]
    results = analysed_all(runs)
    if as_document:
        click.echo(json.dumps(as_json(results)))
        return
    path = output or runs[0] / "report.html"
    click.echo(f"Report:  {write_report(results, path, published, conformance)}")
    for drawn in write_figures(results, path.parent / "figures", figures) if figures else ():
        click.echo(f"Figure:  {drawn}")


def _list_published() -> None:
    from leadline.published.tables import published_tables

    for each in published_tables():
        click.echo(f"{each.name}: {each.title} ({each.source.author}, {each.source.year})")
