"""`leadline doctor [DIR]`."""

from __future__ import annotations

from pathlib import Path

import click

COLOURS = {"ok": "green", "limited": "yellow", "missing": "red"}


@click.command("doctor")
@click.argument("directory", default=".", type=click.Path(path_type=Path))
def command(directory: Path) -> None:
    """What this machine can and cannot measure on DIRECTORY (default: here), and why."""
    from leadline.run.observe.capabilities import examine

    for finding in examine(directory):
        state = click.style(f"{finding.state:8}", fg=COLOURS[finding.state])
        remedy = f" {finding.remedy}" if finding.remedy else ""
        click.echo(f"{state} {finding.subject}: {finding.sentence}{remedy}")
