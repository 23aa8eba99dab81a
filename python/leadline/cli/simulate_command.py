"""`leadline simulate CLUSTER.toml`: a cluster that nobody has here."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import click

from leadline.errors import UserError


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
@click.option(
    "--against",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="RUN_OR_GRID",
    help="The cluster, measured: simulates what was measured and lays the actual beside it; repeatable.",
)
@click.option("--target", metavar="NAME", help="Which target, where --against holds several.")
@click.option(
    "--all", "every_cell", is_flag=True, help="With --against: show every cell, not some of each test."
)
@click.option(
    "--html", type=click.Path(path_type=Path), metavar="FILE", help="Draw the curves into one page, too."
)
@click.option("--json", "as_document", is_flag=True, help="Print everything as JSON, for programs.")
@click.option(
    "--steps", "only_steps", is_flag=True, help="Print what leadline-engine would be given, as JSON."
)
def command(
    cluster_file: Path,
    baselines: tuple[Path, ...],
    against: tuple[Path, ...],
    target: str | None,
    every_cell: bool,
    html: Path | None,
    as_document: bool,
    only_steps: bool,
) -> None:
    """Simulate the cluster that CLUSTER (TOML) describes, event by event: throughput, latency, and what binds.

    A list in its [simulation] table makes a curve. Nothing is measured: the figures are as good as the service times.
    """
    if against:
        _refuse(
            only_steps or html is not None,
            "--steps and --html are for clusters that nobody measured; leave --against out",
        )
        _against(cluster_file, baselines, against, target, every_cell, as_document)
        return
    _refuse(target is not None, "--target chooses among what --against holds; give that too, or leave it out")
    _refuse(every_cell, "--all shows every cell of what --against holds; give that too, or leave it out")
    _refuse(
        only_steps and html is not None, "--steps simulates nothing that --html could draw; give one of them"
    )
    from leadline.cli.simulation_input import steps_of

    scenarios, steps = steps_of(cluster_file, baselines)
    if only_steps:
        click.echo(json.dumps(steps))
        return
    from leadline.analyse.simulation.findings import Finding
    from leadline.run.simulator import simulate_all

    outcomes = simulate_all(steps, _progress(len(steps)))
    findings = [Finding(scenario, found) for scenario, found in zip(scenarios, outcomes, strict=True)]
    if html is not None:
        from leadline.report.simulation_page import write_simulation_page

        write_simulation_page(html, findings)
    if as_document:
        from leadline.cli.simulation_document import as_json

        click.echo(json.dumps(as_json(findings)))
        return
    from rich.console import Console

    from leadline.cli.simulation_tables import show

    show(findings, Console())


def _against(
    cluster_file: Path,
    baselines: tuple[Path, ...],
    against: tuple[Path, ...],
    target: str | None,
    every_cell: bool,
    as_document: bool,
) -> None:
    from leadline.cli.simulation_beside import as_json, show_beside, simulate_against

    cells, notes = simulate_against(cluster_file, baselines, against, target, _progress)
    if as_document:
        click.echo(json.dumps(as_json(cells, notes)))
        return
    from rich.console import Console

    from leadline.spec.load_cluster import load_cluster

    show_beside(load_cluster(cluster_file).cluster.name, cells, notes, Console(), every_cell)


def _refuse(wrong: bool, sentence: str) -> None:
    if wrong:
        raise UserError(sentence)


def _progress(count: int) -> Callable[[int], None]:
    """A line that is overwritten, where somebody looks on."""
    shown = sys.stderr.isatty() and count > 1

    def tell(done: int) -> None:
        if shown:
            click.echo(f"\r{done} of {count} simulated", nl=done == count, err=True)

    return tell
