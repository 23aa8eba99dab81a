"""`leadline simulate CLUSTER.toml`: a cluster that nobody has here."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import click


@click.command("simulate")
@click.argument("cluster_file", metavar="CLUSTER", type=click.Path(path_type=Path))
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="RUN_OR_GRID",
    help="What one disk, or one NIC, did alone, in place of what CLUSTER states; repeatable.",
)
@click.option("--json", "as_document", is_flag=True, help="Print everything as JSON, for programs.")
@click.option(
    "--steps", "only_steps", is_flag=True, help="Print what leadline-engine would be given, as JSON."
)
def command(cluster_file: Path, baselines: tuple[Path, ...], as_document: bool, only_steps: bool) -> None:
    """Simulate the cluster that CLUSTER (TOML) describes, event by event: throughput, latency, and what binds.

    A list in its [simulation] table makes a curve. Nothing is measured: the figures are as good as the service times.
    """
    from leadline.cli.simulation_input import steps_of

    scenarios, steps = steps_of(cluster_file, baselines)
    if only_steps:
        click.echo(json.dumps(steps))
        return
    from leadline.analyse.simulation.findings import Finding
    from leadline.run.simulator import simulate_all

    outcomes = simulate_all(steps, _progress(len(steps)))
    findings = [Finding(scenario, found) for scenario, found in zip(scenarios, outcomes, strict=True)]
    if as_document:
        from leadline.cli.simulation_document import as_json

        click.echo(json.dumps(as_json(findings)))
        return
    from rich.console import Console

    from leadline.cli.simulation_tables import show

    show(findings, Console())


def _progress(count: int) -> Callable[[int], None]:
    """A line that is overwritten, where somebody looks on."""
    shown = sys.stderr.isatty() and count > 1

    def tell(done: int) -> None:
        if shown:
            click.echo(f"\r{done} of {count} simulated", nl=done == count, err=True)

    return tell
