"""A prediction in the terminal: cells, how far each model was off, and what to know of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from leadline.analyse import wording
from leadline.analyse.prediction.predictions import MODELS, Calibration, PredictedCell, Prediction, Score
from leadline.analyse.prediction.scores import METRICS, ratio
from leadline.analyse.prediction.words import further_part
from leadline.analyse.prediction.workload import Load
from leadline.spec.units import format_size

ROWS_OF_A_TEST = 8
"""So many of each test, evenly from the lightest load to the heaviest, unless all are asked for."""
NARROW, NARROWEST = 135, 105
"""Below so many characters a line, latencies and what follows from other columns are left out, then also shares and block sizes."""
LATENCIES = {"latency", "actual latency", "act/pred"}
SHARES = {"network", "disks"}


def show(prediction: Prediction, console: Console, every_cell: bool = False) -> None:
    """All of it."""
    console.print(Text(prediction.cluster, style="bold"))
    for note in prediction.notes:
        console.print(Text(f"  {note}", style="dim"))
    for sentence in _probing(prediction):
        console.print(Text(f"  {sentence}", style="dim"))
    chosen = prediction.cells if every_cell else _some(prediction.cells)
    console.print()
    console.print(_cells(chosen, console.width))
    if len(chosen) < len(prediction.cells):
        rest = f"{len(chosen)} of {len(prediction.cells)} cells; --all shows the others"
        console.print(Text(rest, style="dim"))
    if prediction.scores:
        console.print()
        console.print(_scores(prediction.scores, console.width < NARROWEST))


def _some(cells: Sequence[PredictedCell]) -> list[PredictedCell]:
    by_test: dict[tuple[str, int], list[PredictedCell]] = {}
    for cell in cells:
        by_test.setdefault((cell.load.test, cell.load.block_size), []).append(cell)
    return [cell for alike in by_test.values() for cell in _evenly(alike)]


def _evenly(cells: Sequence[PredictedCell]) -> list[PredictedCell]:
    ordered = sorted(cells, key=lambda cell: (cell.in_flight, cell.load.iodepth))
    if len(ordered) <= ROWS_OF_A_TEST:
        return ordered
    step = (len(ordered) - 1) / (ROWS_OF_A_TEST - 1)
    return [ordered[round(place * step)] for place in range(ROWS_OF_A_TEST)]


def _probing(prediction: Prediction) -> Iterable[str]:
    if prediction.calibrations:
        for (test, block), calibration in prediction.calibrations.items():
            yield _calibration(test, block, calibration)
        return
    for (test, block), (light, heavy) in prediction.probes.items():
        yield f"To calibrate {test} {format_size(block)}, measure two cells: {_load(light)}, and {_load(heavy)}."


def _calibration(test: str, block: int, calibration: Calibration) -> str:
    (light, heavy), found = calibration.probes, calibration.correction
    return (
        f"Calibrated on two cells, {test} {format_size(block)} at {_load(light)} and {_load(heavy)}: "
        f"{wording.latency(found.delay_seconds * 1e9)} further delay, parts at {found.speed:.2f} of their baselines"
        f"{further_part(found.further_seconds)}."
    )


def _load(load: Load) -> str:
    return f"iodepth {load.iodepth} x {load.numjobs} jobs"


def cell_rows(cells: Sequence[PredictedCell]) -> list[dict[str, str]]:
    """Every column of each cell, in words; the block size only where there are several."""
    measured = any(cell.actual is not None for cell in cells)
    rows = [_row(cell, measured) for cell in cells]
    if len({cell.load.block_size for cell in cells}) > 1:
        return rows
    return [{name: text for name, text in row.items() if name != "block"} for row in rows]


def _cells(cells: Sequence[PredictedCell], width: int) -> Table:
    title = "Predicted, no constant fitted. Load: iodepth x jobs; network, disks: % of the fullest used"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    rows = cell_rows(cells)
    left_out = (LATENCIES if width < NARROW else set()) | (SHARES if width < NARROWEST else set())
    names = [name for name in (rows[0] if rows else {}) if name not in left_out]
    for name in names:
        words = name in ("test", "binding")
        table.add_column(
            name, justify="left" if words else "right", no_wrap=name != "binding", overflow="fold"
        )
    for row in rows:
        table.add_row(*(row[name] for name in names))
    return table


def _row(cell: PredictedCell, measured: bool) -> dict[str, str]:
    load, forecast = cell.load, cell.forecasts["queueing"]
    return {
        "test": load.test,
        "block": format_size(load.block_size),
        "load": f"{load.iodepth} x {load.numjobs}" + (f" x {load.clients}" if load.clients > 1 else ""),
        "predicted": wording.bandwidth(forecast.iops * load.block_size),
        "latency": wording.latency(forecast.mean_ns),
        "network": wording.percent(cell.network_share),
        "disks": wording.percent(cell.disk_share),
        **(_beside(cell) if measured else {}),
        "binding": cell.binding,
    }


def _beside(cell: PredictedCell) -> dict[str, str]:
    """What was measured, and how far off it was foretold; of the calibrated model, predicted over actual."""
    names = ("actual", "actual latency", "pred/act", "act/pred", "2 probes")
    if cell.actual is None:
        return dict.fromkeys(names, "–")
    share = ratio(cell.forecasts["queueing"], cell.actual, METRICS[0])
    calibrated = cell.forecasts.get("calibrated")
    known = f"{ratio(calibrated, cell.actual, METRICS[0]):.2f}" if calibrated else "–"
    values = (
        wording.bandwidth(cell.actual.iops * cell.load.block_size),
        wording.latency(cell.actual.mean_ns),
        f"{share:.2f}",
        f"{1 / share:.2f}",
        "probe" if cell.is_probe else known,
    )
    return dict(zip(names, values, strict=True))


def score_rows(scores: Sequence[Score]) -> list[list[str]]:
    """Way, block size, metric, cells, then one figure a model."""
    rows = []
    for (direction, block, metric), alike in groupby(
        scores, lambda each: (each.direction, each.block_size, each.metric)
    ):
        by_model = {each.model: each for each in alike}
        size = format_size(block) if block is not None else "all"
        cells = str(max(each.cells for each in by_model.values()))
        rows.append([direction, size, metric, cells, *(_error(by_model.get(model)) for model in MODELS)])
    return rows


def _scores(scores: Sequence[Score], narrow: bool) -> Table:
    table = Table(
        title="Median error: |predicted/actual - 1| (and |actual/predicted - 1|)",
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    for name in ("", "block", "metric", "cells"):
        table.add_column(name, no_wrap=True, justify="right" if name == "cells" else "left")
    for model in MODELS:
        table.add_column("2 probes" if model == "calibrated" else model, justify="right")
    for row in score_rows(scores):
        table.add_row(*(text.replace(" (", "\n(") if narrow else text for text in row))
    return table


def _error(score: Score | None) -> str:
    return f"{wording.percent(score.over_actual)} ({wording.percent(score.over_predicted)})" if score else "–"
