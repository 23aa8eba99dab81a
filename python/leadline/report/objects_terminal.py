"""Object stores in the terminal: what the store can do, then how fast it is, with the verdict of every line."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from leadline.analyse.object_words import group_title
from leadline.analyse.objects import ObjectCell, object_groups
from leadline.analyse.results import CellResult, Estimate, Results
from leadline.analyse.wording import bandwidth, count, digits, failures, latency, size
from leadline.report.objects import in_flight
from leadline.report.terminal_narrow import first_that_fits

WORDS = {"passed": "passed", "failed": "FAILED", "not_supported": "not supported"}
HEADS = ("request", "size", "in flight", "throughput", "objects/s", "95 % interval", "p50", "p99", "n")
NARROW_HEADS = ("request", "size", "in flight", "throughput", "objects/s", "p99")
LEFT_OUT: tuple[tuple[str, ...], ...] = ((), ("p99",), ("p99", "throughput"))
"""What a narrow terminal goes without, rather than with figures that are cut: the rate and its verdict always stay."""
WIDE = 110
"""From this many characters a line on there is room for intervals and n."""
HOLLOW = "\u25cb "


def show_objects(one: Results, console: Console) -> None:
    """Of a campaign; nothing where no store was measured."""
    for checks in one.object_checks:
        title = f"Object store{f' {checks.label}' if checks.label else ''}: what it can do"
        show_checks([asdict(check) for check in checks.checks], console, title)
    for group in object_groups(one.cells):
        show_cells(group.cells, console, f"Object store, {group_title(group)}")
        console.print()


def show_checks(checks: Sequence[Mapping[str, Any]], console: Console, title: str = "What it can do") -> None:
    """One line a check, with the reason of those that did not pass."""
    console.print(Text(title, style="italic"))
    table = Table(box=None, pad_edge=False)
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


def show_cells(cells: Sequence[ObjectCell], console: Console, title: str = "How fast it is") -> None:
    """One line a kind of request, size and concurrency; below it why a figure is not to be trusted."""
    console.print(Text(title, style="italic"))
    widths = [*((console.width >= WIDE, without) for without in LEFT_OUT), (False, LEFT_OUT[-1])]
    console.print(first_that_fits((_cells_table(cells, *each) for each in widths), console))


def _cells_table(cells: Sequence[ObjectCell], wide: bool, without: Collection[str]) -> Table:
    heads = HEADS if wide else NARROW_HEADS
    table = Table(box=None, pad_edge=False)
    kept = [place for place, head in enumerate(heads) if head not in without]
    for place in kept:
        table.add_column(heads[place], justify="right" if place else "left", no_wrap=True)
    table.add_column("verdict", overflow="fold", min_width=14)
    for cell in cells:
        fields = _row(cell, wide)
        table.add_row(*(Text(fields[place]) for place in kept), Text(_verdicts(cell.result)))
    return table


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
        in_flight(cell),
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
