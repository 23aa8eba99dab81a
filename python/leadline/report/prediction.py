"""Actual beside predicted: a section of the page with bars and a table, and a table in the terminal. No arithmetic here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup
from rich.console import Console
from rich.table import Table
from rich.text import Text

from leadline.analyse import wording
from leadline.analyse.bottleneck import disagreement, in_words, named_by_counters
from leadline.analyse.prediction.beside import MODEL, PROBED, Beside, Foretelling
from leadline.analyse.prediction.predictions import Score
from leadline.analyse.prediction.words import predictions_in_words, probes_in_words
from leadline.analyse.results import Results
from leadline.report.page import templates
from leadline.report.terminal_narrow import first_that_fits
from leadline.report.wording import cell_phrase, naming_settings

ABSENT = "–"
ROWS = 24
"""More cells than this are shown in the report only."""
NARROW, WIDE = 130, 190
"""Below so many characters a line, latencies are left to the report; below the second, those with two probes."""
MODELS = {"napkin": "napkin", "bounds": "bounds", "queueing": "queueing", "calibrated": "two probes"}
"""From the simplest to the best informed, as they are named to readers."""


@dataclass(frozen=True)
class Row:
    """One cell, in words; widths are percent of the longest bar."""

    name: str
    predicted: str
    actual: str
    over_actual: str
    over_predicted: str
    probed: str
    probed_over_actual: str
    probed_over_predicted: str
    predicted_mean: str
    probed_mean: str
    actual_mean: str
    network: str
    disk: str
    binding: str
    counted: str
    disagreement: str
    attribution: str
    doubts: str
    predicted_width: str
    probed_width: str
    """Empty where two probes told nothing of it."""
    actual_width: str


@dataclass(frozen=True)
class Medians:
    """How far each model was from what came, in words: median of |predicted / actual - 1|, and the other way round."""

    of: str
    cells: str
    """In brackets those that are no probes: two probes are scored on them alone."""
    errors: tuple[str, ...]
    """In the order of MODELS."""


@dataclass(frozen=True)
class Part:
    """One cluster of one run."""

    run: str
    cluster: str
    sentence: str
    notes: tuple[str, ...]
    is_before: bool
    rows: tuple[Row, ...]
    medians: tuple[Medians, ...]
    probe_notes: tuple[str, ...]

    @property
    def is_probed(self) -> bool:
        """Whether two probes told something of it."""
        return any(row.probed_width for row in self.rows)


def parts(results: Sequence[Results]) -> list[Part]:
    """All predictions of all runs."""
    return [_part(one, made, sentence) for one in results for made, sentence in _told(one)]


def prediction_section(results: Sequence[Results]) -> Markup | None:
    """None where nothing was foretold; the template escapes every foreign string."""
    shown = parts(results)
    if not shown:
        return None
    template = templates().get_template("prediction.html.j2")
    return Markup(template.render(parts=shown, several=len(results) > 1, models=list(MODELS.values())))


def show_predictions(one: Results, console: Console) -> None:
    """A table a cluster; nothing where nothing was foretold."""
    for part in parts([one]):
        if part.is_before and len(part.rows) <= ROWS:
            console.print(_table(part, console.width))
        for note in part.probe_notes:
            console.print(Text(f"  {note}", style="dim"))
        if part.medians and len(part.rows) > 1:
            console.print(
                first_that_fits((_medians_table(part, narrow) for narrow in (False, True)), console)
            )
        for row in part.rows if part.is_before else ():
            if row.disagreement:
                console.print(Text(f"  {row.name}: {row.disagreement}", style="yellow"))


def _told(one: Results) -> list[tuple[Foretelling, str]]:
    return list(zip(one.predictions, predictions_in_words(one.predictions), strict=True))


def _part(one: Results, made: Foretelling, sentence: str) -> Part:
    longest = max(
        (
            max(each.predicted_bytes_per_second, each.probed_bytes_per_second or 0.0, _bytes(each) or 0.0)
            for each in made.cells
        ),
        default=1.0,
    )
    names = naming_settings([each.actual for each in made.cells if each.actual is not None])
    rows = tuple(_row(one, each, longest, names) for each in made.cells)
    notes = tuple(probes_in_words(made))
    return Part(
        one.label, made.cluster, sentence, made.notes, made.is_before, rows, tuple(_medians(made)), notes
    )


def _medians(made: Foretelling) -> Iterator[Medians]:
    """Reads and writes apart; block sizes only together."""
    first = {(score.direction, score.metric): score.block_size for score in reversed(made.scores)}
    for (direction, metric), block in reversed(first.items()):
        own = {
            score.model: score
            for score in made.scores
            if (score.direction, score.metric, score.block_size) == (direction, metric, block)
        }
        errors = tuple(_error(own.get(model)) for model in MODELS)
        fewer = f" ({own[PROBED].cells})" if PROBED in own else ""
        yield Medians(f"{direction}, {metric}", f"{own[MODEL].cells}{fewer}", errors)


def _error(score: Score | None) -> str:
    if score is None:
        return ABSENT
    return f"{wording.percent(score.over_actual)} ({wording.percent(score.over_predicted)})"


def _row(one: Results, each: Beside, longest: float, names: Sequence[str]) -> Row:
    foretold, actual, moved = each.foretold, each.actual, _bytes(each)
    named = named_by_counters(actual, one) if actual else None
    ratio = each.over_actual
    probed, again = each.probed_bytes_per_second, each.over_actual_by(PROBED)
    untold = "probe" if each.is_probe else ABSENT
    settings = cell_phrase(foretold.cell, names) or wording.settings(foretold.cell)
    return Row(
        name=f"{foretold.cell['rw']}, {settings}",
        predicted=wording.bandwidth(each.predicted_bytes_per_second),
        actual=wording.bandwidth(moved) if moved else ABSENT,
        over_actual=f"{ratio:.2f}" if ratio else ABSENT,
        over_predicted=f"{1 / ratio:.2f}" if ratio else ABSENT,
        probed=wording.bandwidth(probed) if probed else untold,
        probed_over_actual=f"{again:.2f}" if again else ABSENT,
        probed_over_predicted=f"{1 / again:.2f}" if again else ABSENT,
        predicted_mean=wording.latency(each.predicted_mean_ns),
        probed_mean=wording.latency(each.probed_mean_ns) if each.probed_mean_ns else untold,
        actual_mean=wording.latency(each.actual_mean_ns) if each.actual_mean_ns else ABSENT,
        network=wording.percent(foretold.network_share),
        disk=wording.percent(foretold.disk_share),
        binding=foretold.binding,
        counted=str(named.bound) if named else ABSENT,
        disagreement=(disagreement(actual, one) or "") if actual else "",
        attribution=in_words(actual, one) if actual else "",
        doubts=", ".join(dict.fromkeys(str(verdict.name) for verdict in actual.verdicts)) if actual else "",
        predicted_width=f"{100 * each.predicted_bytes_per_second / longest:.2f}",
        probed_width=f"{100 * probed / longest:.2f}" if probed else "",
        actual_width=f"{100 * (moved or 0.0) / longest:.2f}",
    )


def _bytes(each: Beside) -> float | None:
    return each.actual_iops * each.foretold.block_size if each.actual_iops else None


def _table(part: Part, width: int) -> Table:
    title = f"{part.cluster}: predicted before it was measured, and what came"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    left_out = {"latency", "came", "act/pred", "act/2p", "network"} if width < NARROW else set()
    left_out |= {"2p latency", "two probes"} if width < WIDE else set()
    left_out |= set() if part.is_probed else {"two probes", "2p/act", "act/2p", "2p latency"}
    columns = [name for name in _fields(part.rows[0]) if name not in left_out]
    for name in columns:
        words = name in ("cell", "model says", "counters say")
        table.add_column(name, justify="left" if words else "right", no_wrap=not words, overflow="fold")
    for row in part.rows:
        fields = _fields(row)
        style = "yellow" if row.disagreement else ""
        table.add_row(*(Text(fields[name], style=style) for name in columns))
    return table


def _fields(row: Row) -> dict[str, str]:
    return {
        "cell": row.name,
        "predicted": row.predicted,
        "two probes": row.probed,
        "actual": row.actual,
        "pred/act": row.over_actual,
        "act/pred": row.over_predicted,
        "2p/act": "probe" if row.probed == "probe" else row.probed_over_actual,
        "act/2p": row.probed_over_predicted,
        "latency": row.predicted_mean,
        "2p latency": row.probed_mean,
        "came": row.actual_mean,
        "network": row.network,
        "disks": row.disk,
        "model says": row.binding,
        "counters say": row.counted,
    }


def _medians_table(part: Part, narrow: bool) -> Table:
    """Where it is narrow, the error in the other direction is below."""
    title = "Median error: |predicted/actual - 1| (and |actual/predicted - 1|)"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    shown = [
        place for place in range(len(MODELS)) if any(row.errors[place] != ABSENT for row in part.medians)
    ]
    for name in ("", "cells", *(list(MODELS.values())[place] for place in shown)):
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    for row in part.medians:
        errors = (row.errors[place] for place in shown)
        table.add_row(row.of, row.cells, *(each.replace(" (", "\n(") if narrow else each for each in errors))
    return table
