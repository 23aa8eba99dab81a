"""A folder of leadline's own in an object store, which is gone afterwards: also, by the next run, after `kill -9`.

Its marker says which process made it. Folders whose process still lives, that lie there on purpose, or that another machine made, are
left where they are.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from leadline.errors import UserError
from leadline.run.hosts.supervised import SupervisedHost
from leadline.run.lab.processes import alive, identity_of
from leadline.run.object_requests import ask
from leadline.spec.object_store import ObjectStore

PREFIX = "leadline-objbench-"
"""The engine refuses folders that are named otherwise (crates/leadline-objects/src/names.rs)."""
FORMAT = "leadline objbench 1"
SURVEY_SECONDS = 60.0
REMOVAL_SECONDS = 900.0

Tell = Callable[[str], None]


@contextmanager
def own_folder(
    store: ObjectStore, keep: bool, tell: Tell, host: SupervisedHost | None = None
) -> Iterator[str]:
    """Removes what dead runs left, makes a folder and removes it in the end; raises UserError where the store cannot be used.

    `host` is who reaches the store, where that is not this machine.
    """
    remove_leavings(store, tell, host)
    folder = f"{PREFIX}{secrets.token_hex(4)}/"
    claim(store, folder, keep, host)
    try:
        yield folder
    finally:
        if keep:
            tell(f"{folder} stays in {store.shown}; remove it by hand")
        else:
            remove(store, folder, tell, host)


def claim(store: ObjectStore, folder: str, keep: bool = False, host: SupervisedHost | None = None) -> None:
    """Makes the folder by its marker; raises UserError where something lies in it."""
    step = {"workload": "object_folder", "action": "claim", "folder": folder, "marker": marker(keep)}
    ask(store, step, SURVEY_SECONDS, host)


def remove_leavings(store: ObjectStore, tell: Tell, host: SupervisedHost | None = None) -> None:
    """Of runs that were killed here."""
    step = {"workload": "object_folder", "action": "survey"}
    found = ask(store, step, SURVEY_SECONDS, host).result["folders"]
    for each in found:
        fate = fate_of(each["marker"])
        if fate == "dead":
            tell(f"{each['folder']} was left by a run that was killed; it is removed")
            remove(store, each["folder"], tell, host)
        elif fate == "unknown":
            tell(f"{each['folder']} was left by nobody that this machine knows; it stays")


def remove(store: ObjectStore, folder: str, tell: Tell, host: SupervisedHost | None = None) -> None:
    """What leadline made in the folder; tells what somebody else put there."""
    step = {"workload": "object_folder", "action": "remove", "folder": folder}
    try:
        left = ask(store, step, REMOVAL_SECONDS, host).result
    except UserError as error:
        tell(f"{folder} could not be removed: {error}; the next run on this machine tries again")
        return
    if left["foreign"]:
        tell(
            f"{folder} still holds {left['foreign']} objects that leadline did not make, such as {left['foreign_names'][0]}; they stay"
        )


def marker(keep: bool) -> str:
    """Which process, on which machine; two machines with the same name are told apart by their boot."""
    made: Mapping[str, Any] = {
        "format": FORMAT, "host": socket.gethostname(), "process": identity_of(os.getpid()), "keep": keep
    }  # fmt: skip
    return json.dumps(made)


def fate_of(text: str | None) -> str:
    """ "alive", "kept", "dead", or "unknown" for what this machine cannot judge."""
    try:
        document = json.loads(text or "")
        if document["format"] != FORMAT or document["host"] != socket.gethostname():
            return "unknown"
        if document["keep"]:
            return "kept"
        return "alive" if alive(str(document["process"])) else "dead"
    except (ValueError, KeyError, TypeError):
        return "unknown"
