"""Cells of the network put together: one profile a tool, by message size, with the regions of its latency and the size that fills it.

Regions are read off the measured points alone (docs/guide/network.md): flat, where a larger message costs hardly more; bandwidth-bound,
from where on four fifths of the time go with the size of the message; transition, between the two.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from leadline.analyse.merge import Trials
from leadline.analyse.results import CellResult, Estimate
from leadline.store.records import Direction, Scalar

FLAT, TRANSITION, BOUND = "flat", "transition", "bandwidth-bound"
FLAT_AT_MOST = 1.25
"""Times the lowest latency."""
BOUND_AT_LEAST = 5.0
"""Times the lowest latency, from there on: the floor is then a fifth of the time, the message the rest."""
FULL_SHARE = 0.9
AGAIN = "retransmitted_segments"
VERBS = ("ib_send", "ib_write", "ib_read", "ib_atomic")
WHOLE_ROUND_TRIPS = ("ib_read", "ib_atomic")
PERFTEST = {"lat": "latency", "bw": "one way"}


@dataclass(frozen=True)
class Row:
    """One message size of one profile; None where that was not measured."""

    message_size_bytes: int
    latency: CellResult | None
    one_way: CellResult | None
    there: CellResult | None
    """Both ways at once: what the one that asked sent."""
    back: CellResult | None
    region: str = ""
    """Of the latency; empty where it is not known."""

    @property
    def cells(self) -> tuple[CellResult, ...]:
        """Those that there are."""
        return tuple(each for each in (self.latency, self.one_way, self.there, self.back) if each is not None)


@dataclass(frozen=True)
class Filling:
    """The smallest message that reaches 90 % of the highest throughput, log-interpolated between the measured ones."""

    peak: Estimate
    """Bytes per second."""
    peak_size_bytes: int
    size_bytes: float
    low_bytes: float | None
    """With every point as high, and with every point as low, as its interval allows."""
    high_bytes: float | None
    censored: bool
    """The largest message is still more than 10 % above the one before it: the peak may lie beyond."""
    doubtful: bool = False
    """The peak is not valid."""


@dataclass(frozen=True)
class Profile:
    """All message sizes of one tool on one site."""

    run: str
    tool: str
    site: Mapping[str, Scalar]
    """What else tells it from its siblings: target, link, packet loss."""
    rows: tuple[Row, ...]
    filling: Filling | None
    """Of the one-way stream."""
    floor: Estimate | None
    """The lowest latency: median, or mean where the tool knows no other."""

    @property
    def bandwidth_delay_bytes(self) -> float | None:
        """What is under way where the network is full: a round trip at the floor, times the peak."""
        if self.filling is None or self.floor is None:
            return None
        return self.journeys * self.floor.value / 1e9 * self.filling.peak.value

    @property
    def journeys(self) -> int:
        """How many of the stated latencies make a round trip: a read of RDMA is one, others are half of it."""
        return 1 if self.tool in WHOLE_ROUND_TRIPS else 2


def profiles(cells: Sequence[CellResult]) -> tuple[Profile, ...]:
    """Site by site; nothing where no network was measured."""
    groups: dict[tuple[object, ...], list[CellResult]] = {}
    for cell in cells:
        if (told := tool_and_test(cell)) is not None:
            groups.setdefault((cell.run, told[0], tuple(_site(cell).items())), []).append(cell)
    return tuple(sorted(map(_profile, groups.values()), key=_place))


def tool_and_test(cell: CellResult) -> tuple[str, str] | None:
    """Of a cell of the network; None for others. Imported cells of perftest name both in one: ib_write_lat."""
    test = str(cell.cell.get("test", ""))
    if "message_size" not in cell.cell:
        return None
    if "tool" in cell.cell:
        return str(cell.cell["tool"]), test
    verb, _, measured = test.rpartition("_")
    return (verb, PERFTEST[measured]) if verb in VERBS and measured in PERFTEST else None


def is_of_network(cell: CellResult) -> bool:
    """Whether messages were measured, by themselves or in an all-reduce, and no storage."""
    return tool_and_test(cell) is not None or ("message_size" in cell.cell and "ranks" in cell.cell)


def _place(profile: Profile) -> tuple[list[tuple[str, bool, float, str]], bool, str]:
    """Site by site, numbers by size; leadline's own tool first."""
    site = [
        (name, isinstance(value, str), 0.0 if isinstance(value, str) else float(value), str(value))
        for name, value in sorted(profile.site.items())
    ]
    return site, profile.tool != "leadline", profile.tool


def _site(cell: CellResult) -> dict[str, Scalar]:
    own = {"tool", "test", "message_size", "ramp", "runtime"}
    return {name: value for name, value in cell.cell.items() if name not in own}


