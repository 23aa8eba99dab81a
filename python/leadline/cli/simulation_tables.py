"""Simulated clusters in the terminal: what each point reaches, what is used up, what to doubt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from leadline.analyse import wording
from leadline.analyse.prediction.stations import Resource
from leadline.analyse.simulation.findings import Finding
from leadline.analyse.simulation.scenarios import AXES, Scenario, varied
from leadline.spec.units import format_size

LABELS = {
    "rw": "test",
    "block_size": "block",
    "storage_nodes": "nodes",
    "numjobs": "jobs",
    "iodepth": "depth",
    "arrivals_per_second": "arrivals/s",
    "failed_nodes": "failed",
}
"""Axes that are written otherwise in a table."""


def show(findings: Sequence[Finding], console: Console) -> None:
    """All of it."""
    first = findings[0].scenario
    names = varied([finding.scenario for finding in findings])
    console.print(Text(first.cluster.name, style="bold"))
    console.print(Text(f"  {_described(first, names)}", style="dim"))
    console.print()
    console.print(_reached(findings, names))
    console.print()
    console.print(_used(findings, names))
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
    if name == "block_size":
        return format_size(value)
    return f"{value:,g}" if isinstance(value, int | float) else str(value)


def _reached(findings: Sequence[Finding], names: Sequence[str]) -> Table:
    columns: dict[str, Callable[[Finding], str]] = {
        "throughput": lambda finding: wording.bandwidth(finding.bandwidth),
        "IOPS": lambda finding: wording.count(finding.iops),
        "mean": lambda finding: _latency(finding.mean_ns),
        "p50": lambda finding: _latency(finding.percentile_ns(0.5)),
        "p99": lambda finding: _latency(finding.percentile_ns(0.99)),
    }
    table = _table("Simulated", names, list(columns))
    table.add_column("binding", overflow="fold")
    for finding in findings:
        cells = [make(finding) for make in columns.values()]
        table.add_row(*(_value(finding.scenario.settings, name) for name in names), *cells, finding.binding)
    return table


def _used(findings: Sequence[Finding], names: Sequence[str]) -> Table:
    kinds = [kind for kind in Resource if kind in findings[0].uses]
    title = "Used, of what there is: mean of a kind (the one that is used most)"
    table = _table(title, names, [str(kind) for kind in kinds])
    for finding in findings:
        uses = [finding.uses[kind] for kind in kinds]
        cells = [f"{use.mean:.0%} ({use.highest:.0%})" for use in uses]
        table.add_row(*(_value(finding.scenario.settings, name) for name in names), *cells)
    return table


def _table(title: str, names: Sequence[str], columns: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name in names:
        table.add_column(LABELS.get(name, name), justify="left" if name == "rw" else "right", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
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
