"""The terminal view: the answers, what not to trust, the cells with their verdicts, where the report is.

A run of many cells is summed up by its best cell a test, so that the view fits a screen; the report holds them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from leadline.analyse.results import CellResult, Results
from leadline.report import environment, wording
from leadline.report.figures.depth import best_cell, tests_of
from leadline.report.figures.figure import metrics_present
from leadline.report.page import QUESTIONS

ROWS = 32
"""More cells than this are summed up by test."""
ANSWERS_SHOWN = 4
EXPERIMENT = "experiment"
SETTINGS_AT_MOST = 5
WIDEST_SETTING = 15
METRICS_SHOWN = ("bandwidth", "iops", "mean", "p99")
METRICS_IN_NARROW = ("bandwidth", "p99")
NARROW = 100
"""Below this many characters a line, fewer metrics are shown so that settings and verdicts stay readable."""


def show_all(results: Sequence[Results], console: Console, report: Path | None) -> None:
    """Every run, then the report's path."""
    for one in results:
        show_run(one, console)
    if report is not None:
        console.print(Text.assemble(("Report: ", "bold"), str(report)))


def show_run(one: Results, console: Console) -> None:
    """One run from its title to its cells."""
    console.print(
        Text.assemble((one.label, "bold"), f"  {one.manifest.directory}, {one.manifest.created_utc}")
    )
    machine = environment.headline(one)
    if machine:
        console.print(Text(machine, style="dim"))
    show_answers(one, console)
    show_doubts(one, console)
    if one.cells:
        metrics = shown_metrics(one, console.width)
        console.print(cell_table(one, metrics) if len(one.cells) <= ROWS else best_table(one, metrics))
    else:
        console.print(Text(f"Nothing was measured: of {one.planned_cells} planned cells none gave a figure."))
    show_gaps(one, console)


def show_answers(one: Results, console: Console) -> None:
    """Each question with its sentences, in the order of the report."""
    order = {question: place for place, question in enumerate(QUESTIONS)}
    ordered = sorted(one.answers, key=lambda answer: order.get(answer.question, len(order)))
    for question, answers in groupby(ordered, key=lambda answer: answer.question):
        listed = list(answers)
        console.print(Text(f"\n{question}", style="bold cyan"))
        for answer in listed[:ANSWERS_SHOWN]:
            console.print(Text(f"  {answer.sentence}", style="" if answer.measured else "dim"))
        if len(listed) > ANSWERS_SHOWN:
            console.print(Text(f"  and {len(listed) - ANSWERS_SHOWN} more in the report", style="dim"))


def show_doubts(one: Results, console: Console) -> None:
    """What not to trust, or that every check was passed."""
    console.print(Text("\nWhat not to trust here, and why", style="bold yellow"))
    for doubt in one.doubts:
        count = f" ({doubt.cells} {'cell' if doubt.cells == 1 else 'cells'})" if doubt.cells else ""
        console.print(Text.assemble("  ", (f"{doubt.name}{count}", "yellow"), f": {doubt.sentence}"))
    if not one.doubts and one.cells:
        console.print(Text("  Every check that applies here was passed."))
    console.print()


def cell_table(one: Results, metrics: Sequence[str]) -> Table:
    """Every cell with its verdicts."""
    table, names = empty_table(one, metrics, [], "Cells"), shown_settings(one)
    for cell in one.cells:
        table.add_row(*(Text(text) for text in row(cell, names, metrics)), verdict_text(cell))
    return table


def best_table(one: Results, metrics: Sequence[str]) -> Table:
    """The best valid cell a test, with how many cells there are and how many of them are valid throughout."""
    further = ["valid"] if len(metrics) > len(METRICS_IN_NARROW) else []
    table, names = empty_table(one, metrics, further, "Best cell of each test"), shown_settings(one)
    for test in tests_of(one):
        cells = [cell for cell in one.cells if cell.test == test]
        best = best_cell([cell for cell in cells if cell.valid("bandwidth")], "bandwidth")
        chosen = (
            best
            or best_cell([cell for cell in cells if "bandwidth" in cell.metrics], "bandwidth")
            or cells[0]
        )
        valid = sum(not cell.verdicts for cell in cells)
        counted = [f"{valid} of {len(cells)}"] if further else []
        table.add_row(
            *(Text(text) for text in (*row(chosen, names, metrics), *counted)), verdict_text(chosen)
        )
    return table


def empty_table(one: Results, metrics: Sequence[str], further: Sequence[str], title: str) -> Table:
    """The columns of both tables; foreign words are never read as markup."""
    table = Table(
        title=title,
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    table.add_column("test", no_wrap=True)
    for name in shown_settings(one):
        table.add_column(wording.setting_label(name), no_wrap=True, max_width=WIDEST_SETTING)
    for metric in metrics:
        table.add_column(
            wording.METRIC_LABELS[metric].removesuffix(" latency"), justify="right", no_wrap=True
        )
    for name in further:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold", min_width=16)
    return table


def shown_metrics(one: Results, width: int) -> list[str]:
    """The metrics that fit a terminal of this width, as far as this run has them."""
    return metrics_present(one.cells, METRICS_IN_NARROW if width < NARROW else METRICS_SHOWN)


def shown_settings(one: Results) -> list[str]:
    """What tells cells apart; where that is more than a terminal holds, the experiment's name stands for the rest."""
    names = wording.naming_settings(one.cells)
    if len(names) <= SETTINGS_AT_MOST:
        return names
    candidates = ("target", *wording.ALWAYS_NAMED, "clients")
    varying = [name for name in candidates if len({cell.cell.get(name) for cell in one.cells}) > 1]
    return varying if "target" in varying else [EXPERIMENT, *varying]


def row(cell: CellResult, names: Sequence[str], metrics: Sequence[str]) -> list[str]:
    """One cell; a figure that is not valid wears a hollow mark."""
    told = {
        EXPERIMENT: cell.experiment,
        **{name: wording.setting_value(name, value) for name, value in cell.cell.items()},
    }
    settings = [told.get(name, "–") for name in names]
    return [cell.test, *settings, *(figure(cell, metric) for metric in metrics)]


def figure(cell: CellResult, metric: str) -> str:
    """A figure with its unit."""
    if metric not in cell.metrics:
        return "–"
    mark = "" if cell.valid(metric) else "○ "
    return mark + wording.measure(wording.scale_of(metric), cell.metrics[metric].value)


def verdict_text(cell: CellResult) -> Text:
    """The names of the verdicts, or "valid"."""
    if not cell.verdicts:
        return Text("valid", style="green")
    return Text(", ".join(dict.fromkeys(str(verdict.name) for verdict in cell.verdicts)), style="yellow")


def show_gaps(one: Results, console: Console) -> None:
    """Failed and missing steps, the commonest reasons first."""
    for reason, count in Counter(cell.reason for cell in one.failed).most_common(5):
        console.print(Text.assemble((f"failed ({count}): ", "red"), reason))
    if one.missing_cells:
        console.print(
            Text(
                f"{one.missing_cells} of {one.planned_cells} planned cells are missing: the run ended before them."
            )
        )
