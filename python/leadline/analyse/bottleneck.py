"""What a cell was bound by, in one word of five, as the counters beside it say: how far each thing that has a limit was used up.

The utilisation law does the rest: what is used to a share U of its limit lets the throughput grow to 1/U of what it is, at most.
What the model expected stands beside it (analyse/prediction/beside.py), and where the two differ, that is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from leadline.analyse.participants import HostUse
from leadline.analyse.prediction.stations import NETWORK, Resource
from leadline.analyse.results import CellResult, Results
from leadline.analyse.wording import digits, percent

USED_UP = 0.85
"""Of a limit: headers, ramps and the time between two requests take the rest."""
QUEUED = 2.0
"""Requests at a disk that is busy all the time: with fewer it may only be answering one after the other, as a lone request does."""


class Bound(StrEnum):
    """What there was no more of."""

    NETWORK = "network"
    DISK = "disk"
    CLIENT_CPU = "client CPU"
    SERVER_CPU = "server CPU"
    LATENCY = "software latency"
    """Nothing was used up: requests spent their time on the way, one after the other."""


_OF_PART = {
    **dict.fromkeys(NETWORK, Bound.NETWORK),
    Resource.DISK: Bound.DISK,
    Resource.CLIENT_SOFTWARE: Bound.CLIENT_CPU,
    Resource.SERVER_SOFTWARE: Bound.SERVER_CPU,
}
PLURAL = "disks"


@dataclass(frozen=True)
class Use:
    """How far one thing with a limit was used."""

    bound: Bound
    part: str
    share: float


@dataclass(frozen=True)
class Named:
    """What binds, as counters say."""

    bound: Bound
    use: Use | None
    """Of what binds; of what was nearest to its end, where nothing was used up; None where nothing was counted."""
    next: Use | None
    """What would bind after it."""

    @property
    def relief(self) -> float | None:
        """How many times the throughput twice of what binds would give, at most; None where nothing else was counted."""
        if self.bound is Bound.LATENCY or self.use is None or self.next is None:
            return None
        return min(2 / self.use.share, 1 / self.next.share)


def named_by_model(binding: str) -> Bound:
    """A prediction's binding part as one of the five."""
    part = next((bound for part, bound in _OF_PART.items() if part == binding), None)
    return part or Bound.LATENCY


def named_by_counters(cell: CellResult, results: Results) -> Named | None:
    """None where nothing with a limit was counted."""
    uses = sorted(uses_of(cell, results), key=lambda use: -use.share)
    if not uses:
        return None
    first = uses[0]
    bound = first.bound if first.share >= USED_UP else Bound.LATENCY
    following = next((use for use in uses if use.bound is not first.bound and use.share > 0), None)
    return Named(bound, first, following)


def uses_of(cell: CellResult, results: Results) -> Iterator[Use]:
    """Everything that was counted and has a limit, the fullest of its kind."""
    yield from _network(cell, results)
    yield from _disk(cell)
    yield from _processors(cell)


def in_words(cell: CellResult, results: Results) -> str:
    """ "88 % of the link of client1: network-bound; twice of it would give at most 1.7 x, then the disk binds"."""
    named = named_by_counters(cell, results)
    if named is None or named.use is None:
        return ""
    if named.bound is Bound.LATENCY:
        return f"nothing is used up ({percent(named.use.share)} of {named.use.part}): bound by latency"
    words = f"{percent(named.use.share)} of {named.use.part}: {named.bound}-bound"
    if named.relief is None or named.next is None:
        return words
    then = f", then the {named.next.bound} binds" if named.relief < 2 / named.use.share else ""
    return f"{words}; twice of it would give at most {digits(named.relief)} x{then}"


def expected_of(cell: CellResult, results: Results) -> str | None:
    """What a prediction that was made before the cell ran said would bind; None where there is none."""
    for prediction in results.predictions if cell.cell else ():
        for each in prediction.cells if prediction.is_before else ():
            if each.actual is cell or (
                each.foretold.experiment == cell.experiment and each.foretold.cell == cell.cell
            ):
                return each.foretold.binding
    return None


def disagreement(cell: CellResult, results: Results) -> str | None:
    """A sentence where model and counters name different things."""
    expected, named = expected_of(cell, results), named_by_counters(cell, results)
    if expected is None or named is None or named_by_model(expected) is named.bound:
        return None
    return f"the model expected {expected} to bind, the counters say {named.bound}: they disagree"


def _network(cell: CellResult, results: Results) -> Iterator[Use]:
    linked = [use for use in cell.hosts if use.link_share is not None]
    if linked:
        fullest = max(linked, key=lambda use: use.link_share or 0.0)
        yield Use(Bound.NETWORK, f"the link of {fullest.name}", fullest.link_share or 0.0)
    stated = results.reference.limits.get("network")
    if stated and not linked and "bandwidth" in cell.metrics:
        yield Use(Bound.NETWORK, "the stated network", cell.metrics["bandwidth"].value / stated)


def _disk(cell: CellResult) -> Iterator[Use]:
    held, busy = cell.resources.get("disk_held_share"), cell.resources.get("disk_utilisation")
    if held is not None:
        yield Use(Bound.DISK, "what the busiest disk is held to", held)
    elif busy is not None and cell.resources.get("disk_queue_length", cell.concurrency) >= QUEUED:
        yield Use(Bound.DISK, "the time of the busiest disk", busy)


def _processors(cell: CellResult) -> Iterator[Use]:
    resources = cell.resources
    for bound, key, whose in (
        (Bound.CLIENT_CPU, "client_cpu_share", "the client's cores"),
        (Bound.SERVER_CPU, "server_cpu_share", "the servers' cores"),
    ):
        if key in resources:
            yield Use(bound, whose, resources[key])
    if (
        not any(f"{side}_cpu_share" in resources for side in ("client", "server"))
        and "cpu_busy_share" in resources
    ):
        busiest = busiest_elsewhere(cell)
        whose = f"the CPU of {busiest.name if busiest else 'this host'}"
        yield Use(Bound.CLIENT_CPU, whose, resources["cpu_busy_share"])


def busiest_elsewhere(cell: CellResult) -> HostUse | None:
    """Of the machines that produced load in place of this one, the one with the busiest CPU; None where this one did."""
    counted = [use for use in cell.hosts if use.cpu_busy_share is not None]
    return max(counted, key=lambda use: use.cpu_busy_share or 0.0, default=None)
