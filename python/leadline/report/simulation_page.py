"""What was simulated as one HTML file: curves with the binding part on them, every point in a table, what to doubt. No script."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from markupsafe import Markup

from leadline import __version__
from leadline.analyse import wording
from leadline.analyse.prediction.stations import Resource
from leadline.analyse.simulation.curves import MOST_PICTURES, NAMES, pictures
from leadline.analyse.simulation.findings import Finding
from leadline.analyse.simulation.scenarios import varied
from leadline.errors import UserError
from leadline.report import write_whole
from leadline.report.figures.simulation_figure import keys, latency_figure, throughput_figure
from leadline.report.page import counted, template_text, templates

STYLES = ("page.css", "consistency.css", "simulation.css")
HEADS = {**NAMES, "rw": "test", "read_percentage": "reads, %", "block_size": "block"}

TROUBLES = {"straggler": "with stragglers", "failed": "with failed nodes"}
"""Kinds of trouble, drawn in dashes beside what is healthy."""


def write_simulation_page(path: Path, findings: Sequence[Finding]) -> Path:
    """Writes the page whole; raises UserError where it cannot."""
    try:
        return write_whole(path, simulation_page(findings))
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from None


def simulation_page(findings: Sequence[Finding]) -> str:
    """The page as text."""
    first = findings[0].scenario
    names = varied([finding.scenario for finding in findings])
    drawn = pictures(findings)
    return (
        templates()
        .get_template("simulation.html.j2")
        .render(
            version=__version__,
            name=first.cluster.name,
            described=_described(findings),
            keys=keys(findings),
            troubles=[
                (trouble, words)
                for trouble, words in TROUBLES.items()
                if any(curve.trouble == trouble for picture in drawn for curve in picture.curves)
            ],
            sections=[
                (NAMES[axis], [(each.title, throughput_figure(each), latency_figure(each)) for each in alike])
                for axis, alike in groupby(drawn[:MOST_PICTURES], key=lambda each: each.axis)
            ],
            left_out=counted(len(drawn) - MOST_PICTURES, "picture") if len(drawn) > MOST_PICTURES else "",
            heads=[HEADS[name] for name in names],
            kinds=_kinds(findings),
            rows=[_row(finding, names, _kinds(findings)) for finding in findings],
            doubts=_doubts(findings, names),
            cluster=_cluster(findings),
            style=Markup("".join(map(template_text, STYLES))),
        )
    )


def _described(findings: Sequence[Finding]) -> str:
    requests = sum(finding.outcome["operations"] for finding in findings)
    points = counted(len(findings), "point")
    return f"{points}, {wording.count(requests)} requests that count. Simulated, not measured."


def _kinds(findings: Sequence[Finding]) -> list[Resource]:
    return [kind for kind in Resource if kind in findings[0].uses]


def _row(finding: Finding, names: Sequence[str], kinds: Sequence[Resource]) -> dict[str, Any]:
    uses = [finding.uses[kind] for kind in kinds]
    return {
        "settings": [_value(finding, name) for name in names],
        "figures": [
            wording.bandwidth(finding.bandwidth),
            wording.count(finding.iops),
            *(
                _latency(each)
                for each in (finding.mean_ns, finding.percentile_ns(0.5), finding.percentile_ns(0.99))
            ),
        ],
        "binding": finding.binding,
        "uses": [f"{use.mean:.0%} ({use.highest:.0%})" for use in uses],
    }


def _value(finding: Finding, name: str) -> str:
    value = finding.scenario.settings[name]
    if value is None:
        return "–"
    if name == "block_size":
        return wording.size(value)
    return f"{value:,g}" if isinstance(value, int | float) else str(value)


def _latency(latency_ns: float | None) -> str:
    return "–" if latency_ns is None else wording.latency(latency_ns)


def _doubts(findings: Sequence[Finding], names: Sequence[str]) -> list[str]:
    return [
        f"{where}: {doubt}" if where else doubt
        for finding in findings
        for where in [", ".join(f"{HEADS[name]} {_value(finding, name)}" for name in names)]
        for doubt in finding.doubts
    ]


def _cluster(findings: Sequence[Finding]) -> list[tuple[str, str]]:
    """What was stated of the cluster, and of the load where it does not vary."""
    first = findings[0].scenario
    names = varied([finding.scenario for finding in findings])
    told = first.cluster.model_dump(exclude_none=True, exclude_unset=True, exclude={"name", "disk", *names})
    load = {name: _value(findings[0], name) for name in HEADS if name not in names and first.settings[name]}
    links = {
        key: f"{value * 8 / 1e9:g} Gb/s"
        for key, value in told.items()
        if key.endswith("_nic") or key == "switch"
    }
    sizes = {"chunk_size": wording.size(told["chunk_size"])} if "chunk_size" in told else {}
    shown = {**{key: _plain(value) for key, value in told.items()}, **links, **sizes}
    return [*shown.items(), *((HEADS[name], value) for name, value in load.items() if name not in told)]


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {each}" for key, each in value.items())
    return f"{value:,g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
