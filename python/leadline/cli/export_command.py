"""`leadline export RUN`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("export")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--parquet", "form", flag_value="parquet", help="One row a cell, as Parquet (default).", default=True
)
@click.option("--csv", "form", flag_value="csv", help="One row a cell, as CSV.")
@click.option("--json", "form", flag_value="json", help="Everything, as JSON.")
@click.option(
    "--output", type=click.Path(path_type=Path), help="The file (default: cells.<form> in the first run)."
)
def command(runs: tuple[Path, ...], form: str, output: Path | None) -> None:
    """Write the cells of RUNS, with n, interval and verdicts, for other programs."""
    from leadline.cli.analysing import analysed_all
    from leadline.report.export import write_cells

    path = output or runs[0] / f"cells.{form}"
    click.echo(f"Cells:   {write_cells(analysed_all(runs), path, form)}")
