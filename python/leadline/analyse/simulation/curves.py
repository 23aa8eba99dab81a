"""Simulated points -> curves to draw: against which axis, which points make a line, which lines share a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leadline.analyse.simulation.findings import Finding
from leadline.analyse.simulation.scenarios import varied
from leadline.analyse.wording import size

ALONG = (
    "storage_nodes",
    "clients",
    "iodepth",
    "numjobs",
    "arrivals_per_second",
    "read_percentage",
    "block_size",
)
"""Axes that curves are drawn against, where they have several values."""
TROUBLE = ("failed_nodes", "stragglers")
"""Drawn beside the healthy cluster; against these only where nothing else varies."""
MOST_LINES = 7
"""As many colours as there are."""
MOST_PICTURES = 24
NAMES = {
    "storage_nodes": "storage nodes",
    "clients": "clients",
    "iodepth": "iodepth",
    "numjobs": "jobs of each client",
    "arrivals_per_second": "arrivals a second",
    "read_percentage": "reads, %",
    "block_size": "block size",
    "failed_nodes": "failed nodes",
    "stragglers": "stragglers",
}


@dataclass(frozen=True)
class Curve:
    """Points that differ in one axis only, rising along it."""

    label: str
    style: int
    """Alike for lines that differ in trouble only."""
    trouble: str
    """ "healthy", "straggler" or "failed"."""
    points: tuple[Finding, ...]


@dataclass(frozen=True)
class Picture:
    """Curves over one axis."""

    axis: str
    title: str
    curves: tuple[Curve, ...]

    def places(self) -> list[float]:
        """Values of the axis, rising."""
        return sorted(
            {float(point.scenario.settings[self.axis]) for curve in self.curves for point in curve.points}
        )


def pictures(findings: Sequence[Finding]) -> list[Picture]:
    """All there are, by axis; none where nothing that is a number varies."""
    names = varied([finding.scenario for finding in findings])
    drawn = [name for name in ALONG if name in names] or [name for name in TROUBLE if name in names]
    return [picture for axis in drawn for picture in _along(axis, findings, names)]


def _along(axis: str, findings: Sequence[Finding], names: Sequence[str]) -> list[Picture]:
    others = [name for name in names if name != axis]
    lines = _told_apart(axis, findings, others)
    trouble = [name for name in others if name in TROUBLE]
    kept = [name for name in others if name not in (*lines, *trouble)]
    groups = _grouped([one for one in findings if one.scenario.settings[axis] is not None], kept)
    made = [_picture(axis, _phrase(kept, key), alike, lines, trouble) for key, alike in groups]
    return [picture for picture in made if len(picture.places()) > 1]


def _told_apart(axis: str, findings: Sequence[Finding], others: Sequence[str]) -> list[str]:
    """The axis whose values become lines of one picture: that with the most that there are colours for."""
    counts = {
        name: len({one.scenario.settings[name] for one in findings}) for name in others if name in ALONG
    }
    fitting = {name: count for name, count in counts.items() if count <= MOST_LINES}
    return [max(fitting, key=lambda name: fitting[name])] if fitting else []


def _picture(
    axis: str, title: str, alike: Sequence[Finding], lines: Sequence[str], trouble: Sequence[str]
) -> Picture:
    colours = {values: number % MOST_LINES + 1 for number, (values, _) in enumerate(_grouped(alike, lines))}
    curves = [
        Curve(
            label=_phrase([*lines, *trouble], values) or ("healthy" if trouble else ""),
            style=colours[values[: len(lines)]],
            trouble=_trouble_of(points[0]),
            points=tuple(sorted(points, key=lambda point: float(point.scenario.settings[axis]))),
        )
        for values, points in _grouped(alike, [*lines, *trouble])
    ]
    return Picture(axis, title, tuple(curves))


def _phrase(names: Sequence[str], values: Sequence[Any]) -> str:
    """ "randread, 1 MiB, iodepth 8, 1 straggler"; what is not set, and trouble that there is not, is not said."""
    said = [_words(name, value) for name, value in zip(names, values, strict=True)]
    return ", ".join(word for word in said if word)


def _words(name: str, value: Any) -> str:
    if value is None or (name in TROUBLE and value == 0):
        return ""
    if name in ("rw", "block_size"):
        return size(value) if name == "block_size" else str(value)
    if name == "read_percentage":
        return f"{value} % reads"
    if name in ("failed_nodes", "stragglers", "storage_nodes", "clients"):
        noun = "failed" if name == "failed_nodes" else name.removeprefix("storage_")
        return f"{value:,} {noun.removesuffix('s') if value == 1 else noun}"
    return f"{NAMES[name]} {value:,g}"


def _trouble_of(finding: Finding) -> str:
    if finding.scenario.settings["failed_nodes"]:
        return "failed"
    return "straggler" if finding.scenario.settings["stragglers"] else "healthy"


def _grouped(
    findings: Sequence[Finding], names: Sequence[str]
) -> list[tuple[tuple[Any, ...], list[Finding]]]:
    """By the values of these axes, in the order in which they come."""
    found: dict[tuple[Any, ...], list[Finding]] = {}
    for finding in findings:
        found.setdefault(tuple(finding.scenario.settings[name] for name in names), []).append(finding)
    return list(found.items())
