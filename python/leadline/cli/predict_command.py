"""`leadline predict --baseline RUN_OR_GRID --cluster FILE [--against RUN_OR_GRID]`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from leadline.errors import UserError

PUBLISHED = "3fs_workloads"


@click.command("predict")
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="RUN_OR_GRID",
    help="What one disk, or one NIC, does alone: a run, or results that `leadline import` reads; repeatable.",
)
@click.option(
    "--cluster",
    "cluster_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The cluster: a TOML file with a [cluster] table.",
)
@click.option(
    "--against",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="RUN_OR_GRID",
    help="The target, measured: lays actual beside predicted and scores each model; repeatable.",
)
@click.option("--target", metavar="NAME", help="Which target, where --against holds several.")
@click.option("--all", "every_cell", is_flag=True, help="Show every cell, not some of each test.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write pictures, scores and every cell as one page.",
)
@click.option("--json", "as_document", is_flag=True, help="Print everything as JSON, for programs.")
@click.option(
    "--published", is_flag=True, help="Instead: the published 3FS workloads as shares of their own hardware."
)
def command(
    baselines: tuple[Path, ...],
    cluster_file: Path | None,
    against: tuple[Path, ...],
    target: str | None,
    every_cell: bool,
    html: Path | None,
    as_document: bool,
    published: bool,
) -> None:
    """Predict what a cluster should reach from the baselines of its parts, before or against a measurement."""
    if published:
        _show_published(as_document)
        return
    from leadline.cli.prediction_document import as_json
    from leadline.cli.prediction_input import foretell

    prediction = foretell(*_needed(baselines, cluster_file), against, target)
    if html is not None:
        from leadline.cli.prediction_tables import cell_rows, score_rows
        from leadline.report.prediction_page import write_prediction_page

        write_prediction_page(html, prediction, cell_rows(prediction.cells), score_rows(prediction.scores))
    if as_document:
        click.echo(json.dumps(as_json(prediction)))
        return
    from rich.console import Console

    from leadline.cli.prediction_tables import show

    show(prediction, Console(), every_cell)


def _needed(baselines: tuple[Path, ...], cluster_file: Path | None) -> tuple[tuple[Path, ...], Path]:
    if not baselines:
        raise UserError(
            "there is no baseline to predict from; give a run or grid of one storage disk with --baseline"
        )
    if cluster_file is None:
        raise UserError(
            "there is no cluster to predict for; describe it in a TOML file and give it with --cluster"
        )
    return baselines, cluster_file


def _show_published(as_document: bool) -> None:
    from leadline.analyse.prediction.reality import check_reality
    from leadline.cli.prediction_document import reality_as_json
    from leadline.published.tables import table

    source = table(PUBLISHED)
    checks = check_reality(source.rows)
    if as_document:
        click.echo(json.dumps(reality_as_json(checks)))
        return
    from rich.console import Console

    from leadline.cli.reality_table import show_reality

    show_reality(checks, source, Console())
