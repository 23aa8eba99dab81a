"""`leadline import PATH...`."""

from __future__ import annotations

from pathlib import Path

import click

MOST_LEFT_OUT = 10


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--output", type=click.Path(path_type=Path), help="Folder for the run (default: runs/...).")
def command(paths: tuple[Path, ...], output: Path | None) -> None:
    """Read foreign results under PATHS (fio JSON, bench-fio trees, grid JSON, perftest) into a run, and report on it."""
    from leadline.cli.sounding import finish, new_run_folder
    from leadline.importers import import_paths
    from leadline.store.run_folder import RunFolder

    manifest, records = import_paths(paths)
    left_out = manifest.campaign["left_out"]
    for sentence in left_out[:MOST_LEFT_OUT]:
        click.echo(f"Left out: {sentence}", err=True)
    if len(left_out) > MOST_LEFT_OUT:
        click.echo(
            f"Left out: {len(left_out) - MOST_LEFT_OUT} more, named in the run's manifest.json", err=True
        )
    folder = RunFolder.create(new_run_folder(output, manifest.name), manifest)
    for record in records:
        folder.save(record)
    folder.close()
    finish(folder.path)
