"""`leadline allreduce`: how long ranks of MPI take to sum a vector over all of them, by its size."""

from __future__ import annotations

import datetime
import shlex
import sys
from pathlib import Path

import click


@click.command("allreduce")
@click.option(
    "--np",
    "ranks",
    type=click.IntRange(min=2),
    default=2,
    show_default=True,
    help="Ranks of MPI, all hosts together.",
)
@click.option("--hosts", default="", help="a,b: on these, as the launcher knows them (a:4 for four ranks).")
@click.option("--launcher", default="mpirun", show_default=True, help="mpirun or srun with its options.")
@click.option(
    "--sizes",
    default="8B..16MiB",
    show_default=True,
    help="FROM..TO, each four times the one before; or a list.",
)
@click.option(
    "--time", "runtime", default="0.5s", show_default=True, help="About so long for each size and repeat."
)
@click.option("--repeats", type=click.IntRange(min=1), default=3, show_default=True)
@click.option("--output", type=click.Path(path_type=Path), help="Folder for the results (default: runs/...).")
def command(
    ranks: int, hosts: str, launcher: str, sizes: str, runtime: str, repeats: int, output: Path | None
) -> None:  # fmt: skip
    """All-reduce by MPI over vector sizes, every result checked: algorithm bandwidth, bus bandwidth, latency.

    `leadline import` reads the output of nccl-tests' all_reduce_perf into the same table.
    """
    from rich.console import Console

    from leadline import __version__
    from leadline.cli.analysing import analysed
    from leadline.cli.network_command import message_sizes
    from leadline.cli.sounding import REPORT, new_run_folder
    from leadline.errors import UserError
    from leadline.report import show, write_report
    from leadline.run.all_reduce import all_reduce
    from leadline.run.all_reduce_rank import ELEMENT_BYTES
    from leadline.run.crews.mpi import Launcher
    from leadline.run.observe.environment import record_environment
    from leadline.spec.units import parse_duration
    from leadline.store.manifest import Manifest
    from leadline.store.run_folder import RunFolder

    vectors = message_sizes(sizes)
    if uneven := [size for size in vectors if size % ELEMENT_BYTES]:
        raise UserError(
            f"--sizes has {uneven[0]} bytes; vectors are of 32-bit numbers, so give multiples of {ELEMENT_BYTES}"
        )
    words = shlex.split(launcher) or ["mpirun"]
    started = Launcher(
        words[0], tuple(name for name in hosts.split(",") if name), tuple(words[1:]) or _here(hosts)
    )
    records = all_reduce(started, ranks, vectors, parse_duration(runtime), repeats)
    manifest = Manifest(
        name="all-reduce", source="campaign", directory=str(Path.cwd()),
        created_utc=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"), leadline_version=__version__,
        argv=tuple(sys.argv), campaign={"ranks": ranks, "hosts": hosts, "launcher": launcher},
    )  # fmt: skip
    folder = RunFolder.create(new_run_folder(output, manifest.name), manifest)
    folder.save_environment(record_environment(folder.path))
    for record in records:
        folder.save(record)
    folder.close()
    results = [analysed(folder.path)]
    show(results, Console(), write_report(results, folder.path / REPORT))
    click.echo(f"Run:     {folder.path}")


def _here(hosts: str) -> tuple[str, ...] | None:
    """Without hosts the ranks share this machine, whatever its cores; Open MPI wants to be told so."""
    import os

    root = ("--allow-run-as-root",) if os.geteuid() == 0 else ()
    return ("--oversubscribe", *root) if not hosts else (*root,) or None
