"""The network in sentences: what it does by itself, which is all that a filesystem on top of it can expect, and what binds its streams."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from leadline.analyse.all_reduce import AllReduce, all_reduces
from leadline.analyse.attribution import QUESTION as WHERE
from leadline.analyse.attribution import explained, what_binds
from leadline.analyse.network import Filling, Profile, profiles, usual
from leadline.analyse.recommendations import reservation
from leadline.analyse.results import Answer, CellResult, Results
from leadline.analyse.wording import bandwidth, latency, listed, percent, settings, size

SHOULD = "How fast should it be?"


def network_in_words(results: Results) -> Iterable[Answer]:
    """Lowest latency, highest throughput and the message that reaches it, a sentence for each tool and site; then all-reduces."""
    for profile in profiles(results.cells):
        if told := [words for words in (_floor(profile), _peak(profile)) if words]:
            yield Answer(SHOULD, f"Network, {_of(profile)}: {'; '.join(told)}.", _peak_cell(profile))
    for one in all_reduces(results.cells):
        if words := _highest_bus(one):
            yield Answer(SHOULD, words)


def streams_in_words(results: Results) -> Iterable[Answer]:
    """What binds each tool's fastest stream; those that the same thing binds together."""
    found: dict[str, list[str]] = {}
    peaks = [(each, cell) for each in profiles(results.cells) if (cell := _peak_cell(each)) is not None]
    for profile, cell in peaks:
        name, share = what_binds(cell, results)
        words = f"{_of(profile)}{f' {percent(share)}' if share is not None else ''}"
        found.setdefault(name, []).append(words)
    if found:
        parts = [f"{explained(name)} ({listed(words)})" for name, words in found.items()]
        yield Answer(WHERE, f"What binds the network's fastest streams: {'; '.join(parts)}.", peaks[0][1])


def _of(profile: Profile) -> str:
    """ "leadline, link 1 Gb/s"."""
    return ", ".join(filter(None, (profile.tool, settings(profile.site))))


def _floor(profile: Profile) -> str:
    """The lowest latency with its message."""
    known = [(row.latency, *found) for row in profile.rows if row.latency and (found := usual(row))]
    if not known:
        return ""
    cell, name, lowest = min(known, key=lambda each: each[2].value)
    trip = "half a round trip" if profile.journeys == 2 else "a whole round trip"
    words = f"{latency(lowest.value)} at least, {trip} of {size(_size_of(cell))}"
    return words + _doubt(cell, name)


def _peak(profile: Profile) -> str:
    """The highest throughput of one connection, with the message that is long enough for nine tenths of it."""
    cell = _peak_cell(profile)
    if cell is None:
        return ""
    words = f"{bandwidth(cell.metrics['bandwidth'].value)} at most, with messages of {size(_size_of(cell))}"
    return f"{words}{_doubt(cell, 'bandwidth')}{_filled(profile.filling)}"


def _filled(filling: Filling | None) -> str:
    return f", nine tenths of it with {size(round(filling.size_bytes))}" if filling else ""


def _peak_cell(profile: Profile) -> CellResult | None:
    streams = [row.one_way for row in profile.rows if row.one_way and "bandwidth" in row.one_way.metrics]
    return max(streams, key=lambda cell: cell.metrics["bandwidth"].value, default=None)


def _size_of(cell: CellResult) -> int:
    return int(cell.cell["message_size"])


def _highest_bus(one: AllReduce) -> str:
    known: Sequence[tuple[float, CellResult]] = [
        (row.bus_bytes_per_second, row.cell) for row in one.rows if row.bus_bytes_per_second
    ]
    if not known:
        return ""
    rate, cell = max(known, key=lambda each: each[0])
    words = f"{bandwidth(rate)} on the bus at most, with vectors of {size(_size_of(cell))}"
    place = f", {one.place}" if one.place else ""
    return f"All-reduce, {one.ranks} ranks{place}: {words}{_doubt(cell, 'bandwidth')}."


def _doubt(cell: CellResult, name: str) -> str:
    return f" ({words})" if (words := reservation(cell, name)) else ""
