"""What `leadline consistency` runs, on mounts that are there or on a target of the lab, and the files in which it is kept."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from leadline.run.consistency.clients import Station
    from leadline.run.consistency.histories import Asked
    from leadline.run.consistency.visibility import Sounding
    from leadline.store.histories import Histories
    from leadline.store.visibility import Visibility

MOUNTS_AT_MOST = 26


@dataclass(frozen=True)
class Wanted:
    """The grid, and load or delayed probes; None for what is left out."""

    grid: Sounding | None
    asked: Asked | None


@dataclass(frozen=True)
class Found:
    """What came of them."""

    grid: Visibility | None
    histories: Histories | None


@dataclass(frozen=True)
class Files:
    """What is to be written, and where."""

    trials: Path | None
    html: Path | None
    histories: Path | None

    def keep(self, found: Found) -> None:
        """Writes what was seen."""
        from leadline.store.histories import write_histories
        from leadline.store.visibility import write_visibility

        if found.grid and self.trials is not None:
            write_visibility(found.grid, self.trials)
            click.echo(f"Trials:  {shlex.quote(str(self.trials))}")
        if found.histories and self.histories is not None:
            write_histories(self.histories, found.histories)
            click.echo(f"Histories:  {shlex.quote(str(self.histories))}")


@contextmanager
def on_mounts(mounts: Sequence[Path], witness: Path | None, wanted: Wanted) -> Iterator[Found]:
    """Those that are there, on this machine or, as HOST:DIRECTORY, on hosts reached by ssh; raises UserError."""
    from leadline.run.consistency.far import stations_at

    places = dict(zip(_names(), mounts, strict=False)) | ({"witness": witness} if witness else {})
    label = " and ".join(str(path) for path in mounts)
    with stations_at(places) as stations:
        fresh = stations.pop("witness", None)
        yield _sound(label, list(stations.values()), fresh, {}, wanted)


@contextmanager
def on_target(name: str, options: Sequence[str], clients: int, wanted: Wanted) -> Iterator[Found]:
    """Those of a target of the lab, which goes down after the block: a Ctrl-C meanwhile takes nothing away that was told. Raises
    UserError."""
    from leadline.run.consistency.lab import with_lab_target

    given = {key: value for key, _, value in (each.partition("=") for each in options)}
    with with_lab_target(name, given, clients, click.echo) as (label, stations, fresh, facts):
        yield _sound(label, stations, fresh, facts, wanted)


def _sound(
    label: str, stations: Sequence[Station], witness: Station | None, facts: Mapping[str, Any], wanted: Wanted
) -> Found:
    """The grid first: it is ordered by cause and effect, and the load comes to caches as cold as they were."""
    from leadline.run.consistency.histories import sound_histories
    from leadline.run.consistency.visibility import sound

    grid = sound(label, stations, witness, wanted.grid, facts, _progress) if wanted.grid else None
    rest = sound_histories(label, stations, witness, wanted.asked, facts, _say) if wanted.asked else None
    return Found(grid, rest)


def _names() -> list[str]:
    return [chr(ord("A") + number) for number in range(MOUNTS_AT_MOST)]


def _progress(done: int, of: int) -> None:
    """One line that counts, where somebody watches."""
    if sys.stderr.isatty():
        click.echo(f"\r{done} of {of} trials", nl=done == of, err=True)


def _say(sentence: str) -> None:
    """What is going on, where somebody watches."""
    if sys.stderr.isatty():
        click.echo(f"\r{sentence}\x1b[K", nl=False, err=True)
