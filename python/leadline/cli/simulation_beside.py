"""`leadline simulate --against`: the cells of a measured target, simulated, with the actual beside each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from leadline.analyse import wording
from leadline.analyse.prediction.actuals import of_target, read_actuals
from leadline.analyse.prediction.baselines import Baselines, read_baselines
from leadline.analyse.prediction.paths import Parts
from leadline.analyse.simulation.beside import (
    MODELLED,
    SIMULATED,
    BesideActual,
    MedianError,
    beside_actual,
    median_errors,
)
from leadline.analyse.simulation.findings import Finding
from leadline.analyse.simulation.loads import MeasuredLoad, measured_loads
from leadline.analyse.simulation.steps import step_of
from leadline.cli.prediction_input import cells_of
from leadline.errors import UserError
from leadline.run.simulator import simulate_all
from leadline.spec.load_cluster import load_cluster
from leadline.spec.units import format_size

ROWS_OF_A_TEST = 8
"""So many of each test are shown, unless all are asked for."""
NARROW = 125
"""Below this many characters a line, latencies and the model are left out; its medians stand below."""


def simulate_against(
    cluster_file: Path,
    baselines: Iterable[Path],
    against: Iterable[Path],
    target: str | None,
    progress: Callable[[int], Callable[[int], None]],
) -> tuple[list[BesideActual], list[str]]:
    """The cells, and what has to be known; raises UserError, naming the file, where they cannot be simulated."""
    file, cells = load_cluster(cluster_file), of_target(cells_of(against), target)
    actuals, passed_over = read_actuals(cells)
    loads, notes = measured_loads(file, actuals, str(cluster_file))
    known = read_baselines(cells_of(baselines))
    if passed_over:
        notes.insert(0, f"{passed_over} cells go both ways or moved nothing: not compared.")
    steps = _steps(loads, known, cluster_file)
    outcomes = iter(simulate_all(steps, progress(len(steps))))
    found = [(load, [Finding(each, next(outcomes)) for each in load.scenarios]) for load in loads]
    return beside_actual(found, actuals, known), notes


def _steps(loads: Sequence[MeasuredLoad], known: Baselines, cluster_file: Path) -> list[dict[str, Any]]:
    try:
        return [step_of(scenario, _parts(load, known)) for load in loads for scenario in load.scenarios]
    except UserError as error:
        raise UserError(f"{cluster_file}: {error}") from None


def _parts(load: MeasuredLoad, known: Baselines) -> Parts | None:
    if not known.disks and not known.network.bandwidths:
        return None
    parts = Parts(load.cluster, known)
    if known.disks:
        parts.check()
    return parts


def as_json(cells: Sequence[BesideActual], notes: Sequence[str]) -> dict[str, Any]:
    """Rates per second, latencies in nanoseconds."""
    return {
        "notes": list(notes),
        "median_errors": [asdict(error) for error in median_errors(cells)],
        "cells": [
            {
                **asdict(cell.load),
                "in_flight": cell.in_flight,
                "binding": cell.binding,
                "doubts": list(cell.doubts),
                "actual": asdict(cell.actual),
                "said": {who: asdict(forecast) for who, forecast in cell.said.items()},
            }
            for cell in cells
        ],
    }


def show_beside(
    name: str, cells: Sequence[BesideActual], notes: Sequence[str], console: Console, every_cell: bool
) -> None:
    """All of it."""
    console.print(Text(name, style="bold"))
    for note in notes:
        console.print(Text(f"  {note}", style="dim"))
    chosen = list(cells) if every_cell else _some(cells)
    console.print()
    console.print(_cells(chosen, console.width < NARROW))
    if len(chosen) < len(cells):
        console.print(Text(f"{len(chosen)} of {len(cells)} cells; --all shows the others", style="dim"))
    console.print()
    console.print(_errors(median_errors(cells)))
    for doubt in dict.fromkeys(doubt for cell in cells for doubt in cell.doubts):
        console.print(Text(doubt, style="yellow"))
    console.print(Text("Latencies of both follow by Little's law. Simulated, not measured.", style="dim"))


def _some(cells: Sequence[BesideActual]) -> list[BesideActual]:
    """Some of each test, evenly from the lightest load to the heaviest."""
    by_test: dict[tuple[str, int], list[BesideActual]] = {}
    for cell in cells:
        by_test.setdefault((cell.load.test, cell.load.block_size), []).append(cell)
    return [cell for alike in by_test.values() for cell in _evenly(alike)]


def _evenly(cells: Sequence[BesideActual]) -> list[BesideActual]:
    ordered = sorted(cells, key=lambda cell: (cell.in_flight, cell.load.iodepth))
    if len(ordered) <= ROWS_OF_A_TEST:
        return ordered
    step = (len(ordered) - 1) / (ROWS_OF_A_TEST - 1)
    return [ordered[round(place * step)] for place in range(ROWS_OF_A_TEST)]


def _cells(cells: Sequence[BesideActual], narrow: bool) -> Table:
    columns: dict[str, Callable[[BesideActual], str]] = {
        "test": lambda cell: cell.load.test,
        "block": lambda cell: format_size(cell.load.block_size),
        "load": _load,
        "simulated": lambda cell: wording.bandwidth(cell.said[SIMULATED].iops * cell.load.block_size),
        "actual": lambda cell: wording.bandwidth(cell.actual.iops * cell.load.block_size),
        "sim/act": lambda cell: f"{cell.ratio(SIMULATED, 'throughput'):.2f}",
        "act/sim": lambda cell: f"{1 / cell.ratio(SIMULATED, 'throughput'):.2f}",
        "latency": lambda cell: wording.latency(cell.said[SIMULATED].mean_ns),
        "actual latency": lambda cell: wording.latency(cell.actual.mean_ns),
        "queueing/act": lambda cell: f"{cell.ratio(MODELLED, 'throughput'):.2f}",
        "binding": lambda cell: cell.binding,
    }
    if not any(MODELLED in cell.said for cell in cells):
        del columns["queueing/act"]
    left_out = {"latency", "actual latency", "queueing/act"} if narrow else set()
    left_out |= {"block"} if len({cell.load.block_size for cell in cells}) == 1 else set()
    columns = {name: make for name, make in columns.items() if name not in left_out}
    title = "Simulated, no constant fitted, beside what was measured. Load: iodepth x jobs"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name in columns:
        words = name in ("test", "binding")
        table.add_column(
            name, justify="left" if words else "right", no_wrap=name != "binding", overflow="fold"
        )
    for cell in cells:
        table.add_row(*(make(cell) for make in columns.values()))
    return table


def _load(cell: BesideActual) -> str:
    load = cell.load
    return f"{load.iodepth} x {load.numjobs}" + (f" x {load.clients}" if load.clients > 1 else "")


def _errors(errors: Sequence[MedianError]) -> Table:
    title = "Median error: |said/actual - 1| (and |actual/said - 1|); median of said/actual"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name in ("test", "block", "metric", "cells"):
        table.add_column(name, no_wrap=True, justify="right" if name == "cells" else "left")
    spoken = [who for who in (SIMULATED, MODELLED) if any(error.who == who for error in errors)]
    for who in spoken:
        table.add_column(who, no_wrap=True, justify="right")
    rows: dict[tuple[str, int, str, int], dict[str, str]] = {}
    for error in errors:
        row = rows.setdefault((error.test, error.block_size, error.metric, error.cells), {})
        row[error.who] = (
            f"{wording.percent(error.over_actual)} ({wording.percent(error.over_said)}), {error.tilt:.2f}"
        )
    for (test, block, metric, count), said in rows.items():
        table.add_row(test, format_size(block), metric, str(count), *(said.get(who, "–") for who in spoken))
    return table
