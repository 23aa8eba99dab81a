"""`leadline consistency MOUNT_A MOUNT_B [MOUNT_C...]`: does one client see what another did, how late, or is it lost."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from leadline.analyse.promises import Kept, Promise
    from leadline.run.consistency.visibility import Sounding
    from leadline.store.visibility import Visibility

UNDECIDED_EXIT_CODE = 2
MOUNTS_AT_MOST = 26
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
    help="Write every trial to this file.",
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
    promises: tuple[str, ...],
    control: bool,
    json_path: Path | None,
    html_path: Path | None,
) -> None:
    """Whether one client sees what another did: at once, how late, never, or lost for good.

    MOUNT_A, MOUNT_B ... are the same directory on different mounts, empty or leadline's own; with --target none is given. One
    client changes something; another, whose caches hold the old state, probes until it sees the change. A message orders
    the two, so no clock is trusted. The default set takes about a minute.
    """
    from leadline.analyse.promises import promised
    from leadline.run.consistency.grid import chosen
    from leadline.run.consistency.visibility import Sounding
    from leadline.run.lab.signals import ending_orderly
    from leadline.spec.units import parse_duration

    judges = [promised(name) for name in promises]
    sounding = Sounding(chosen(cells, mutations, probes), trials, parse_duration(patience), lanes, control)
    _check(mounts, target, options, witness)
    with ending_orderly():
        result = (
            _on_target(target, options, clients, sounding)
            if target is not None
            else _on_mounts(mounts, witness, sounding)
        )
    _deliver(result, judges, json_path, html_path)


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


def _on_mounts(mounts: Sequence[Path], witness: Path | None, sounding: Sounding) -> Visibility:
    from leadline.run.consistency.clients import Station
    from leadline.run.consistency.visibility import sound

    stations = [Station(name, path.absolute()) for name, path in zip(_names(), mounts, strict=False)]
    fresh = Station("witness", witness.absolute()) if witness else None
    label = " and ".join(str(path) for path in mounts)
    return sound(label, stations, fresh, sounding, {}, _progress)


def _on_target(name: str, options: Sequence[str], clients: int, sounding: Sounding) -> Visibility:
    from leadline.run.consistency.lab import on_lab_target

    given = {key: value for key, _, value in (each.partition("=") for each in options)}
    return on_lab_target(name, given, clients, sounding, click.echo, _progress)


def _names() -> list[str]:
    return [chr(ord("A") + number) for number in range(MOUNTS_AT_MOST)]


def _progress(done: int, of: int) -> None:
    """One line that counts, where somebody watches."""
    if sys.stderr.isatty():
        click.echo(f"\r{done} of {of} trials", nl=done == of, err=True)


def _deliver(
    result: Visibility, judges: Sequence[Promise], json_path: Path | None, html_path: Path | None
) -> None:
    from rich.console import Console

    from leadline.analyse.promises import kept
    from leadline.analyse.visibility import windows
    from leadline.report.visibility_terminal import show_visibility
    from leadline.store.visibility import write_visibility

    if json_path is not None:  # first: whatever goes wrong with pictures, what was seen is kept
        write_visibility(result, json_path)
        click.echo(f"Trials:  {shlex.quote(str(json_path))}")
    found = windows(result)
    judged = [kept(promise, found) for promise in judges]
    show_visibility(result, found, judged, Console(width=None if sys.stdout.isatty() else WIDTH_IN_FILES))
    if html_path is not None:
        from leadline.report.visibility_page import write_visibility_page

        click.echo(f"Report:  {shlex.quote(str(write_visibility_page(html_path, result, found, judged)))}")
    _exit(result, judged)


def _exit(result: Visibility, judged: Sequence[Kept]) -> None:
    from leadline.analyse.promises import Verdict

    verdicts = {each.verdict for each in judged}
    if Verdict.VIOLATED in verdicts:
        raise click.exceptions.Exit(1)
    if result.settings["settled_seconds"] is None or verdicts - {Verdict.HELD}:
        raise click.exceptions.Exit(UNDECIDED_EXIT_CODE)
