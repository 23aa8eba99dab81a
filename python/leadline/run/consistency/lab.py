"""A target of the lab to be sounded: brought up with a client more than writes and reads, which is the witness, and taken down after."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from leadline.errors import UserError
from leadline.run.consistency.clients import Station
from leadline.run.lab.laboratory import Wishes
from leadline.run.lab.lifecycle import standing
from leadline.run.lab.registry import lab_target
from leadline.run.lab.state import Ready

SIZE_BYTES = 64 << 20
"""The grid's files are a few KiB each."""
OWNER = "leadline consistency"
"""Whose leavings are taken down first."""


@contextmanager
def with_lab_target(
    name: str, options: Mapping[str, str], clients: int, tell: Callable[[str], None]
) -> Iterator[tuple[str, list[Station], Station, dict[str, object]]]:
    """Up, and down whatever ends it; gives its label, the stations, the witness and the facts. Raises UserError."""
    wishes = Wishes(SIZE_BYTES, clients + 1, options=dict(options))
    with standing(name, lab_target(name), wishes, tell, OWNER) as ready:
        stations = _stations(name, ready, clients + 1)
        label = (
            f"{name} ({', '.join(f'{key}={value}' for key, value in options.items())})" if options else name
        )
        yield label, stations[:-1], stations[-1], _facts(name, ready)


def _stations(name: str, ready: Ready, wanted: int) -> list[Station]:
    if "://" in ready.directory:
        raise UserError(
            f"{name} has nothing to mount, and the grid makes calls on files; choose a target with a mount"
        )
    if len(ready.clients) < wanted:
        raise UserError(
            f"{name} has too few clients of its own, so nobody could see anything late; choose juicefs, glusterfs, moosefs or cephfs, "
            "or give two mounts (the same one twice with --control)"
        )
    names = [*(chr(ord("A") + number) for number in range(wanted - 1)), "witness"]
    return [
        Station(client, Path(seat.directory), seat.namespace, seat.groups)
        for client, seat in zip(names, ready.clients, strict=False)
    ]


def _facts(name: str, ready: Ready) -> dict[str, object]:
    return {"target": name, "target_facts": ready.facts}
