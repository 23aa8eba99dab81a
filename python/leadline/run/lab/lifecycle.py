"""A lab's life: brought up under its lock, standing while a run measures it, torn down from any state by any process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from leadline.errors import UserError
from leadline.run.lab.files import remove_tree
from leadline.run.lab.gate import close
from leadline.run.lab.holding import check_conditions, hold, prepare
from leadline.run.lab.journal import Journal
from leadline.run.lab.laboratory import Laboratory, LabTarget, Wishes
from leadline.run.lab.packages import require
from leadline.run.lab.parts import client_hosts
from leadline.run.lab.signals import ending_orderly, undisturbed
from leadline.run.lab.slow_disks import slow_disk
from leadline.run.lab.state import LabState, Ready, lab_state, locked, user
from leadline.run.lab.stuck_mounts import free_stuck_mounts
from leadline.run.lab.tools import Toolbox

Tell = Callable[[str], None]
BASIC_TOOLS = {
    "ip": "iproute2", "nsenter": "util-linux", "losetup": "mount", "mount": "mount", "umount": "mount",
}  # fmt: skip
BY_HAND = "hand"


def described(state: LabState) -> str:
    """What state a lab is in, in words."""
    who = user(state)
    used = f"; in use by {who}" if who else ""
    ready = Ready.read(state.ready)
    if ready is None:
        return f"half-made{used or f'; run leadline lab down {state.name}'}"
    whose = "" if ready.owner == BY_HAND else f" for {ready.owner}"
    return f"up{whose}, {ready.filesystem} at {ready.directory}{used}"


def check_root(what: str) -> None:
    """Raises UserError for everybody else."""
    if os.geteuid() != 0:
        raise UserError(
            f"{what} needs root, to mount and to make namespaces; run it with sudo, or measure a directory that is mounted already"
        )


def bring_up(
    name: str, target: LabTarget, wishes: Wishes, tell: Tell, owner: str = BY_HAND
) -> tuple[Ready, float]:
    """Up, and it stays up when this process ends; the time it took."""
    check_root(f"leadline lab up {name}")
    state = lab_state(name)
    with locked(state) as lock, ending_orderly():
        return _up(state, lock, target, wishes, tell, owner)


def tear_down(name: str) -> float:
    """Undoes whatever is there of a lab, half-made or whole; the time it took. Raises UserError when somebody uses it."""
    check_root(f"leadline lab down {name}")
    state = lab_state(name)
    with locked(state) as lock:
        if not state.folder.exists():
            raise UserError(f"{name} is not up; leadline lab status shows what is")
        return _down(state, lock)


@contextmanager
def standing(name: str, target: LabTarget, wishes: Wishes, tell: Tell, owner: str) -> Iterator[Ready]:
    """Up for the length of the block, whatever ends it; what a killed process of the same owner left goes first."""
    check_root(f'a campaign with [target] name = "{name}"')
    state = lab_state(name)
    with locked(state) as lock:
        if _left_by(state) == owner:
            tell(f"the interrupted run left the lab {name} behind; taking it down first")
            _down(state, lock)
        with ending_orderly():
            ready, seconds = _up(state, lock, target, wishes, tell, owner)
        try:
            tell(f"{name} is up after {seconds:.2f} s")
            yield ready
        finally:
            with undisturbed():
                tell(f"{name} is down after {_down(state, lock):.2f} s")


def clear_leavings(name: str, owner: str, tell: Tell) -> None:
    """Takes a lab down that a killed process of this owner left; raises UserError when somebody uses it."""
    state = lab_state(name)
    if _left_by(state) != owner:
        return
    with locked(state) as lock:
        if _left_by(state) == owner:  # the lock is waited for: meanwhile another may have brought up its own
            tell(f"the interrupted run left the lab {name} behind; taking it down first")
            _down(state, lock)


def _up(
    state: LabState, lock: int, target: LabTarget, wishes: Wishes, tell: Tell, owner: str
) -> tuple[Ready, float]:
    _refuse_what_is_there(state)
    check_conditions(state.name, target, wishes.conditions)
    require({**BASIC_TOOLS, **target.needs}, Toolbox(), tell)
    started = time.monotonic()
    state.folder.mkdir(mode=0o755)
    try:
        state.owner.write_text(owner, encoding="utf-8")
        disk = slow_disk(wishes.conditions)
        lab = Laboratory(state, Journal(state.journal, Toolbox().holding(lock)), tell, slow_disk=disk)
        prepared = prepare(lab, wishes)
        made = hold(lab, target.up(lab, wishes), wishes.conditions, prepared)
        ready = replace(
            made,
            hosts={**lab.parts, **client_hosts(made.clients), **made.hosts},
            servers={**lab.servers, **made.servers},
            owner=owner,
            up_seconds=time.monotonic() - started,
        )
        ready.write(state.ready)
    except BaseException:  # also Ctrl-C: a half-made lab is of no use to anybody
        with undisturbed():
            _down(state, lock)
        raise
    return ready, ready.up_seconds


def _down(state: LabState, lock: int) -> float:
    started = time.monotonic()
    close(state.folder)
    journal = Journal(state.journal, Toolbox().holding(lock))
    free_stuck_mounts(journal)
    journal.undo()
    remove_tree(state.folder)
    return time.monotonic() - started


def _refuse_what_is_there(state: LabState) -> None:
    if not state.folder.exists():
        return
    ready = Ready.read(state.ready)
    if ready is None:
        raise UserError(f"{state.name} is half-made; first run leadline lab down {state.name}")
    if ready.owner != BY_HAND:
        raise UserError(
            f"{state.name} was left behind by the run {ready.owner}; go on with that, or run leadline lab down {state.name}"
        )
    raise UserError(
        f"{state.name} is up already; measure it with --directory {ready.directory}, or run leadline lab down {state.name}"
    )


def _left_by(state: LabState) -> str | None:
    try:
        return state.owner.read_text(encoding="utf-8")
    except OSError:
        return None
