"""`leadline run CAMPAIGN.toml | JOB.fio`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("run")
@click.argument("source", required=False)
@click.option(
    "--directory", type=click.Path(path_type=Path), help="Directory to measure; wins over the campaign's."
)
@click.option("--scale", help="Multiply all sizes, e.g. 1/16; the report says so.")
@click.option("--repeats", type=click.IntRange(min=1), help="Rounds of every cell; wins over the campaign's.")
@click.option("--output", type=click.Path(path_type=Path), help="Folder for the results (default: runs/...).")
@click.option(
    "--resume", "interrupted", type=click.Path(path_type=Path), help="Go on with this interrupted run."
)
def command(
    source: str | None,
    directory: Path | None,
    scale: str | None,
    repeats: int | None,
    output: Path | None,
    interrupted: Path | None,
) -> None:
    """Run SOURCE: a campaign (a TOML file or the name of a ready-made one) or a fio job file, each section an experiment."""
    from leadline.cli.choosing import choose
    from leadline.cli.sounding import begin, finish, resume
    from leadline.errors import UserError

    if interrupted is not None:
        if (
            source is not None
            or directory is not None
            or scale is not None
            or repeats is not None
            or output is not None
        ):
            raise UserError("--resume goes on with the run as it was planned; give it alone")
        finish(resume(interrupted))
        return
    if source is None:
        raise UserError("say what to run: a campaign, a fio job file, or --resume RUN")
    finish(begin(choose(source, directory, scale, repeats), output))