def _profile(cells: Sequence[CellResult]) -> Profile:
    sizes = sorted({int(cell.cell["message_size"]) for cell in cells})
    rows = with_regions([_row(size, cells) for size in sizes])
    floors = [known[1] for row in rows if (known := usual(row)) is not None]
    told = tool_and_test(cells[0])
    assert told is not None
    return Profile(
        run=cells[0].run,
        tool=told[0],
        site=_site(cells[0]),
        rows=rows,
        filling=_filling(rows),
        floor=min(floors, key=lambda floor: floor.value, default=None),
    )


def _filling(rows: Sequence[Row]) -> Filling | None:
    found = find_filling([(row.message_size_bytes, rate) for row in rows if (rate := _rate(row)) is not None])
    if found is None:
        return None
    peak = next(row.one_way for row in rows if row.message_size_bytes == found.peak_size_bytes)
    return replace(found, doubtful=peak is not None and not peak.valid("bandwidth"))


def _row(size: int, cells: Sequence[CellResult]) -> Row:
    here: dict[tuple[str, bool], CellResult] = {}
    for cell in cells:
        told = tool_and_test(cell)
        if told is not None and cell.cell["message_size"] == size:
            here[(told[1], cell.direction is Direction.RECEIVE)] = cell
    return Row(
        size,
        here.get(("latency", False)),
        here.get(("one way", False)),
        here.get(("both ways", False)),
        here.get(("both ways", True)),
    )


def usual(row: Row) -> tuple[str, Estimate] | None:
    """The median, which a single lost packet does not move; of a tool without percentiles the mean."""
    known = row.latency.metrics if row.latency else {}
    return next(((name, known[name]) for name in ("p50", "mean") if name in known), None)


def _rate(row: Row) -> Estimate | None:
    return row.one_way.metrics.get("bandwidth") if row.one_way else None


def with_regions(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Each row with the region of its latency."""
    known = [(row.message_size_bytes, found[1].value) for row in rows if (found := usual(row)) is not None]
    named = dict(zip((size for size, _ in known), regions(known), strict=True))
    return tuple(
        Row(
            row.message_size_bytes,
            row.latency,
            row.one_way,
            row.there,
            row.back,
            named.get(row.message_size_bytes, ""),
        )
        for row in rows
    )


def regions(points: Sequence[tuple[int, float]]) -> list[str]:
    """Of (message size, latency) by ascending size. A single point has no region."""
    if len(points) < 2:
        return [""] * len(points)
    lowest = min(latency for _, latency in points)
    flat = next(
        (place for place, (_, latency) in enumerate(points) if latency > FLAT_AT_MOST * lowest), len(points)
    )
    bound = len(points)
    while bound > flat and points[bound - 1][1] >= BOUND_AT_LEAST * lowest:
        bound -= 1
    return [FLAT if place < flat else BOUND if place >= bound else TRANSITION for place in range(len(points))]


def find_filling(points: Sequence[tuple[int, Estimate]]) -> Filling | None:
    """Of (message size, throughput) by ascending size; None for fewer than three points."""
    if len(points) < 3:
        return None
    sizes = [float(size) for size, _ in points]
    values = [estimate.value for _, estimate in points]
    place = values.index(max(values))
    wanted = FULL_SHARE * values[place]
    known = all(each.low is not None and each.high is not None for _, each in points)
    lows, highs = ([each.low or 0.0 for _, each in points], [each.high or 0.0 for _, each in points])
    return Filling(
        peak=points[place][1],
        peak_size_bytes=int(sizes[place]),
        size_bytes=crossing(sizes, values, wanted) or sizes[place],
        low_bytes=crossing(sizes, highs, wanted) if known else None,
        high_bytes=crossing(sizes, lows, wanted) if known else None,
        censored=place == len(values) - 1 and values[-1] > 1.1 * values[-2],
    )


def crossing(sizes: Sequence[float], values: Sequence[float], wanted: float) -> float | None:
    """The smallest size, log-interpolated, at which the value is reached; None where it never is."""
    for place, value in enumerate(values):
        if value >= wanted:
            if place == 0 or values[place - 1] >= value:
                return sizes[place]
            share = (wanted - values[place - 1]) / (value - values[place - 1])
            return math.exp(math.log(sizes[place - 1]) + share * math.log(sizes[place] / sizes[place - 1]))
    return None


def segments_again(trials: Trials) -> dict[str, float]:
    """An entry of CellResult.resources: TCP segments sent again, a repeat; nothing where no engine counted them."""
    counts = [trial.record.facts.get(AGAIN) for trial in trials.trials]
    known = [float(count) for count in counts if isinstance(count, int | float)]
    return {AGAIN: sum(known) / len(known)} if known else {}


def sent_again(row: Row) -> float | None:
    """TCP segments sent again over all tests of a message size; None where nobody counted."""
    counts = [cell.resources[AGAIN] for cell in distinct(row.cells) if AGAIN in cell.resources]
    return sum(counts) if counts else None


def distinct(cells: Iterable[CellResult]) -> list[CellResult]:
    """One of each step: both ways are two results of one step, whose counts are its own."""
    return list({cell.ordinals: cell for cell in cells}.values())
