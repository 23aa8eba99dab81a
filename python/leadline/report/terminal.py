"""The terminal view: the answers, what not to trust, the cells with their verdicts, where the report is.

A run of many cells is summed up by its best cell a test, so that the view fits a screen; the report holds them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from leadline.analyse.network import is_of_network
from leadline.analyse.results import CellResult, Results
from leadline.analyse.wording import digits
from leadline.report import environment, wording
from leadline.report.consistency_terminal import show_consistency
from leadline.report.disks import show_disks
from leadline.report.figures.depth import best_cell, phases_of, tests_of
from leadline.report.figures.figure import metrics_present
from leadline.report.network_terminal import show_network
from leadline.report.objects_terminal import show_objects
from leadline.report.page import QUESTIONS
from leadline.report.prediction import show_predictions
from leadline.report.terminal_narrow import NarrowRow, fits, narrow_table

ROWS = 32
"""More cells than this are summed up by test."""
ANSWERS_SHOWN = 4
CELLS, BEST_CELLS = "Cells", "Best cell of each test"
EXPERIMENT = "experiment"
OPTIONS = "options"
"""A column for all options of targets together: they are as many as the knobs that were turned, and each row has few."""
SETTINGS_AT_MOST = 5
LOADS_AT_MOST = 3
"""Of metadata, whose tests have longer names."""
TEST_WIDTH = 16
IN_TEST = ("naming", "driver")
"""Settings that the test of metadata names already."""
WIDEST_SETTING = 15
WIDEST_OPTION = 11
METRICS_SHOWN = ("bandwidth", "iops", "mean", "p99")
METRICS_IN_NARROW = ("bandwidth", "p99")
RATES_IN_NARROW = ("iops",)
"""Where no bytes moved."""
NARROW = 100
"""Below this many characters a line, fewer metrics are shown so that settings and verdicts stay readable."""
NARROWEST = 70
"""Below this a single one."""


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
    shown = replace(one, cells=tuple(cell for cell in one.cells if not cell.direction.is_of_objects))
    if any(not is_of_network(cell) for cell in shown.cells):
        console.print(table_for(shown, console))
    elif not one.cells and not one.conformance and not one.consistency and not one.object_checks:
        console.print(Text(f"Nothing was measured: of {one.planned_cells} planned cells none gave a figure."))
    show_disks(one, console)
    show_predictions(one, console)
    show_network(one, console)
    show_objects(one, console)
    show_consistency(one, console)
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


def table_for(one: Results, console: Console) -> Table:
    """Every cell, or the best a test where they are many; in four columns where the terminal has no room for more."""
    metrics, few = shown_metrics(one, console.width), len(one.cells) <= ROWS
    for count in range(len(metrics), 0, -1):
        table = cell_table(one, metrics[:count]) if few else best_table(one, metrics[:count])
        if fits(table, console):
            return table
    names, metric = shown_settings(one), metrics[0]
    cells = one.cells if few else [best_of(own) for _, own in cells_by_test(one)]
    rows = [
        NarrowRow(cell, settings_in(cell, names), figure(cell, metric), verdict_text(cell)) for cell in cells
    ]
    return narrow_table(CELLS if few else BEST_CELLS, metric_label(one, metric), rows, console.width)


def settings_in(cell: CellResult, names: Sequence[str]) -> str:
    """A row's settings in words, the experiment first."""
    named = [cell.experiment] if EXPERIMENT in names else []
    options = [wording.target_options(cell.cell)] if OPTIONS in names else []
    return ", ".join(filter(None, [*named, wording.cell_phrase(cell.cell, names), *options]))


def metric_label(one: Results, metric: str) -> str:
    """The head of a metric's column."""
    return wording.label_among(metric, one.cells).removesuffix(" latency")


def cells_by_test(one: Results) -> list[tuple[str, list[CellResult]]]:
    """Data first, then operations of metadata in their order."""
    return [
        (test, [cell for cell in one.cells if cell.test == test])
        for test in (*tests_of(one), *phases_of(one))
    ]


def cell_table(one: Results, metrics: Sequence[str]) -> Table:
    """Every cell with its verdicts."""
    table, names = empty_table(one, metrics, [], CELLS), shown_settings(one)
    for cell in one.cells:
        fields = (*row(cell, names, metrics), *failed_field(one, cell))
        table.add_row(*(Text(text) for text in fields), verdict_text(cell))
    return table


