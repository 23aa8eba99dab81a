"""Many trials at once: each lane has clients of its own on every mount and does one trial after another.

Trials are in different folders and mostly wait, so lanes do not slow each other down; what they share is the mount, as applications do.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import permutations
from queue import Empty, SimpleQueue

from leadline.run.consistency.baton import attempt
from leadline.run.consistency.clients import Client, ClientLost, Station
from leadline.store.visibility import Cell, Ending, Trial

LOOK_AGAIN_SECONDS = 0.2


@dataclass(frozen=True)
class Assignment:
    """A trial to be done: where, and who."""

    cell: Cell
    folder: str
    writer: str
    reader: str


def assignments(
    cells: Sequence[Cell], trials: int, stations: Sequence[Station], folder: str
) -> list[Assignment]:
    """In rounds, so that what changes with time touches all cells alike; writers and readers take turns."""
    pairs = list(permutations((station.name for station in stations), 2))
    return [
        Assignment(cell, f"{folder}/{turn}-{number}", *pairs[(turn + number) % len(pairs)])
        for turn in range(trials)
        for number, cell in enumerate(cells)
    ]


@dataclass
class Lanes:
    """Trials under way. Once a client is lost, what was not done yet is undecided: nobody knows what it would have been."""

    stations: Sequence[Station]
    patience_seconds: float
    on_trial: Callable[[int], None]
    lost: ClientLost | None = None
    done: dict[Assignment, Trial] = field(default_factory=dict)
    _stop: threading.Event = field(default_factory=threading.Event)

    def perform(self, todo: Sequence[Assignment], lanes: int) -> list[Trial]:
        """All of them, in their order; Ctrl-C ends it after the trials in flight."""
        queue: SimpleQueue[Assignment] = SimpleQueue()
        for each in todo:
            queue.put(each)
        with ThreadPoolExecutor(max_workers=lanes) as pool:
            under_way = {pool.submit(self._lane, queue) for _ in range(min(lanes, len(todo)))}
            try:
                while under_way:
                    finished, under_way = wait(under_way, LOOK_AGAIN_SECONDS, FIRST_COMPLETED)
                    for lane in finished:
                        lane.result()
                    self.on_trial(len(self.done))
            finally:
                self._stop.set()
        return [self.done.get(each, self._not_done(each)) for each in todo]

    def _lane(self, queue: SimpleQueue[Assignment]) -> None:
        try:
            with clients_at(self.stations) as clients:
                while not self._stop.is_set():
                    self._one(queue.get_nowait(), clients)
        except Empty:
            return
        except ClientLost as lost:
            if self.lost is None or lost.hangs:  # that one hangs matters more than who was lost first
                self.lost = lost
            self._stop.set()

    def _one(self, each: Assignment, clients: dict[str, Client]) -> None:
        writer, reader = clients[each.writer], clients[each.reader]
        self.done[each] = attempt(each.cell, each.folder, writer, reader, self.patience_seconds)

    def _not_done(self, each: Assignment) -> Trial:
        return Trial(
            each.cell, each.writer, each.reader, Ending.UNDECIDED, reason=str(self.lost or "not done")
        )


@contextmanager
def clients_at(stations: Sequence[Station]) -> Iterator[dict[str, Client]]:
    """A new client at each station, by its name."""
    with ExitStack() as stack:
        clients: dict[str, Client] = {}
        for station in stations:
            clients[station.name] = client = Client(station)
            stack.callback(client.close)
        yield clients
