"""How likely an answer is stale so long after a change: one look by one client after each change by another, at a delay drawn before.

Who polls may refresh the cache that is measured, so nobody looks between the change and the one look. The baton orders both. The delay
between them is measured by this host's clock: that of the clients, or what the clocks of their hosts come to here (clocks.py).
"""

from __future__ import annotations

import heapq
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations

from leadline.run.consistency.baton import certain
from leadline.run.consistency.calls import at, stat
from leadline.run.consistency.clients import DOUBTS, Client, ClientLost, Reply
from leadline.run.consistency.mutations import MUTATIONS
from leadline.run.consistency.probes import PRIORS, PROBES, path_in
from leadline.store.histories import DelaySample
from leadline.store.visibility import Cell

MECHANISMS: Mapping[str, Cell] = {
    "unlink -> stat": Cell("unlink", "stat", "looked"),
    "overwrite -> size": Cell("overwrite", "size", "looked", "close"),
    "rename over -> open": Cell("rename over", "open", "read"),
    "append -> length": Cell("append", "size", "looked", "close"),
}
"""What is changed, and how it is looked for."""
SHORTEST_DELAY_SECONDS = 0.001
PROBES_A_SECOND = 40
"""Begun; each keeps two clients busy for some milliseconds."""
FILL_SHARE = 0.1
"""A change comes up to this share of the longest delay after the reader had looked: how old a cache is when something changes is random."""


@dataclass(frozen=True)
class Probing:
    """What is asked for."""

    probes: int = 150
    """Of each mechanism."""
    longest_delay_seconds: float = 2.0
    """Longer than the longest cache time, or its end is not seen."""
    seed: int = 0

    @property
    def longest_fill_seconds(self) -> float:
        """How old what the reader has cached may be when it is changed."""
        return FILL_SHARE * self.longest_delay_seconds


@dataclass(frozen=True)
class Probe:
    """One that is planned."""

    number: int
    mechanism: str
    writer: str
    reader: str
    fill_seconds: float
    """From the reader's look to the change."""
    delay_seconds: float
    """From the change to the reader's next look."""

    @property
    def cell(self) -> Cell:
        """The same in the words of the grid."""
        return MECHANISMS[self.mechanism]


@dataclass
class Delays:
    """What came of all probes."""

    samples: list[DelaySample] = field(default_factory=list)
    never_true: Counter[str] = field(default_factory=Counter)
    """Answers that were right neither before the change nor after it, by mechanism."""
    undecided: Counter[str] = field(default_factory=Counter)
    """Probes that did not come to an answer, by reason."""
    lost: ClientLost | None = None

    def give_up(self, reason: str) -> None:
        """Delays between hosts whose clocks cannot be compared are none."""
        self.undecided[reason] += len(self.samples)
        self.samples.clear()
        self.never_true.clear()


