"""What `leadline mdtest` prints of a run: how it was done, and below mdtest's table what that does not say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leadline.run.engines.metadata_phases import Phase

PERCENTS = (50.0, 99.0, 99.9)


def described(documents: Sequence[Mapping[str, Any]], cell: Mapping[str, Any]) -> str:
    """What ran, as mdtest says it, and how it was named and driven."""
    each, ranks = documents[0]["items_per_rank"], sum(document["ranks"] for document in documents)
    items = each * ranks
    depth = f", depth {cell['iodepth']}" if cell["driver"] == "io_uring" else ""
    said = f"{ranks} tasks, {items} files/directories, {cell['naming']}, {cell['driver']}{depth}"
    asked = cell["items_per_rank"]
    if asked and each != asked:
        said += f"\n-n {asked} is not a multiple of the directories: each task has {each} items"
    return said


def rates_of(phases: Sequence[Phase]) -> dict[str, list[float]]:
    """One rate an iteration, by operation."""
    rates: dict[str, list[float]] = {}
    for phase in phases:
        if phase.rate_last_done is not None:
            rates.setdefault(phase.operation, []).append(phase.rate_last_done)
    return rates


def details(phases: Sequence[Phase]) -> list[str]:
    """One line an operation: n, errors, 95 % interval of the mean rate, percentiles of all iterations together."""
    from leadline.analyse.intervals import t_half_width
    from leadline.store.histogram import Histogram

    percentiles = [f"p{percent:g} us" for percent in PERCENTS]
    table = [["Operation", "n", "failed", "mean rate +- 95 %", *percentiles, "first done /s"]]
    for operation in dict.fromkeys(phase.operation for phase in phases):
        same = [phase for phase in phases if phase.operation == operation]
        rates = [phase.rate_last_done for phase in same if phase.rate_last_done is not None]
        merged = Histogram.merge(phase.latency for phase in same)
        first = [phase.rate_first_done for phase in same if phase.rate_first_done is not None]
        interval = f" +- {t_half_width(rates):,.0f}" if len(rates) > 1 else " (one iteration)"
        values = [
            f"{merged.percentile(percent / 100) / 1e3:.3g}" if enough(merged.total, percent) else "too few"
            for percent in PERCENTS
        ]
        mean_rate = f"{sum(rates) / len(rates):,.0f}{interval}" if rates else "none"
        first_rate = f"{sum(first) / len(first):,.0f}" if first else "none"
        table.append([operation, f"{merged.total:,}", _failed(same), mean_rate, *values, first_rate])
    return aligned(table)


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Lines with columns as wide as what stands in them: the first to the left, the others to the right."""
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines = []
    for row in table:
        others = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("   " + "   ".join([row[0].ljust(widths[0]), *others]))
    return lines


def enough(samples: int, percent: float) -> bool:
    """About 100 / (1 - p) samples for percentile p."""
    return samples >= 100 / (1 - percent / 100) * (1 - 1e-9)


def _failed(phases: Sequence[Phase]) -> str:
    errors: dict[str, int] = {}
    for phase in phases:
        for name, count in phase.errors.items():
            errors[name] = errors.get(name, 0) + count
    return ", ".join(f"{count:,} {name}" for name, count in errors.items()) or "0"
