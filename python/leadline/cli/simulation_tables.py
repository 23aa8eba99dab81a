"""Simulated clusters in the terminal: what each point reaches, what is used up, what to doubt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from leadline.analyse import wording
from leadline.analyse.prediction.stations import Resource
from leadline.analyse.simulation.findings import WAYS, Finding
from leadline.analyse.simulation.scenarios import AXES, Scenario, varied
from leadline.report.terminal_narrow import first_that_fits
from leadline.spec.units import format_size

LABELS = {
    "rw": "test",
    "read_percentage": "reads %",
    "block_size": "block",
    "storage_nodes": "nodes",
    "numjobs": "jobs",
    "iodepth": "depth",
    "arrivals_per_second": "arrivals/s",
    "failed_nodes": "failed",
}
"""Axes that are written otherwise in a table."""
TOGETHER, BINDING = "at", "binding"
"""Columns of words, which may go over several lines; figures never do."""
LEFT_OUT = ((), ("p50",), ("p50", "IOPS"), ("p50", "IOPS", "mean"))
"""What a narrow terminal does without, the less the wider it is."""
Column = Callable[[Finding], str]
OF_A_WAY: Mapping[str, Callable[[str, Finding], str]] = {
    "IOPS": lambda way, finding: wording.count(finding.of_way(way).iops),
    "mean": lambda way, finding: _latency(finding.of_way(way).mean_ns),
    "p99": lambda way, finding: _latency(finding.of_way(way).percentile_ns(0.99)),
}
"""Figures of the reads, or of the writes, of a mixed load."""


def show(findings: Sequence[Finding], console: Console) -> None:
    """All of it."""
    first = findings[0].scenario
    names = varied([finding.scenario for finding in findings])
    console.print(Text(first.cluster.name, style="bold"))
    console.print(Text(f"  {_described(first, names)}", style="dim"))
    console.print()
    mixed = [finding for finding in findings if finding.scenario.is_mixed]
    for lay, laid in ((_reached, findings), (_used, findings), (_apart, mixed)):
        if laid:
            console.print(first_that_fits(lay(laid, names), console))
            console.print()
    for finding in findings:
        for doubt in finding.doubts:
            where = ", ".join(_setting(finding.scenario, name) for name in names)
            console.print(Text.assemble((f"{where}: " if where else "", "bold"), (doubt, "yellow")))
    console.print(Text(_effort(findings), style="dim"))


def _described(scenario: Scenario, names: Sequence[str]) -> str:
    """What all points have in common."""
    told = [name for name in AXES if name not in names and scenario.settings[name] not in (None, 0)]
    return ", ".join(_setting(scenario, name) for name in told)


def _setting(scenario: Scenario, name: str) -> str:
    return f"{LABELS.get(name, name)} {_value(scenario.settings, name)}"


def _value(settings: Mapping[str, Any], name: str) -> str:
    value = settings[name]
    if value is None:
        return "–"
    if name == "block_size":
        return format_size(value)
    return f"{value:,g}" if isinstance(value, int | float) else str(value)


def _told(name: str, finding: Finding) -> str:
    return _value(finding.scenario.settings, name)


def _reached(findings: Sequence[Finding], names: Sequence[str]) -> Iterator[Table]:
    figures: dict[str, Column] = {
        "throughput": lambda finding: wording.bandwidth(finding.bandwidth),
        "IOPS": lambda finding: wording.count(finding.iops),
        "mean": lambda finding: _latency(finding.mean_ns),
        "p50": lambda finding: _latency(finding.percentile_ns(0.5)),
        "p99": lambda finding: _latency(finding.percentile_ns(0.99)),
        BINDING: lambda finding: finding.binding,
    }
    for left_out in LEFT_OUT:
        kept = {name: make for name, make in figures.items() if name not in left_out}
        yield _table("Simulated", findings, {**_each(names), **kept})
    yield _table("Simulated", findings, {**_together(names), **kept})


def _used(findings: Sequence[Finding], names: Sequence[str]) -> Iterator[Table]:
    kinds = [kind for kind in Resource if kind in findings[0].uses]

    def share(kind: Resource, finding: Finding) -> str:
        use = finding.uses[kind]
        return f"{use.mean:.0%} ({use.highest:.0%})"

    title = "Used, of what there is: mean of a kind (the one that is used most)"
    figures: dict[str, Column] = {str(kind): partial(share, kind) for kind in kinds}
    for settings in (_each(names), _together(names)):
        yield _table(title, findings, {**settings, **figures})


def _apart(findings: Sequence[Finding], names: Sequence[str]) -> Iterator[Table]:
    """Reads and writes of mixed loads."""
    figures = {f"{way}: {name}": partial(make, way) for way in WAYS for name, make in OF_A_WAY.items()}
    for settings in (_each(names), _together(names)):
        yield _table("Reads and writes apart", findings, {**settings, **figures})


def _each(names: Sequence[str]) -> dict[str, Column]:
    """A column a setting."""
    return {LABELS.get(name, name): partial(_told, name) for name in names}


def _together(names: Sequence[str]) -> dict[str, Column]:
    """All settings in one column, where the terminal has no room for more."""
    return {TOGETHER: lambda finding: ", ".join(_setting(finding.scenario, name) for name in names)}


def _table(title: str, findings: Sequence[Finding], columns: Mapping[str, Column]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name in columns:
        words = name in (TOGETHER, BINDING)
        left = words or name == LABELS["rw"]
        table.add_column(name, justify="left" if left else "right", no_wrap=not words, overflow="fold")
    for finding in findings:
        table.add_row(*(make(finding) for make in columns.values()))
    return table


def _latency(latency_ns: float | None) -> str:
    return "–" if latency_ns is None else wording.latency(latency_ns)


def _effort(findings: Sequence[Finding]) -> str:
    events = sum(finding.outcome["events"] for finding in findings)
    seconds = sum(finding.outcome["wall_ns"] for finding in findings) / 1e9
    memory = max(finding.outcome["peak_memory_bytes"] or 0 for finding in findings)
    requests = sum(finding.outcome["operations"] for finding in findings)
    known = f", {wording.size(memory)} of memory at most" if memory else ""
    return (
        f"{wording.count(requests)} requests, {wording.count(events)} events in {wording.digits(seconds)} s: "
        f"{wording.count(events / max(seconds, 1e-9))} events/s{known}. Simulated, not measured."
    )
