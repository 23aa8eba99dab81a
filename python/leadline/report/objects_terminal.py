"""The tables of `leadline objbench`: what the store can do, then how fast it is, with the verdict of every line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from leadline.analyse.objects import ObjectCell
from leadline.analyse.results import CellResult, Estimate
from leadline.analyse.wording import bandwidth, count, digits, failures, latency, size

WORDS = {"passed": "passed", "failed": "FAILED", "not_supported": "not supported"}
WIDE = 110
"""From this many characters a line on there is room for intervals and n."""
HOLLOW = "\u25cb "


def show_checks(checks: Sequence[Mapping[str, Any]], console: Console) -> None:
    """One line a check, with the reason of those that did not pass."""
    table = Table(title="What it can do", title_justify="left", box=None, pad_edge=False)
    table.add_column("check", no_wrap=True)
    table.add_column("result", no_wrap=True)
    table.add_column("reason", overflow="fold")
    for check in checks:
        result = WORDS[check["result"]]
        style = "red" if check["result"] == "failed" else ""
        table.add_row(Text(check["name"]), Text(result, style=style), Text(check["reason"] or ""))
    console.print(table)
    passed = sum(check["result"] == "passed" for check in checks)
    console.print(Text(f"{passed} of {len(checks)} passed.\n"))


def show_cells(cells: Sequence[ObjectCell], console: Console) -> None:
    """One line a kind of request, size and concurrency; below it why a figure is not to be trusted."""
    wide = console.width >= WIDE
    table = Table(title="How fast it is", title_justify="left", box=None, pad_edge=False)
    table.add_column("request", no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("in flight", justify="right", no_wrap=True)
    for name in (
        "throughput",
        "objects/s",
        *(["95 % interval"] if wide else []),
        *(["p50"] if wide else []),
        "p99",
        *(["n"] if wide else []),
    ):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold", min_width=14)
    for cell in cells:
        table.add_row(*(Text(text) for text in _row(cell, wide)), Text(_verdicts(cell.result)))
    console.print(table)


def show_evidence(cells: Sequence[ObjectCell], console: Console) -> None:
    """Each reason for distrust once, by the line in which it is worst."""
    worst: dict[str, tuple[float, str]] = {}
    for cell in cells:
        for verdict in cell.result.verdicts:
            sentence = f"{_name(cell)}: {verdict.evidence}"
            worst[verdict.name] = max(worst.get(verdict.name, (0.0, "")), (verdict.severity, sentence))
    if worst:
        console.print(Text(f"\nWhat not to trust here ({HOLLOW.strip()}), and why", style="bold yellow"))
    for name, (_, sentence) in worst.items():
        console.print(Text.assemble("  ", (name, "yellow"), f": {sentence}"))
    for cell in cells:
        if cell.retried:
            console.print(
                Text(
                    f"  {_name(cell)}: {cell.retried:,} requests were made again; their time is in the latency"
                )
            )


def _row(cell: ObjectCell, wide: bool) -> list[str]:
    result = cell.result
    moved, rate = result.metrics.get("bandwidth"), result.metrics.get("iops")
    shown = [
        result.direction.removeprefix("object "),
        size(cell.object_size_bytes),
        str(result.concurrency),
        _mark(result, "bandwidth") + bandwidth(moved.value) if moved else "",
        _mark(result, "iops") + count(cell.objects_per_second)
        if cell.objects_per_second is not None
        else "none",
    ]
    shown += [_interval(rate, cell)] if wide else []
    shown += [*([_latency(result, "p50")] if wide else []), _latency(result, "p99")]
    return [*shown, f"{result.operations:,}"] if wide else shown


def _interval(rate: Estimate | None, cell: ObjectCell) -> str:
    """In objects, as the rate beside it."""
    if rate is None or rate.low is None or rate.high is None or not cell.objects_per_second:
        return "none"
    each = cell.objects_per_second / rate.value
    return f"{count(rate.low * each)} to {count(rate.high * each)}"


def _latency(result: CellResult, metric: str) -> str:
    found = result.metrics.get(metric)
    return _mark(result, metric) + latency(found.value) if found else "none"


def _mark(result: CellResult, metric: str) -> str:
    return "" if result.valid(metric) else HOLLOW


def _verdicts(result: CellResult) -> str:
    names = list(dict.fromkeys(verdict.name for verdict in result.verdicts))
    failed = f" ({failures(result.failed)})" if result.failed else ""
    return ", ".join(names) + failed if names else "valid"


def _name(cell: ObjectCell) -> str:
    parts = f" in parts of {size(cell.part_size_bytes)}" if cell.part_size_bytes else ""
    what = cell.result.direction.removeprefix("object ")
    return f"{what} {size(cell.object_size_bytes)}{parts}, {cell.result.concurrency} in flight"


def cost_sentence(cells: Sequence[ObjectCell]) -> str:
    """What the requests cost their client, all kinds together."""
    requests = sum(cell.result.operations for cell in cells)
    spent = sum(cell.cpu_seconds for cell in cells)
    if not requests or not spent:
        return ""
    return f"{requests:,} requests took {digits(spent)} s of this machine's processors: {count(requests / spent)} a CPU second."
