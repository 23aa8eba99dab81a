"""A sounding as a command of its own: `python -m leadline.run.consistency.worker FILE`, started by the engine of campaigns.

FILE says what is wished, where clients work and where results are written. The sentence of a sounding that cannot be goes to the
error output. Exit code 0: it was done, whatever was seen; 2: it could not be.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.run.consistency.clients import Station
from leadline.run.consistency.delays import Probing
from leadline.run.consistency.grid import named
from leadline.run.consistency.histories import Asked, FreeRun, sound_histories
from leadline.run.consistency.visibility import Sounding, sound
from leadline.store.histories import write_histories
from leadline.store.visibility import write_visibility

THERE_WITHIN_SECONDS = 60.0
"""A client may learn of a folder that another has made only when what it had cached is old."""


def main(path: Path) -> int:
    """All that is wished, one after the other."""
    wishes = json.loads(path.read_text(encoding="utf-8"))
    try:
        stations = [station_of(each) for each in wishes["stations"]]
        witness = station_of(wishes["witness"]) if wishes["witness"] else None
        _await_folders([*stations, *([witness] if witness else [])])
        whole = True
        if wishes["cells"]:
            whole = _sound_grid(wishes, stations, witness, Path(wishes["results"]["visibility"]))
        if whole and (wishes["histories_seconds"] or wishes["delays"]):
            _sound_histories(wishes, stations, witness, Path(wishes["results"]["histories"]))
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def station_of(document: Mapping[str, Any]) -> Station:
    """From the engine's file."""
    groups = tuple(document["groups"])
    return Station(document["name"], Path(document["directory"]), document["namespace"], groups)


def _await_folders(stations: Sequence[Station]) -> None:
    """Until every client sees the folder in which it is to work; raises UserError."""
    until = time.monotonic() + THERE_WITHIN_SECONDS
    for station in stations:
        while not station.directory.is_dir():
            if time.monotonic() > until:
                raise UserError(
                    f"{station.name} does not see {station.directory}, which another client has made, within "
                    f"{THERE_WITHIN_SECONDS:g} s; its mount shows another filesystem, or a cache that is older"
                )
            time.sleep(0.1)


def _sound_grid(
    wishes: Mapping[str, Any], stations: Sequence[Station], witness: Station | None, path: Path
) -> bool:
    """Whether all clients lived: with a mount that died nothing further can be asked."""
    sounding = Sounding(
        named(wishes["cells"]),
        wishes["trials"],
        wishes["patience_seconds"],
        wishes["lanes"],
        wishes["control"],
    )
    result = sound(wishes["label"], stations, witness, sounding, wishes["facts"], _progress)
    write_visibility(result, path)
    return result.settings["settled_seconds"] is not None


def _sound_histories(
    wishes: Mapping[str, Any], stations: Sequence[Station], witness: Station | None, path: Path
) -> None:
    seed = wishes["seed"]
    load = FreeRun(seconds=wishes["histories_seconds"], seed=seed) if wishes["histories_seconds"] else None
    probing = Probing(wishes["delays"], wishes["longest_delay_seconds"], seed) if wishes["delays"] else None
    asked = Asked(load, probing, wishes["patience_seconds"], wishes["control"])
    write_histories(path, sound_histories(wishes["label"], stations, witness, asked, wishes["facts"]))


def _progress(done: int, of: int) -> None:
    """A line now and then, for whoever shows how far it is."""
    sys.stdout.write(f"trial {done} {of}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
