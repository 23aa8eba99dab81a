"""The section "Network" and its table in the terminal: each tool's message sizes, the regions of its latency, the size that fills it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.analyse.network import TRANSITION, Filling, Profile, Row, profiles, sent_again
from leadline.analyse.results import CellResult, Results
from leadline.analyse.wording import bandwidth, count, latency, listed, size
from leadline.report import wording
from leadline.report.cell_numbers import CellNumbers

HEADS = ("message", "region", "p50", "p99", "mean", "one way", "both: there", "both: back", "sent again")
LATENCIES = ("p50", "p99", "mean")
DOUBTFUL = "; doubtful: the peak is not valid"
IN_WORDS = {TRANSITION: "in transition"}
ABSENT = "–"


@dataclass(frozen=True)
class Figure:
    """One figure of the table."""

    text: str
    doubts: str = ""
    """Names of the verdicts on it."""
    evidence: str = ""


@dataclass(frozen=True)
class Line:
    """One message size."""

    figures: tuple[Figure, ...]
    verdict: str


@dataclass(frozen=True)
class Table:
    """One tool on one site."""

    run: str
    title: str
    heads: tuple[str, ...]
    lines: tuple[Line, ...]
    sentences: tuple[str, ...]


def tables(results: Sequence[Results]) -> list[Table]:
    """One a profile, without the columns that it has nothing for."""
    return [_table(profile) for one in results for profile in profiles(one.cells)]


def title(profile: Profile) -> str:
    """ "leadline, link 1 Gb/s"."""
    held = [wording.setting_phrase(name, value) for name, value in profile.site.items()]
    return ", ".join([profile.tool, *held])


def _table(profile: Profile) -> Table:
    rows = [(_figures(row), row) for row in profile.rows]
    kept = [place for place in range(len(HEADS)) if any(figures[place].text != ABSENT for figures, _ in rows)]
    return Table(
        run=profile.run,
        title=title(profile),
        heads=tuple(HEADS[place] for place in kept),
        lines=tuple(
            Line(tuple(figures[place] for place in kept), verdicts(row.cells)) for figures, row in rows
        ),
        sentences=tuple(sentences(profile)),
    )


def _figures(row: Row) -> list[Figure]:
    again = sent_again(row)
    return [
        Figure(size(row.message_size_bytes)),
        Figure(row.region or ABSENT),
        *(figure(row.latency, metric) for metric in LATENCIES),
        *(figure(cell, "bandwidth") for cell in (row.one_way, row.there, row.back)),
        Figure(ABSENT if again is None else count(again)),
    ]


def figure(cell: CellResult | None, metric: str) -> Figure:
    """A metric of a cell; a hollow mark where it is not valid."""
    if cell is None or metric not in cell.metrics:
        return Figure(ABSENT)
    spoiled = cell.spoiled(metric)
    return Figure(
        ("○ " if spoiled else "") + wording.measure(wording.scale_of(metric), cell.metrics[metric].value),
        listed(dict.fromkeys(str(verdict.name) for verdict in spoiled)),
        "; ".join(verdict.evidence for verdict in spoiled),
    )


def verdicts(cells: Sequence[CellResult]) -> str:
    """The names of all, or "valid"."""
    names = dict.fromkeys(str(verdict.name) for cell in cells for verdict in cell.verdicts)
    return ", ".join(names) or "valid"


def sentences(profile: Profile) -> list[str]:
    """What to know of a profile: its floor, its regions, the size that fills it."""
    told = []
    if profile.floor is not None:
        share = "half a round trip" if profile.journeys == 2 else "a whole round trip"
        told.append(f"the lowest latency is {latency(profile.floor.value)}, {share}")
    told += _region_sentences(profile)
    if profile.filling is not None:
        told.append(filling_sentence(profile.filling))
    if profile.bandwidth_delay_bytes is not None:
        product = _size(profile.bandwidth_delay_bytes)
        told.append(f"the bandwidth-delay product (a round trip at the floor, at the peak) is {product}")
    again = [found for row in profile.rows if (found := sent_again(row)) is not None]
    if again:
        told.append(f"{count(sum(again))} TCP segments were sent again in a repeat of everything")
    return told


def _region_sentences(profile: Profile) -> list[str]:
    spans: dict[str, list[int]] = {}
    for row in profile.rows:
        if row.region:
            spans.setdefault(row.region, []).append(row.message_size_bytes)
    words = [
        f"{IN_WORDS.get(region, region)} {'at' if len(sizes) == 1 else 'from'} {size(sizes[0])}"
        + (f" to {size(sizes[-1])}" if len(sizes) > 1 else "")
        for region, sizes in spans.items()
    ]
    return [f"latency is {listed(words)}"] if words else []


def filling_sentence(found: Filling) -> str:
    """90 % of the peak, with the interval where there is one."""
    between = ""
    if found.low_bytes is not None and found.high_bytes is not None:
        between = f" ({_size(found.low_bytes)} to {_size(found.high_bytes)})"
    elif found.low_bytes is not None:
        between = f" ({_size(found.low_bytes)} or more)"
    beyond = "; the peak may lie beyond the largest message" if found.censored else ""
    return (
        f"messages of {_size(found.size_bytes)}{between} reach 90 % of the peak, {bandwidth(found.peak.value)} "
        f"at {size(found.peak_size_bytes)}{beyond}{DOUBTFUL if found.doubtful else ''}"
    )


def _size(size_bytes: float) -> str:
    return size(round(size_bytes))


def entries(results: Sequence[Results], numbers: CellNumbers) -> list[dict[str, Any]]:
    """For the page's script: the profiles that share a picture, one a run and site; cells by their number, None where there is none."""
    groups: dict[tuple[str, str], list[Profile]] = {}
    for one in results:
        for profile in profiles(one.cells):
            groups.setdefault((profile.run if len(results) > 1 else "", _site(profile.site)), []).append(
                profile
            )
    return [
        {"keys": list(keys), "profiles": [_entry(profile, numbers) for profile in members]}
        for keys, members in groups.items()
    ]


def _site(site: Mapping[str, Any]) -> str:
    return ", ".join(wording.setting_phrase(name, value) for name, value in site.items())


def _entry(profile: Profile, numbers: CellNumbers) -> dict[str, Any]:
    def number(cell: CellResult | None) -> int | None:
        return None if cell is None else numbers[cell]

    filling = profile.filling
    return {
        "label": profile.tool,
        "sizes": [row.message_size_bytes for row in profile.rows],
        "words": [size(row.message_size_bytes) for row in profile.rows],
        "regions": [row.region for row in profile.rows],
        "latency": [number(row.latency) for row in profile.rows],
        "one_way": [number(row.one_way) for row in profile.rows],
        "there": [number(row.there) for row in profile.rows],
        "back": [number(row.back) for row in profile.rows],
        "filling": None if filling is None else [round(filling.size_bytes), filling_sentence(filling)],
    }
