"""Where the clients of a step work: folders on the mount, one a client where there are several, or names that only an engine knows.

Files that no mount shows (an NFS export reached by libnfs, an RBD image) cannot be looked at. They start from nothing when their
target is brought up, so what has been written since is remembered here.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from typing import Any

from leadline.errors import UserError
from leadline.plan.consistency import mounts_needed
from leadline.plan.steps import OF_OBJECTS, Layout, Step
from leadline.run.grounds import Ground
from leadline.run.layouts import (
    CONSISTENCY,
    client_folder,
    data_folder,
    layout_present,
    remove_other_layouts,
    tree_folder,
)
from leadline.run.observe.machine import Machine
from leadline.run.observe.requests import find_request_counters
from leadline.run.seams import Client, Outcome, Place


def files_present(layout: Layout, ground: Ground) -> bool:
    """Whether every file of the layout is there, whole."""
    if layout.ioengine:
        held = ground.written.get(layout.key)
        return held is not None and held.jobs >= layout.jobs and held.clients >= layout.clients
    return layout_present(layout, ground.directory)


def note_written(step: Step, ground: Ground, outcomes: Iterable[Outcome]) -> None:
    """Remembers a layout that every client has written to its end."""
    if step.layout is not None and step.layout.ioengine and not any(each.reason for each in outcomes):
        ground.written[step.layout.key] = step.layout


def places_for(step: Step, ground: Ground) -> list[Place]:
    """One a client that takes part, first things removed and made; raises UserError when the step cannot be performed here."""
    if step.files == "mounts":
        _check_mounted(ground)
        return [_mounts_place(step, ground)]
    clients = _taking_part(step, ground)
    layout = step.layout
    if step.files == "tree":
        _check_mounted(ground)
        return _tree_places(step, clients, ground)
    if step.files == "judged":
        _check_mounted(ground)
        return _judged_places(clients, ground)
    if step.files == "pair":
        return _pair_places(clients, ground)
    if step.files in OF_OBJECTS:
        return _object_places(clients, ground)
    if step.files in ("none", "own") or layout is None or layout.ioengine:
        return [_scratch_place(client, ground) for client in clients]
    _check_mounted(ground)
    remove_other_layouts(ground.directory, layout)
    if step.files == "fresh":
        shutil.rmtree(data_folder(ground.directory, layout), ignore_errors=True)
    return [_place(client, number, layout, ground) for number, client in enumerate(clients, 1)]


def _check_mounted(ground: Ground) -> None:
    if not ground.mounted and not ground.accesses:
        raise UserError(
            f"{ground.name} is an object store with no files in it to measure; take another target"
        )
    if not ground.mounted:
        served = ", ".join(f'"{name}"' for name in ground.accesses)
        raise UserError(
            f"{ground.name} is not mounted; it is reached by ioengine = {served}, which [target] can set for it alone"
        )


def _tree_places(step: Step, clients: Sequence[Client], ground: Ground) -> list[Place]:
    """One folder for all, which each sees through its own mount. Its name is of this step alone: under one that was there a moment
    ago, another client may still see what has been removed.
    """
    name = tree_folder(ground.directory, step.ordinal).name
    return [
        Place(client.directory / name, client.name, ground.accesses, name, number, _counting(client))
        for number, client in enumerate(clients)
    ]


def _mounts_place(step: Step, ground: Ground) -> Place:
    """One folder for all, of this step alone, and one command that works in it through the mounts of all."""
    wanted = max(mounts_needed(step.cell), 1)
    if wanted > len(ground.clients):
        raise UserError(
            f"{ground.name} has {_clients(len(ground.clients))} where {wanted} are needed, the witness included, so nobody could be late; "
            "take a target whose clients have mounts of their own (leadline lab list), or set control = true"
        )
    name = tree_folder(ground.directory, step.ordinal, CONSISTENCY).name
    clients = ground.clients[:wanted]
    return Place(clients[0].directory / name, clients[0].name, ground.accesses, name, clients=clients)


def _judged_places(clients: Sequence[Client], ground: Ground) -> list[Place]:
    """One folder for all, which each sees through its own mount."""
    name = data_folder(ground.directory, None).name
    return [
        Place(client.directory / name, client.name, ground.accesses, name, number)
        for number, client in enumerate(clients)
    ]


def _pair_places(clients: Sequence[Client], ground: Ground) -> list[Place]:
    """No files: each needs to know at which address the others are."""
    addresses = tuple(address for each in clients if (address := ground.addresses.get(each.name)))
    return [
        Place(client.directory, client.name, number=number, addresses=addresses)
        for number, client in enumerate(clients)
    ]


def _object_places(clients: Sequence[Client], ground: Ground) -> list[Place]:
    """Each in a folder of its own in the store."""
    if any(client.name not in ground.buckets for client in clients):
        raise UserError(
            f"{ground.name} has no object store; take a target with `url`, a directory, or the lab's s3 or juicefs"
        )
    return [
        Place(client.directory, client.name, number=number, bucket=ground.buckets[client.name])
        for number, client in enumerate(clients)
    ]


def _counting(client: Client) -> dict[str, Any]:
    """Looked for on this machine only: another one may have mounted the same filesystem in another way."""
    counters = find_request_counters(Machine(), client.directory) if client.machine == "local" else None
    return counters.step_fields() if counters else {}


def _taking_part(step: Step, ground: Ground) -> tuple[Client, ...]:
    if step.clients > len(ground.clients):
        raise UserError(
            f"{ground.name} has {_clients(len(ground.clients))} where {step.clients} are asked for; lower `clients`, or list more [hosts]"
        )
    return ground.clients[: step.clients]


def _scratch_place(client: Client, ground: Ground) -> Place:
    data = data_folder(ground.directory, None)
    return Place(data, client.name, ground.accesses, data.name)


def _place(client: Client, number: int, layout: Layout, ground: Ground) -> Place:
    """Made through the client's own mount, so that none has to hear of another's folder first."""
    data = data_folder(client.directory, layout)
    within = data.name
    if layout.clients:
        data, within = data / client_folder(number), f"{data.name}/{client_folder(number)}"
        data.mkdir(exist_ok=True)
    return Place(data, client.name, ground.accesses, within)


def _clients(count: int) -> str:
    return "1 client" if count == 1 else f"{count} clients"
