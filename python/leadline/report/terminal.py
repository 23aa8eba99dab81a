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
    table, names = empty_table(one, metrics, []), wording.naming_settings(one.cells)
    for cell in one.cells:
        table.add_row(*(Text(text) for text in row(cell, names, metrics)), verdict_text(cell))
    return table


def best_table(one: Results, metrics: Sequence[str]) -> Table:
    """The best valid cell a test, with how many cells there are and how many of them are valid throughout."""
    table, names = empty_table(one, metrics, ["cells", "valid"]), wording.naming_settings(one.cells)
    for test in tests_of(one):
        cells = [cell for cell in one.cells if cell.test == test]
        best = best_cell([cell for cell in cells if cell.valid("bandwidth")], "bandwidth")
        chosen = (
            best
            or best_cell([cell for cell in cells if "bandwidth" in cell.metrics], "bandwidth")
            or cells[0]
        )
        valid = sum(not cell.verdicts for cell in cells)
        texts = (*row(chosen, names, metrics), str(len(cells)), str(valid))
        table.add_row(*(Text(text) for text in texts), verdict_text(chosen))
    return table


def empty_table(one: Results, metrics: Sequence[str], further: Sequence[str]) -> Table:
    """The columns of both tables; foreign words are never read as markup."""
    table = Table(
        title="Cells" if not further else "Best cell of each test",
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    table.add_column("test", no_wrap=True)
    for name in wording.naming_settings(one.cells):
        table.add_column(wording.setting_label(name), no_wrap=True)
    for metric in metrics:
        table.add_column(
            wording.METRIC_LABELS[metric].removesuffix(" latency"), justify="right", no_wrap=True
        )
    for name in further:
        table.add_column(name, justify="right")
    table.add_column("verdict", overflow="fold", min_width=16)
    return table


def shown_metrics(one: Results, width: int) -> list[str]:
    """The metrics that fit a terminal of this width, as far as this run has them."""
    return metrics_present(one.cells, METRICS_IN_NARROW if width < NARROW else METRICS_SHOWN)


def row(cell: CellResult, names: Sequence[str], metrics: Sequence[str]) -> list[str]:
    """One cell; a figure that is not valid wears a hollow mark."""
    settings = [wording.setting_value(name, cell.cell[name]) if name in cell.cell else "–" for name in names]
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
