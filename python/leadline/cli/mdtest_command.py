"""`leadline mdtest`: mdtest's options, mdtest's table first, and below it what mdtest does not say."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leadline.errors import UserError

if TYPE_CHECKING:
    from leadline.run.engines.metadata import Phase

ACTION_FLAGS = {"create": "-C", "stat": "-T", "read": "-E", "rename": "-U", "remove": "-r"}
PERCENTS = (50.0, 99.0, 99.9)


def options(function: Any) -> Any:
    """mdtest's names and meaning."""
    add = click.option
    decorators = [
        add("-d", "directory", required=True, type=click.Path(path_type=Path), help="Where; test-dir.* is made there and removed."),
        add("--np", "processes", default="1", help="Processes, one run each: 1,4,16.", show_default=True),
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
def command(
    directory: Path, processes: str, engine: str, timeout: float, remove_leftovers: bool, **given: Any
) -> None:
    """Metadata rates with mdtest's options: its table first, then errors, percentiles and how far ranks were apart."""
    from leadline.run.engines.metadata import step_of

    directory = directory.resolve()
    if not directory.is_dir():
        raise UserError(f"{directory} is not a directory; make it first")
    cell = cell_of(given)
    for ranks in process_counts(processes):
        if engine == "mdtest":
            click.echo(_foreign(directory, ranks, given, timeout))
        else:
            leftovers = "remove" if remove_leftovers else "refuse"  # the user's directory, not leadline's
            _own({**step_of({**cell, "ranks": ranks}, directory), "leftovers": leftovers}, cell, timeout)


def process_counts(text: str) -> list[int]:
    """The counts of "1,4,16"; raises UserError."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise UserError(f'--np is "{text}"; give numbers of processes, such as 1,4,16')
    return [int(word) for word in words]


def cell_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """mdtest's options as settings of a cell; raises UserError."""
    from leadline.spec.units import parse_size

    if given["files_only"] and given["directories_only"]:
        raise UserError("-F and -D exclude each other; leave both out to have files and directories")
    plain = (
        "depth", "branching_factor", "items_per_directory", "items_per_rank", "unique_trees", "leaves_only", "rank_shift",
        "iterations", "pause", "naming", "driver", "iodepth", "drop_caches",
    )  # fmt: skip
    cell: dict[str, Any] = {name: given[name] for name in plain}
    sizes = {
        name: 0 if given[name] == "0" else parse_size(given[name]) for name in ("write_size", "read_size")
    }
    return cell | sizes | {
        "files": not given["directories_only"], "directories": not given["files_only"], "stonewall": given["stonewall"],
        "actions": [word for word in ACTION_FLAGS if given[f"only_{word}"]],
    }  # fmt: skip


def _own(step: Mapping[str, Any], cell: Mapping[str, Any], timeout_seconds: float) -> None:
    from leadline.formats.mdtest import write_summary
    from leadline.run.engines.engine_process import invocation_of, result_of
    from leadline.run.engines.metadata import phases_of
    from leadline.run.hosts.local import LocalHost

    with tempfile.TemporaryDirectory(prefix="leadline-mdtest-") as scratch:
        invocation = invocation_of(step, Path(scratch), timeout_seconds)
        completed = LocalHost().run(invocation, lambda process: None, lambda line: None)
    document, reason = result_of(completed)
    if document is None:
        sentence = str(reason).rpartition("engine_step.json: ")[2]
        raise UserError(
            completed.reason or sentence.replace('set leftovers to "remove"', "use --remove-leftovers")
        )
    phases = phases_of(document)
    click.echo(f"\n{described(document, cell)}\n")
    click.echo(write_summary(rates_of(phases), cell["iterations"]))
    click.echo("\n" + "\n".join(details(phases)))


def described(document: Mapping[str, Any], cell: Mapping[str, Any]) -> str:
    """What ran, as mdtest says it, and how it was named and driven."""
    items = document["items_per_rank"] * document["ranks"]
    depth = f", depth {cell['iodepth']}" if cell["driver"] == "io_uring" else ""
    said = f"{document['ranks']} tasks, {items} files/directories, {cell['naming']}, {cell['driver']}{depth}"
    asked = cell["items_per_rank"]
    if asked and document["items_per_rank"] != asked:
        said += f"\n-n {asked} is not a multiple of the directories: each task has {document['items_per_rank']} items"
    return said


def rates_of(phases: Sequence[Phase]) -> dict[str, list[float]]:
    """One rate an iteration, by operation."""
    rates: dict[str, list[float]] = {}
    for phase in phases:
        if phase.rate_last_done is not None:
            rates.setdefault(phase.operation, []).append(phase.rate_last_done)
    return rates


def details(phases: Sequence[Phase]) -> list[str]:
    """One line an operation: n, errors, 95 % interval of the mean rate, percentiles of all iterations together."""
    from leadline.analyse.intervals import t_half_width
    from leadline.store.histogram import Histogram

    percentiles = [f"p{percent:g} us" for percent in PERCENTS]
    table = [["Operation", "n", "failed", "mean rate +- 95 %", *percentiles, "first done /s"]]
    for operation in dict.fromkeys(phase.operation for phase in phases):
        same = [phase for phase in phases if phase.operation == operation]
        rates = [phase.rate_last_done for phase in same if phase.rate_last_done is not None]
        merged = Histogram.merge(phase.latency for phase in same if phase.latency is not None)
        first = [phase.rate_first_done for phase in same if phase.rate_first_done is not None]
        interval = f" +- {t_half_width(rates):,.0f}" if len(rates) > 1 else " (one iteration)"
        values = [
            f"{merged.percentile(percent / 100) / 1e3:.3g}" if enough(merged.total, percent) else "too few"
            for percent in PERCENTS
        ]
        mean_rate = f"{sum(rates) / len(rates):,.0f}{interval}" if rates else "none"
        first_rate = f"{sum(first) / len(first):,.0f}" if first else "none"
        table.append([operation, f"{merged.total:,}", _failed(same), mean_rate, *values, first_rate])
    return aligned(table)


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Lines with columns as wide as what stands in them: the first to the left, the others to the right."""
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines = []
    for row in table:
        others = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("   " + "   ".join([row[0].ljust(widths[0]), *others]))
    return lines


def enough(samples: int, percent: float) -> bool:
    """About 100 / (1 - p) samples for percentile p."""
    return samples >= 100 / (1 - percent / 100) * (1 - 1e-9)


def _failed(phases: Sequence[Phase]) -> str:
    errors: dict[str, int] = {}
    for phase in phases:
        for name, count in phase.errors.items():
            errors[name] = errors.get(name, 0) + count
    return ", ".join(f"{count:,} {name}" for name, count in errors.items()) or "0"


def _foreign(directory: Path, ranks: int, given: Mapping[str, Any], timeout_seconds: float) -> str:
    """The real mdtest with the same options; its own output."""
    import subprocess

    from leadline.formats.mdtest import read_summary

    argv = foreign_command(directory, ranks, given)
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=timeout_seconds, check=False)
    except subprocess.TimeoutExpired:
        raise UserError(f"mdtest did not end within {timeout_seconds:g} s; raise --timeout") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise UserError(f"mdtest ended with exit code {done.returncode}: {said[-1]}")
    summary = read_summary(done.stdout)
    if summary.ranks is not None and summary.ranks != ranks:
        raise UserError(
            f"mdtest ran with {summary.ranks} tasks instead of {ranks}; use the mpiexec of the MPI it was built with"
        )
    return done.stdout


def foreign_command(directory: Path, ranks: int, given: Mapping[str, Any]) -> list[str]:
    """mdtest's command line; raises UserError when mdtest or what starts it is missing, or an option is not mdtest's."""
    import shutil

    if given["naming"] != "full_path" or given["driver"] != "calls" or given["drop_caches"]:
        raise UserError(
            "--naming, --driver and --drop-caches are leadline's own; leave them out with --engine mdtest"
        )
    mdtest, launcher = shutil.which("mdtest"), shutil.which("mpiexec")
    if mdtest is None:
        raise UserError("mdtest is not on PATH; install it (it is part of IOR), or use --engine leadline")
    if ranks > 1 and launcher is None:
        raise UserError(
            "mpiexec is not on PATH, and mdtest needs it for several tasks; install the MPI that mdtest was built with"
        )
    values = {
        "-z": given["depth"], "-b": given["branching_factor"], "-I": given["items_per_directory"], "-n": given["items_per_rank"],
        "-N": given["rank_shift"], "-w": cell_of(given)["write_size"], "-e": cell_of(given)["read_size"], "-i": given["iterations"],
        "-p": round(given["pause"]), "-W": round(given["stonewall"]),
    }  # fmt: skip
    flags = {
        "-u": given["unique_trees"],
        "-L": given["leaves_only"],
        "-F": given["files_only"],
        "-D": given["directories_only"],
    }
    flags |= {flag: given[f"only_{word}"] for word, flag in ACTION_FLAGS.items()}
    argv = [mdtest, "-d", str(directory)]
    argv += [word for option, value in values.items() if value for word in (option, str(value))]
    argv += [flag for flag, chosen in flags.items() if chosen]
    return argv if ranks == 1 else [str(launcher), "-n", str(ranks), *argv]
