"""`leadline mdtest`: mdtest's options, mdtest's table first, and below it what mdtest does not say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from leadline.cli.mdtest_foreign import ACTION_FLAGS
from leadline.errors import UserError


def options(function: Any) -> Any:
    """mdtest's names and meaning."""
    add = click.option
    decorators = [
        add("-d", "directory", required=True, type=click.Path(path_type=Path), help="Where; test-dir.* is made there and removed."),
        add("--np", "processes", help="Processes (on each host), one run each: 1,4,16.  [default: 1]"),
        add("--hosts", default="", help="By ssh on these at once: a,b; they see the directory by its path."),
        add("-z", "depth", type=click.IntRange(0), default=0, help="Depth of the tree."),
        add("-b", "branching_factor", type=click.IntRange(1), default=1, help="Children of each directory."),
        add("-I", "items_per_directory", type=click.IntRange(1), help="Items in each directory."),
        add("-n", "items_per_rank", type=click.IntRange(1), help="Items of each process."),
        add("-u", "unique_trees", is_flag=True, help="A tree for each process."),
        add("-L", "leaves_only", is_flag=True, help="Items in the deepest directories only."),
        add("-N", "rank_shift", type=click.IntRange(0), default=0, help="Items go to the N-th next process each phase."),
        add("-F", "files_only", is_flag=True, help="Files only."),
        add("-D", "directories_only", is_flag=True, help="Directories only."),
        *(add(flag, f"only_{word}", is_flag=True, help=f"Only phases chosen so: {word}.") for word, flag in ACTION_FLAGS.items()),
        add("-w", "write_size", default="0", help="Bytes written to each file."),
        add("-e", "read_size", default="0", help="Bytes read from each file."),
        add("-i", "iterations", type=click.IntRange(1), default=1, help="How often."),
        add("-p", "pause", type=click.FloatRange(0), default=0.0, help="Seconds of rest before directories and before files."),
        add("-W", "stonewall", type=click.FloatRange(0), default=0.0, help="Seconds after which all files are created."),
        add("--naming", type=click.Choice(["full_path", "directory_relative"]), default="full_path", show_default=True),
        add("--driver", type=click.Choice(["calls", "io_uring"]), default="calls", show_default=True),
        add("--iodepth", type=click.IntRange(1), default=1, help="Operations in flight, io_uring only."),
        add("--remove-leftovers", is_flag=True, help="Of an earlier run, if nothing else is in them."),
        add("--drop-caches", is_flag=True, help="Before stat and read (root)."),
        add("--timeout", type=click.FloatRange(1), default=3600.0, help="Seconds for each run.", show_default=True),
        add("--engine", type=click.Choice(["leadline", "mdtest"]), default="leadline", show_default=True),
    ]  # fmt: skip
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


@click.command("mdtest")
@options
def command(directory: Path, processes: str | None, engine: str, hosts: str, **given: Any) -> None:
    """Metadata rates with mdtest's options: its table first, then errors, percentiles and how far ranks were apart.

    As mdtest it can be started by mpirun; each of its processes is then one rank.
    """
    from leadline.run.metadata_runs import rank_of_mpi

    directory = directory.resolve()
    if (rank := rank_of_mpi()) is not None:
        try:
            _as_rank(directory, processes, engine, hosts, given)
        except UserError:
            if (
                rank == 0
            ):  # the others are silent, and end well: a launcher ends all when one of them does not
                raise
        return
    _check_directory(directory)
    for ranks in process_counts(processes or "1"):
        if engine == "mdtest":
            from leadline.cli.mdtest_foreign import foreign_output

            click.echo(foreign_output(directory, ranks, given, sizes_of(given), given["timeout"]))
        else:
            _own(directory, ranks, [name for name in hosts.split(",") if name], given)


def _check_directory(directory: Path) -> None:
    if not directory.is_dir():
        raise UserError(f"{directory} is not a directory; make it first")


def _own(directory: Path, ranks: int, hosts: Sequence[str], given: Mapping[str, Any]) -> None:
    from leadline.run.metadata_runs import on_hosts, on_this_machine

    cell = {**cell_of(given), "numjobs": ranks}

    def step(number: int, clients: int) -> Mapping[str, Any]:
        return _step(cell, directory, number, clients, given)

    try:
        documents = (
            on_hosts(hosts, directory, step, given["timeout"])
            if hosts
            else on_this_machine(step, given["timeout"])
        )
    except UserError as error:
        raise _in_options(error) from None
    _print(documents, cell)


def _as_rank(
    directory: Path, processes: str | None, engine: str, hosts: str, given: Mapping[str, Any]
) -> None:
    """One process of an MPI job; the first one prints. Raises UserError on all of them."""
    from leadline.run.metadata_runs import as_rank_of_mpi

    if processes is not None or hosts or engine == "mdtest":
        option = "--np" if processes is not None else "--hosts" if hosts else "--engine mdtest"
        raise UserError(
            f"the launcher of MPI has said how many processes there are and where; leave {option} out"
        )
    _check_directory(directory)
    cell = {**cell_of(given), "numjobs": 1}
    rank, documents, failure = as_rank_of_mpi(
        lambda number, clients: _step(cell, directory, number, clients, given), given["timeout"]
    )
    if rank == 0 and failure is None:
        _print(documents, cell)
    elif failure is not None:
        raise _in_options(failure)


def _step(
    cell: Mapping[str, Any], directory: Path, number: int, clients: int, given: Mapping[str, Any]
) -> Mapping[str, Any]:
    from leadline.run.engines.metadata import step_of

    leftovers = "remove" if given["remove_leftovers"] else "refuse"  # the user's directory, not leadline's
    return {**step_of(cell, directory, number, clients), "leftovers": leftovers}


def _in_options(error: UserError) -> UserError:
    return UserError(str(error).replace('set leftovers to "remove"', "use --remove-leftovers"))


def _print(documents: Sequence[Mapping[str, Any]], cell: Mapping[str, Any]) -> None:
    from leadline.cli.mdtest_table import described, details, rates_of
    from leadline.formats.mdtest import write_summary
    from leadline.run.engines.metadata_phases import phases_of

    phases = phases_of(*documents)
    click.echo(f"\n{described(documents, cell)}\n")
    click.echo(write_summary(rates_of(phases), cell["iterations"]))
    click.echo("\n" + "\n".join(details(phases)))


def process_counts(text: str) -> list[int]:
    """The counts of "1,4,16"; raises UserError."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise UserError(f'--np is "{text}"; give numbers of processes, such as 1,4,16')
    return [int(word) for word in words]


def cell_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """mdtest's options as settings of a cell; raises UserError."""
    if given["files_only"] and given["directories_only"]:
        raise UserError("-F and -D exclude each other; leave both out to have files and directories")
    plain = (
        "depth", "branching_factor", "items_per_directory", "items_per_rank", "unique_trees", "leaves_only", "rank_shift",
        "iterations", "pause", "naming", "driver", "iodepth", "drop_caches",
    )  # fmt: skip
    cell: dict[str, Any] = {name: given[name] for name in plain}
    return cell | sizes_of(given) | {
        "files": not given["directories_only"], "directories": not given["files_only"], "stonewall": given["stonewall"],
        "actions": [word for word in ACTION_FLAGS if given[f"only_{word}"]],
    }  # fmt: skip


def sizes_of(given: Mapping[str, Any]) -> dict[str, int]:
    """What is written and read, in bytes; 0 is mdtest's word for nothing."""
    from leadline.spec.units import parse_size

    return {
        name: 0 if given[name] == "0" else parse_size(given[name]) for name in ("write_size", "read_size")
    }
