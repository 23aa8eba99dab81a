"""`leadline quick DIR`: the best use of a few minutes."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("quick")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--minutes",
    type=click.FloatRange(min=0.5, max=24 * 60),
    default=5.0,
    show_default=True,
    help="Time to use, all in all.",
)
@click.option("--output", type=click.Path(path_type=Path), help="Folder for the results (default: runs/...).")
@click.option(
    "--seed", type=int, default=1, show_default=True, help="Order of the cells and of random offsets."
)
def command(directory: Path, minutes: float, output: Path | None, seed: int) -> None:
    """Sound DIRECTORY (empty, on the filesystem of interest): four tests, several depths, three rounds, a report."""
    from leadline.cli.sounding import Sounding, begin, finish
    from leadline.plan.design import design
    from leadline.plan.quick import quick_campaign
    from leadline.run.directory_facts import directory_facts
    from leadline.run.targets.work_directory import check_directory

    facts = directory_facts(check_directory(directory))
    campaign = quick_campaign(minutes, facts, seed)
    plan, _ = design(campaign)
    access = "O_DIRECT" if facts.direct else "buffered: O_DIRECT is refused here"
    click.echo(f"{len(plan.steps)} steps in about {minutes:g} min, {facts.ioengines[0]}, {access}")
    document = campaign.model_dump(mode="json")
    finish(begin(Sounding("quick", "quick", plan, directory, document, seed), output))
