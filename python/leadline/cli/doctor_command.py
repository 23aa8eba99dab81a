"""`leadline doctor [DIR]`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from leadline.run.observe.finding import Finding

COLOURS = {"ok": "green", "limited": "yellow", "missing": "red"}


@click.command("doctor")
@click.argument("directory", default=".", type=click.Path(path_type=Path))
@click.option(
    "--nominal",
    type=click.Path(path_type=Path),
    help="A TOML file with [nominal]: compare the machine with its sheets only.",
)
def command(directory: Path, nominal: Path | None) -> None:
    """What this machine can and cannot measure on DIRECTORY (default: here), and why."""
    from leadline.run.observe.capabilities import examine

    for finding in examine(directory) if nominal is None else _compared(nominal):
        state = click.style(f"{finding.state:8}", fg=COLOURS[finding.state])
        remedy = f" {finding.remedy}" if finding.remedy else ""
        click.echo(f"{state} {finding.subject}: {finding.sentence}{remedy}")


def _compared(path: Path) -> list[Finding]:
    from leadline.run.observe.inventory import compare_inventory
    from leadline.run.observe.machine import Machine
    from leadline.spec.load_nominal import load_nominal

    return compare_inventory(load_nominal(path), Machine())
