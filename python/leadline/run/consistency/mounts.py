"""The mounts that clients work on: different ones, of one filesystem, writable, and cleaned up whatever happened."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leadline.errors import UserError
from leadline.run.consistency.calls import at, in_words, stat
from leadline.run.consistency.clients import Client, Station
from leadline.run.consistency.far_directories import FarClaim, facts_of, look_far
from leadline.run.layouts import OWN_PREFIX
from leadline.run.observe.machine import Machine
from leadline.run.observe.mounts import find_mount
from leadline.run.targets.work_directory import WorkDirectory, check_directory, is_marked, remove_own_folders

if TYPE_CHECKING:
    from leadline.run.consistency.far import Far

FOLDER_PREFIX = f"{OWN_PREFIX}visibility-"
REMOVED_WITHIN_SECONDS = 5.0
"""A client may list a folder as it was a while ago; what it does not know it cannot remove yet."""


def check_distinct(stations: Sequence[Station]) -> None:
    """Raises UserError when two stations lie on one mount: they would share its caches, and nothing could be stale."""
    seen: dict[tuple[str, str], Station] = {}
    for station in stations:
        kernel, devices = _devices(station)
        for device in devices - {""}:
            other = seen.setdefault((kernel, device), station)
            if other is not station:
                raise UserError(
                    f"{other.where} and {station.where} lie on the same mounted filesystem (device {device}), where both are one "
                    "client with one cache, so nothing can be stale; mount it twice with caches of their own, or say --control "
                    "to run it as the control that must hold everything"
                )


def _devices(station: Station) -> tuple[str, set[str]]:
    """Under which kernel, since one machine may have several names, and what its devices are there."""
    if station.far:
        sight = look_far(station.far, station.directory)
        return sight.kernel, {sight.device, sight.mount.device if sight.mount else ""}
    mount = find_mount(Machine(), station.directory)
    kernel = Machine().text("/proc/sys/kernel/random/boot_id") or ""
    return kernel, {str(station.directory.stat().st_dev), mount.device if mount else ""}


@dataclass
class Claim:
    """A folder of leadline's own, in directories that are marked."""

    folder: str
    hangs: bool = False
    """Set when a mount does not answer any more: cleaning up would hang as well, and is left to the next run."""


@contextmanager
def claimed(stations: Sequence[Station]) -> Iterator[Claim]:
    """A new folder, in directories that were checked and marked as leadline's own; removed at the end, and what a killed leadline
    had left is removed first. All directories are one, so the first station does it for all. Raises UserError."""
    here = [station for station in stations if station.far is None]
    for station in stations:
        if station.far:
            look_far(station.far, station.directory)
        else:
            check_directory(station.directory)
    claim = Claim(FOLDER_PREFIX + secrets.token_hex(4))
    first = stations[0]
    with _claimed_there(first, first.far, claim) if first.far else _claimed_here(first, here, claim):
        yield claim


@contextmanager
def _claimed_here(first: Station, here: Sequence[Station], claim: Claim) -> Iterator[None]:
    work = WorkDirectory(first.directory)
    work.prepare()
    try:
        (first.directory / claim.folder).mkdir()
        yield
    finally:
        if not claim.hangs:
            _clean_up(work, here)


@contextmanager
def _claimed_there(first: Station, far: Far, claim: Claim) -> Iterator[None]:
    held = FarClaim(far, first.directory, claim.folder)
    try:
        yield
    finally:
        held.release(leave=claim.hangs)


def _clean_up(work: WorkDirectory, stations: Sequence[Station]) -> None:
    """By whichever client still can."""
    until = time.monotonic() + REMOVED_WITHIN_SECONDS
    while any(_left(station.directory) for station in stations) and time.monotonic() < until:
        for station in stations:
            if is_marked(station.directory):
                remove_own_folders(station.directory)
        time.sleep(0.05)
    work.clean_up()


def _left(directory: Path) -> bool:
    try:
        return is_marked(directory) and any(directory.glob(f"{OWN_PREFIX}*"))
    except OSError:
        return False


def check_shared(folder: str, clients: Sequence[Client], patience_seconds: float) -> None:
    """Raises UserError unless every client sees the folder that the first one made, and may write into it."""
    for number, client in enumerate(clients):
        seen = client.await_answer([stat(folder)], {"value": "directory"}, patience_seconds)
        if not seen.came:
            raise UserError(
                f"{client.station.where} does not show what is written in {clients[0].station.where} "
                f"(after {patience_seconds:g} s: {in_words(seen.last)}); give directories that are the same one on all mounts"
            )
        made = client.do([at(f"{folder}/written-by-{number}", "make_directory")]).last
        if "failed" in made:
            raise UserError(
                f"{client.station.where} cannot be written ({made['failed']}); every client has to make changes: mount it writable"
            )


def described(station: Station) -> dict[str, Any]:
    """JSON-ready facts about a station's mount."""
    if station.far:
        sight = look_far(station.far, station.directory)
        told = {"name": station.name, "directory": str(station.directory), "host": station.far.name}
        return {**told, "namespace": None, **facts_of(sight)}
    mount = find_mount(Machine(), station.directory)
    facts: dict[str, Any] = {
        "name": station.name,
        "directory": str(station.directory),
        "device": station.directory.stat().st_dev,
        "namespace": station.namespace,
    }
    if mount is not None:
        options = [*mount.options, *mount.super_options]
        facts |= {"filesystem": mount.type, "source": mount.source, "options": list(dict.fromkeys(options))}
    return facts
