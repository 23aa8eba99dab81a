"""`leadline plan SOURCE`: the dry run."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("plan")
@click.argument("source")
@click.option("--directory", type=click.Path(path_type=Path), help="Directory it would measure.")
@click.option("--scale", help="Multiply all sizes, e.g. 1/16.")
@click.option("--repeats", type=click.IntRange(min=1), help="Rounds of every cell.")
@click.option("--all", "every", is_flag=True, help="List every step, not the first ones only.")
@click.option("--check/--no-check", default=True, help="Ask the installed fio for engines and options.")
def command(
    source: str, directory: Path | None, scale: str | None, repeats: int | None, every: bool, check: bool
) -> None:
    """Show what SOURCE would do: steps, time and bytes. Nothing is written and nothing is run."""
    from leadline.cli.choosing import choose
    from leadline.cli.progress import describe
    from leadline.cli.sounding import check_engines, check_this_machine
    from leadline.plan.assumptions import ASSUMED_OPERATIONS_PER_SECOND
    from leadline.plan.forecast import forecast, kinds
    from leadline.spec.units import format_duration

    sounding = choose(source, directory, scale, repeats, otherwise=Path())
    steps = sounding.plan.steps
    if check:
        check_engines(steps)
        check_this_machine(sounding)
    total = forecast(steps)
    shown = steps if every else steps[:20]
    for step in shown:
        click.echo(
            f"{step.ordinal:5d}  {describe(step.kind, step.cell)}  ~{step.expected_seconds:.1f} s  [{step.experiment}]"
        )
    if len(shown) < len(steps):
        click.echo(f"       ... and {len(steps) - len(shown)} more (--all lists them)")
    counted = ", ".join(f"{count} {kind}" for kind, count in kinds(steps).items())
    click.echo(
        f"{total.steps} steps ({counted}) of {total.cells} different cells, about {format_duration(total.seconds)}"
    )
    click.echo(f"Files: {total.space_bytes / 2**30:.2f} GiB at most at one time")
    click.echo(f"Written: {total.written_bytes / 2**30:.2f} GiB by layouts and size-bound writes")
    click.echo(
        "Time of size-bound steps assumes 400 MB/s; writes of time-bound cells come on top of the bytes."
    )
    if total.operations:
        click.echo(
            f"Metadata: {total.operations:,} operations, {total.inodes:,} inodes at most at one time; "
            f"their time assumes {ASSUMED_OPERATIONS_PER_SECOND:,.0f} operations a second, targets do from a tenth to fifty times that."
        )
    for effect in sounding.scale_effects:
        click.echo(f"Scaled by {sounding.scale}: {effect}")
    if sounding.campaign.get("cluster"):
        from leadline.cli.foretelling import predictions_at_hand, told

        for prediction in predictions_at_hand(sounding.campaign, steps):
            for line in told(prediction):
                click.echo(line)
