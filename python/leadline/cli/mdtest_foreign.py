"""The real mdtest, where it is installed, with the options that `leadline mdtest` was given: for whoever wants to cross-check."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leadline.errors import UserError

ACTION_FLAGS = {"create": "-C", "stat": "-T", "read": "-E", "rename": "-U", "remove": "-r"}
"""What is done -> mdtest's option to choose it."""


def foreign_output(
    directory: Path, ranks: int, given: Mapping[str, Any], sizes: Mapping[str, int], timeout_seconds: float
) -> str:
    """Of the real mdtest with the same options; raises UserError."""
    import subprocess

    from leadline.formats.mdtest import read_summary

    argv = foreign_command(directory, ranks, given, sizes)
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


def foreign_command(
    directory: Path, ranks: int, given: Mapping[str, Any], sizes: Mapping[str, int]
) -> list[str]:
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
        "-N": given["rank_shift"], "-w": sizes["write_size"], "-e": sizes["read_size"], "-i": given["iterations"],
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