def best_table(one: Results, metrics: Sequence[str]) -> Table:
    """The best valid cell a test, with how many cells there are and how many of them are valid throughout."""
    further = ["valid"] if len(metrics) > len(METRICS_IN_NARROW) else []
    table, names = empty_table(one, metrics, further, BEST_CELLS), shown_settings(one)
    for _, cells in cells_by_test(one):
        chosen = best_of(cells)
        valid = sum(not cell.verdicts for cell in cells)
        counted = [f"{valid} of {len(cells)}"] if further else []
        table.add_row(
            *(Text(text) for text in (*row(chosen, names, metrics), *failed_field(one, chosen), *counted)),
            verdict_text(chosen),
        )
    return table


def best_of(cells: Sequence[CellResult]) -> CellResult:
    """The valid cell with the highest throughput, else the best doubtful one, else any."""
    metric = next((cell.throughput_metric for cell in cells if cell.rate is not None), "bandwidth")
    valid = best_cell([cell for cell in cells if cell.valid(metric)], metric)
    return valid or best_cell([cell for cell in cells if metric in cell.metrics], metric) or cells[0]


def empty_table(one: Results, metrics: Sequence[str], further: Sequence[str], title: str) -> Table:
    """The columns of both tables; foreign words are never read as markup."""
    table = Table(
        title=title,
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    if phases_of(one):
        table.add_column("test", min_width=TEST_WIDTH, overflow="fold")
    else:
        table.add_column("test", no_wrap=True)
    for name in shown_settings(one):
        folds = name in (OPTIONS, EXPERIMENT, "target")  # a word a line: people's names for things are long
        widest = WIDEST_OPTION if name == OPTIONS else WIDEST_SETTING
        table.add_column(wording.setting_label(name), no_wrap=not folds, max_width=widest)
    for metric in metrics:
        table.add_column(metric_label(one, metric), justify="right", no_wrap=True)
    if shows_failures(one):
        table.add_column("failed", justify="right", no_wrap=True)
    for name in further:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold", min_width=16)
    return table


def shown_metrics(one: Results, width: int) -> list[str]:
    """The metrics that fit a terminal of this width, as far as this run has them."""
    left = width - (WIDEST_SETTING if OPTIONS in shown_settings(one) else 0)
    if left >= NARROW:
        return metrics_present(one.cells, METRICS_SHOWN)
    few = METRICS_IN_NARROW if tests_of(one) else RATES_IN_NARROW
    return metrics_present(one.cells, few if left >= NARROWEST else few[:1])


def shows_failures(one: Results) -> bool:
    """Metadata shows no rate without its errors."""
    return any(cell.phase or cell.failed for cell in one.cells)


def shown_settings(one: Results) -> list[str]:
    """What tells cells apart; where that is more than a terminal holds, the experiment's name stands for the rest."""
    of_metadata = bool(phases_of(one))
    names = [name for name in wording.naming_settings(one.cells) if not (of_metadata and name in IN_TEST)]
    if len(names) <= (LOADS_AT_MOST if of_metadata else SETTINGS_AT_MOST):
        return names
    candidates = ("target", *wording.ALWAYS_NAMED, "clients")
    varying = [name for name in candidates if len({cell.cell.get(name) for cell in one.cells}) > 1]
    if any(wording.target_options(cell.cell) for cell in one.cells):
        varying.insert(varying.index("target") + 1 if "target" in varying else 0, OPTIONS)
    return varying if "target" in varying else [EXPERIMENT, *varying]


def row(cell: CellResult, names: Sequence[str], metrics: Sequence[str]) -> list[str]:
    """One cell; a figure that is not valid wears a hollow mark."""
    told = {
        EXPERIMENT: cell.experiment,
        OPTIONS: wording.target_options(cell.cell) or "–",
        **{name: wording.setting_value(name, value) for name, value in cell.cell.items()},
    }
    settings = [told.get(name, "–") for name in names]
    return [cell.test, *settings, *(figure(cell, metric) for metric in metrics)]


def failed_field(one: Results, cell: CellResult) -> list[str]:
    """How many operations of the cell failed, where the table has a column for it."""
    return [f"{sum(cell.failed.values()):,}"] if shows_failures(one) else []


def figure(cell: CellResult, metric: str) -> str:
    """A figure with its unit; with a trend, from the first repeat to the last."""
    if metric not in cell.metrics:
        return "–"
    scale, found = wording.scale_among(metric, [cell]), cell.metrics[metric]
    unit = wording.unit_for(scale, found.ends or [found.value])
    course = f"{digits(found.ends[0] / unit.size)} → " if found.ends else ""
    mark = "" if cell.valid(metric) else "○ "
    return mark + course + wording.measure(scale, found.value, unit)


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
