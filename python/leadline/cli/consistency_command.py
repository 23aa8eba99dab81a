"""`leadline consistency MOUNT_A MOUNT_B [MOUNT_C...]`: does one client see what another did, how late, or is it lost."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leadline.cli.consistency_sounding import MOUNTS_AT_MOST, Files, Found, Wanted, on_mounts, on_target

if TYPE_CHECKING:
    from leadline.analyse.promises import Kept, Promise
    from leadline.run.consistency.delays import Probing

UNDECIDED_EXIT_CODE = 2
HISTORIES_BY_THEMSELVES = "20s"
"""How long they run where nothing else does."""
WIDTH_IN_FILES = 140
"""Where the terminal does not say how wide it is, nothing needs to be wrapped tightly."""


@click.command("consistency")
@click.argument("mounts", nargs=-1, metavar="MOUNT_A MOUNT_B [MOUNT_C...]", type=click.Path(path_type=Path))
@click.option(
    "--target",
    metavar="NAME",
    help="Bring up a target of the lab in place of mounts, and take it down. Needs root.",
)
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="A mount or format option of the target in its own words.",
)
@click.option(
    "--clients",
    type=click.IntRange(min=2),
    default=2,
    show_default=True,
    help="Mounts of the target that write and read; one more is the witness.",
)
@click.option(
    "--witness",
    type=click.Path(path_type=Path),
    help="A further mount that looks at nothing before the end: what it misses is lost.",
)
@click.option(
    "--cells",
    type=click.Choice(["default", "all"]),
    default="default",
    show_default=True,
    help="Which combinations of change, probe, caches and syncs.",
)
@click.option("--mutation", "mutations", multiple=True, help="Only cells with this change; repeatable.")
@click.option("--probe", "probes", multiple=True, help="Only cells with this probe; repeatable.")
@click.option("--trials", type=click.IntRange(min=1), default=3, show_default=True, help="Of each cell.")
@click.option(
    "--patience",
    default="5s",
    show_default=True,
    metavar="DURATION",
    help="How long a change is waited for; longer than the longest cache time.",
)
@click.option("--lanes", type=click.IntRange(1, 64), default=8, show_default=True, help="Trials at a time.")
@click.option(
    "--histories",
    metavar="DURATION",
    help="Also let every client change and read many objects at random for so long, and judge what all of them saw.",
)
@click.option(
    "--delays",
    type=click.IntRange(min=1),
    metavar="N",
    help="Also look once after each of N changes of four sorts, at random delays: how likely is a stale answer.",
)
@click.option(
    "--longest-delay",
    default="2s",
    show_default=True,
    metavar="DURATION",
    help="Of --delays; longer than the longest cache time.",
)
@click.option(
    "--only",
    type=click.Choice(["grid", "histories", "delays"]),
    help="Leave the other two out.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    help="Of each client, for --histories.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Decides what is drawn at random.",
)
@click.option(
    "--keep-histories",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep every operation of --histories there, a file a client; `leadline-engine check` judges them again.",
)
@click.option(
    "--histories-json",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write what came of --histories and --delays to this file.",
)
@click.option(
    "--promise",
    "promises",
    multiple=True,
    metavar="NAME",
    help="posix, close-to-open, commit, locks, eventual or bounded=1s; repeatable. Exit code 0 held, 1 violated, 2 undecided.",
)
@click.option(
    "--control",
    is_flag=True,
    help="The mounts are one filesystem of this machine seen twice: the control, which must hold everything.",
)
@click.option(
    "--json",
    "json_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write every trial of the grid to this file.",
)
@click.option(
    "--html",
    "html_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the matrix as one HTML file.",
)
def command(
    mounts: tuple[Path, ...],
    target: str | None,
    options: tuple[str, ...],
    clients: int,
    witness: Path | None,
    cells: str,
    mutations: tuple[str, ...],
    probes: tuple[str, ...],
    trials: int,
    patience: str,
    lanes: int,
    histories: str | None,
    delays: int | None,
    longest_delay: str,
    only: str | None,
    workers: int,
    seed: int,
    keep_histories: Path | None,
    histories_json: Path | None,
    promises: tuple[str, ...],
    control: bool,
    json_path: Path | None,
    html_path: Path | None,
) -> None:
    """Whether one client sees what another did: at once, how late, never, or lost for good.

    MOUNT_A, MOUNT_B ... are the same directory on different mounts, empty or leadline's own; HOST:DIRECTORY is on a host that ssh
    reaches. With --target none is given. One
    client changes something; another, whose caches hold the old state, probes until it sees the change. A message orders
    the two, so no clock is trusted. The default set takes about a minute.
    """
    from leadline.analyse.promises import promised
    from leadline.run.consistency.grid import chosen
    from leadline.run.consistency.histories import Asked, FreeRun
    from leadline.run.consistency.visibility import Sounding
    from leadline.run.lab.signals import ending_orderly
    from leadline.spec.units import parse_duration

    judges = [promised(name) for name in promises]
    patience_seconds = parse_duration(patience)
    load_seconds = parse_duration(histories or (HISTORIES_BY_THEMSELVES if only == "histories" else "0s"))
    load = FreeRun(load_seconds, workers, seed) if load_seconds and only in (None, "histories") else None
    probing = _probing(delays, only, parse_duration(longest_delay), seed)
    grid = Sounding(chosen(cells, mutations, probes), trials, patience_seconds, lanes, control)
    asked = Asked(load, probing, patience_seconds, control, keep_histories) if load or probing else None
    wanted = Wanted(grid if only in (None, "grid") else None, asked)
    _check(mounts, target, options, witness)
    _check_files(wanted, json_path, html_path, keep_histories, histories_json)
    sounded = (
        on_target(target, options, clients, wanted)
        if target is not None
        else on_mounts(mounts, witness, wanted)
    )
    with ending_orderly(), sounded as found:
        _deliver(found, judges, Files(json_path, html_path, histories_json))


def _probing(delays: int | None, only: str | None, longest_delay_seconds: float, seed: int) -> Probing | None:
    from leadline.errors import UserError
    from leadline.run.consistency.delays import Probing

    if longest_delay_seconds <= 0:
        raise UserError("--longest-delay must be longer than 0 s")
    if only == "delays":
        return Probing(delays or Probing().probes, longest_delay_seconds, seed)
    return Probing(delays, longest_delay_seconds, seed) if delays and only is None else None


def _check_files(
    wanted: Wanted,
    json_path: Path | None,
    html_path: Path | None,
    keep_histories: Path | None,
    histories_json: Path | None,
) -> None:
    """What is asked for must be made by what is run."""
    from leadline.errors import UserError

    if wanted.grid is None and (json_path or html_path):
        raise UserError(
            "--json and --html hold the grid, which --only leaves out; --histories-json holds the rest"
        )
    if wanted.asked is None and histories_json:
        raise UserError("--histories-json holds what --histories and --delays saw; ask for one of them")
    if keep_histories and (wanted.asked is None or wanted.asked.load is None):
        raise UserError("--keep-histories keeps what --histories records; ask for it, as in --histories 20s")


def _check(mounts: Sequence[Path], target: str | None, options: Sequence[str], witness: Path | None) -> None:
    from leadline.errors import UserError

    if target is not None and (mounts or witness):
        raise UserError("--target brings its own mounts up; give mounts or --target, not both")
    if target is None and len(mounts) < 2:
        raise UserError(
            "two mounts are needed, the same directory on both (leadline consistency /mnt/a/work /mnt/b/work), or --target NAME"
        )
    if len(mounts) > MOUNTS_AT_MOST:
        raise UserError(f"at most {MOUNTS_AT_MOST} mounts take part, one a letter; {len(mounts)} were given")
    if target is None and options:
        raise UserError("--option goes with --target; mounts that are there already have theirs")


def _deliver(found: Found, judges: Sequence[Promise], files: Files) -> None:
    from rich.console import Console

    from leadline.analyse.ladder import climb
    from leadline.analyse.promises import kept
    from leadline.analyse.visibility import windows

    files.keep(found)  # first: whatever goes wrong with pictures, what was seen is kept
    cells = windows(found.grid) if found.grid else []
    ladder = climb([found.histories.report]) if found.histories else ()
    judged = [kept(promise, cells, ladder) for promise in judges]
    console = Console(width=None if sys.stdout.isatty() else WIDTH_IN_FILES)
    if found.grid:
        from leadline.report.visibility_terminal import show_visibility

        show_visibility(found.grid, cells, () if found.histories else judged, console)
    if found.histories:
        from leadline.analyse.staleness import staleness
        from leadline.report.histories_terminal import show_histories

        show_histories(found.histories, ladder, staleness(found.histories.delays), judged, console)
    if found.grid and files.html is not None:
        from leadline.report.visibility_page import write_visibility_page

        page = write_visibility_page(files.html, found.grid, cells, judged)
        click.echo(f"Report:  {shlex.quote(str(page))}")
    _exit(found, judged)


def _exit(found: Found, judged: Sequence[Kept]) -> None:
    from leadline.analyse.ladder import Verdict

    verdicts = {each.verdict for each in judged}
    if Verdict.VIOLATED in verdicts:
        raise click.exceptions.Exit(1)
    cut_short = found.grid is not None and found.grid.settings["settled_seconds"] is None
    cut_short |= found.histories is not None and not found.histories.report["whole"]
    if cut_short or verdicts - {Verdict.HELD}:
        raise click.exceptions.Exit(UNDECIDED_EXIT_CODE)
