"""Targets side by side: one table a test, each target a bar from zero with its interval, its share of the best, its verdicts."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from leadline.analyse.results import Ranking, Results, Standing
from leadline.analyse.varying import varying_names
from leadline.analyse.wording import digits, listed, percent, settings
from leadline.report import wording

SERIES = 7
"""Colours in templates/page.css."""
BESIDE = {"bandwidth": "iops", "iops": "p50"}
"""Throughput -> what stands beside it."""
_AT = ("block_size", "iodepth", "numjobs", "clients", "storage_nodes", "ioengine")


@dataclass(frozen=True)
class Row:
    """One target in words, with the places of its bar and of its interval in percent of the longest."""

    target: str
    style: int
    """The colour of its line in the chart above: targets by the alphabet."""
    figure: str
    interval: str
    width: str
    low: str | None
    reach: str
    share: str
    share_interval: str
    rate: str
    tail: str
    settings: str
    doubts: str
    evidence: str


@dataclass(frozen=True)
class Board:
    """One test."""

    run: str
    title: str
    heads: tuple[str, str]
    """Of the bars' figure and of the one beside it."""
    rows: tuple[Row, ...]
    absent: tuple[tuple[str, str], ...]


def boards(results: Sequence[Results]) -> list[Board]:
    """All rankings of all runs."""
    return [board(ranking, varying_names(one.cells)) for one in results for ranking in one.rankings]


def board(ranking: Ranking, varying: Set[str]) -> Board:
    """One ranking; its bars share one axis from zero that holds every interval. What never varies is not repeated."""
    cells = [standing.cell for standing in ranking.standings]
    rates = [cell.rate for cell in cells if cell.rate is not None]
    longest = max(max(one.value, one.high or 0.0) for one in rates)
    metric = cells[0].throughput_metric
    heads = wording.label_among(metric, cells), wording.METRIC_LABELS[BESIDE[metric]].removesuffix(" latency")
    title = ", ".join(filter(None, (ranking.test, ranking.label)))
    styles = {name: at for at, name in enumerate(sorted(standing.target for standing in ranking.standings))}
    rows = tuple(
        row(standing, styles[standing.target] % SERIES + 1, longest, varying)
        for standing in ranking.standings
    )
    return Board(ranking.run, title, heads, rows, ranking.absent)


def row(standing: Standing, style: int, longest: float, varying: Set[str]) -> Row:
    """One bar; its figure in its own unit, since targets may be worlds apart."""
    cell, metric = standing.cell, standing.cell.throughput_metric
    found, spoiled = cell.metrics[metric], cell.spoiled(metric)
    unit = wording.unit_for(wording.scale_among(metric, [cell]), [found.value])
    low, high = found.low, found.high
    known = low is not None and high is not None
    return Row(
        target=standing.target,
        style=style,
        figure=f"{digits(found.value / unit.size)} {unit.symbol}",
        interval=(
            f"{digits((low or 0.0) / unit.size)} to {digits((high or 0.0) / unit.size)} {unit.symbol}"
            if known
            else "no interval"
        ),
        width=f"{100 * found.value / longest:.2f}",
        low=f"{100 * (low or 0.0) / longest:.2f}" if known else None,
        reach=f"{100 * ((high or 0.0) - (low or 0.0)) / longest:.2f}" if known else "0",
        share=share_of_best(standing),
        share_interval=interval_of_share(standing),
        rate=measured(standing, BESIDE[metric]).removesuffix(" IOPS"),
        tail=measured(standing, "p99"),
        settings=settings(cell.cell, [name for name in _AT if name in varying]),
        doubts=listed(dict.fromkeys(str(verdict.name) for verdict in spoiled)),
        evidence="; ".join(verdict.evidence for verdict in spoiled),
    )


def share_of_best(standing: Standing) -> str:
    """Percent of the best target; nothing for a figure that is not valid."""
    if not standing.cell.valid(standing.cell.throughput_metric):
        return ""
    return "best" if standing.ratio is None else percent(standing.ratio.value)


def interval_of_share(standing: Standing) -> str:
    """Its ends; empty where the share is not shown or has none."""
    ratio = standing.ratio
    if ratio is None or ratio.low is None or ratio.high is None or not share_of_best(standing):
        return ""
    return f"{percent(ratio.low)} to {percent(ratio.high)}"


def measured(standing: Standing, metric: str) -> str:
    """Another figure of the same point, marked where it is not valid."""
    found = standing.cell.metrics.get(metric)
    if found is None:
        return "–"
    mark = "" if standing.cell.valid(metric) else "○ "
    return mark + wording.measure(wording.scale_of(metric), found.value)