def planned(probing: Probing, clients: Sequence[str]) -> list[Probe]:
    """All probes; half of the delays are spread evenly and half by orders of magnitude, since nobody knows where caches end."""
    draw = random.Random(probing.seed)
    pairs = list(permutations(clients, 2))
    longest = probing.longest_delay_seconds
    mechanisms = list(MECHANISMS) * probing.probes
    return [
        Probe(
            number,
            mechanism,
            *pairs[(number // len(MECHANISMS)) % len(pairs)],
            fill_seconds=draw.uniform(0, probing.longest_fill_seconds),
            delay_seconds=draw.uniform(0, longest)
            if draw.random() < 0.5
            else SHORTEST_DELAY_SECONDS * (longest / SHORTEST_DELAY_SECONDS) ** draw.random(),
        )
        for number, mechanism in enumerate(mechanisms)
    ]


def perform(
    todo: Sequence[Probe],
    folder: str,
    clients: Mapping[str, Client],
    patience_seconds: float,
    on_probe: Callable[[int, int], None] = lambda done, of: None,
) -> Delays:
    """All probes, many at a time: what is due first is done next. A client that is lost ends it."""
    timetable = Timetable(folder, clients, patience_seconds)
    begin = time.monotonic()
    for place, probe in enumerate(todo):
        timetable.wait_for(begin + place / PROBES_A_SECOND, probe)
    try:
        while timetable.goes_on():
            on_probe(len(timetable.delays.samples), len(todo))
    except ClientLost as lost:
        timetable.delays.lost = lost
    return timetable.delays


Due = tuple[float, int, Callable[[], None]]
"""When something has to be done, the how manieth it is, and what."""


@dataclass
class Timetable:
    """What has to be done when, by one thread: the clients answer within a millisecond or so, and all waiting is for all probes at once."""

    folder: str
    clients: Mapping[str, Client]
    patience_seconds: float
    delays: Delays = field(default_factory=Delays)
    _begun: list[Due] = field(default_factory=list)
    _waiting: list[Due] = field(default_factory=list)
    _added: int = 0

    def wait_for(self, due: float, probe: Probe) -> None:
        """A probe to be begun then, or later when there is more to do than time."""
        self._add(self._waiting, due, lambda: self.prepare(probe))

    def goes_on(self) -> bool:
        """Does what is due next; False when nothing is left. What was begun has precedence: a late look is another delay than was drawn."""
        if not (self._begun or self._waiting):
            return False
        now = time.monotonic()
        queue = (
            self._begun
            if self._begun and self._begun[0][0] <= now
            else min(filter(None, (self._begun, self._waiting)))
        )
        due, _, work = heapq.heappop(queue)
        time.sleep(max(due - now, 0))
        work()
        return True

    def _add(self, queue: list[Due], due: float, work: Callable[[], None]) -> None:
        self._added += 1
        heapq.heappush(queue, (due, self._added, work))

    def prepare(self, probe: Probe) -> None:
        """The writer makes what is there before, and the reader looks until it sees it: now it is cached."""
        folder, writer, reader = self._place(probe), self.clients[probe.writer], self.clients[probe.reader]
        mutation, prior = MUTATIONS[probe.cell.mutation], PRIORS[probe.cell.prior]
        assert prior is not None
        made = writer.do([at(folder, "make_directory"), *mutation.set_up(folder)])
        there = reader.await_answer([stat(folder)], {"value": "directory"}, self.patience_seconds)
        right = certain(mutation.before.told(prior.what))
        calls = prior.calls(path_in(folder), ())
        if "failed" in made.last or not there.came:
            return self._undecide(made if "failed" in made.last else there)
        seen = reader.await_answer(calls, right, self.patience_seconds)
        if not seen.came:
            return self._undecide(seen)
        due = time.monotonic() + probe.fill_seconds
        return self._add(self._begun, due, lambda: self.change(probe, seen.ended_ns))

    def change(self, probe: Probe, filled_ns: int) -> None:
        """The writer changes it."""
        mutation = MUTATIONS[probe.cell.mutation]
        changed = self.clients[probe.writer].do(mutation.change(self._place(probe), probe.cell.writer_sync))
        if "failed" in changed.last:
            return self._undecide(changed)
        due = (
            changed.ended_ns / 1e9 + probe.delay_seconds
        )  # time.monotonic() is the clock that replies come to
        return self._add(self._begun, due, lambda: self.look(probe, filled_ns, changed.ended_ns))

    def look(self, probe: Probe, filled_ns: int, changed_ns: int) -> None:
        """The reader looks, once."""
        cell = probe.cell
        before, after = (
            certain(PROBES[cell.probe].right(subject))
            for subject in (MUTATIONS[cell.mutation].before, MUTATIONS[cell.mutation].after)
        )
        seen = self.clients[probe.reader].do(PROBES[cell.probe].look(path_in(self._place(probe))))
        if seen.last.get("failed") in DOUBTS:
            return self._undecide(seen)
        stale, delay_ns = seen.last != after, seen.started_ns - changed_ns
        sample = DelaySample(probe.mechanism, delay_ns, stale, probe.number, changed_ns - filled_ns)
        self.delays.samples.append(sample)
        self.delays.never_true[probe.mechanism] += stale and seen.last != before
        return None

    def _place(self, probe: Probe) -> str:
        return f"{self.folder}/delay-{probe.number}"

    def _undecide(self, reply: Reply) -> None:
        self.delays.undecided[reply.last.get("failed", "the state before was not seen")] += 1
