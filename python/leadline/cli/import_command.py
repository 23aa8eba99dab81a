"""`leadline import PATH...`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--output", type=click.Path(path_type=Path), help="Folder for the run (default: runs/...).")
def command(paths: tuple[Path, ...], output: Path | None) -> None:
    """Read foreign results under PATHS (fio JSON, bench-fio trees, grid JSON, perftest) into a run, and report on it."""
    from leadline.cli.sounding import finish, new_run_folder
    from leadline.importers.registry import import_paths
    from leadline.store.run_folder import RunFolder

    manifest, records = import_paths(paths)
    folder = RunFolder.create(new_run_folder(output, manifest.name), manifest)
    for record in records:
        folder.save(record)
    folder.close()
    finish(folder.path)
