"""Consistency in the terminal: a line a site, what was violated there, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from leadline.analyse import wording
from leadline.analyse.consistency import Sounded
from leadline.analyse.consistency_words import stale_words
from leadline.analyse.ladder import Verdict
from leadline.analyse.price import Price, prices
from leadline.analyse.results import Results
from leadline.report.figures.timeline import in_letters
from leadline.report.ladder import KINDS, WORDS, letters
from leadline.report.visibility_words import promise_sentence
from leadline.store.visibility import Ending

COLUMNS = ("lost", "never", "late", "worst", "at once", "n")
VIOLATIONS_SHOWN = 6
OPERATIONS_SHOWN = 4
"""Columns of rates beside the staleness: those to which the caches matter most."""


def show_consistency(one: Results, console: Console) -> None:
    """Nothing where nothing was sounded."""
    if not one.consistency:
        return
    console.print(_sites(one))
    for each in one.consistency:
        for line in _lines(each):
            console.print(line)
    for price in prices(one):
        console.print(_price(price))


def _sites(one: Results) -> Table:
    table = Table(
        title="Changes, by the worst that a trial saw",
        title_justify="left",
        box=None,
        pad_edge=False,
        header_style="dim",
    )
    table.add_column("site")
    for name in COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    for each in one.consistency:
        if each.windows:
            table.add_row(Text(each.label), *_counts(each))
    return table


def _counts(sounded: Sounded) -> Iterator[Text]:
    endings = [each.ending for each in sounded.windows]
    late = [each.worst_ns for each in sounded.windows if each.ending is Ending.LATER and each.worst_ns]
    lost = endings.count(Ending.LOST)
    yield Text(str(lost), style="bold red" if lost else "")
    yield Text(str(endings.count(Ending.NEVER)))
    yield Text(str(endings.count(Ending.LATER)))
    yield Text(wording.latency(max(late)) if late else "\u2013")
    yield Text(str(endings.count(Ending.AT_ONCE)))
    yield Text(f"{sum(each.decided for each in sounded.windows):,}")


def _lines(sounded: Sounded) -> Iterator[Text]:
    """Promises with their verdicts, then what histories violate, promised or not."""
    for judged in sounded.kept:
        style = "bold red" if judged in sounded.broken else ""
        yield Text(f"{sounded.label}: promise {promise_sentence(judged)}", style=style)
    violated = [rung for rung in sounded.ladder if rung.verdict is Verdict.VIOLATED]
    for rung in violated[:VIOLATIONS_SHOWN]:
        kind, guarantee = KINDS.get(rung.kind, rung.kind), WORDS.get(rung.guarantee, rung.guarantee)
        witness = f": {in_letters(rung.witness['sentence'], letters(sounded))}" if rung.witness else ""
        yield Text(
            f"{sounded.label}: {guarantee} of {kind} violated, {rung.violating:,} of {rung.checked:,}{witness}"
        )
    if len(violated) > VIOLATIONS_SHOWN:
        yield Text(f"and {len(violated) - VIOLATIONS_SHOWN} more in the report", style="dim")


def _price(price: Price) -> Table:
    title = f"The price of consistency: {price.target}, {wording.listed(price.options)}"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="dim")
    shown = sorted(price.operations, key=price.gain, reverse=True)[:OPERATIONS_SHOWN]
    table.add_column("setting")
    for name in ("stale at most", "appends lost", *map(str, shown)):
        table.add_column(name, justify="right")
    for point in price.points:
        rates = [wording.count(point.rate(way) or 0) for way in shown]
        lost = Text(f"{point.lost} of {point.appends}", style="bold red" if point.lost else "")
        table.add_row(point.label, stale_words(point), lost, *rates)
    return table
