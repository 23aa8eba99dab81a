"""Cells as tables for other programs: one row a cell and direction, every metric with its interval, n and validity."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

from leadline.analyse.results import METRICS, CellResult, Results
from leadline.analyse.wording import failures
from leadline.errors import UserError
from leadline.report import as_json
from leadline.store.records import Scalar

UNITS = {"bandwidth": "bytes_per_second", "iops": "per_second"}
"""All others are latencies in ns."""


def write_cells(results: Sequence[Results], path: Path, form: str) -> Path:
    """`form` is "parquet", "csv" or "json"; raises UserError when the file cannot be written."""
    try:
        if form == "json":
            path.write_text(json.dumps(as_json(results)), encoding="utf-8")
        elif form == "csv":
            _write_csv(rows(results), path)
        else:
            _write_parquet(rows(results), path)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from None
    return path


def rows(results: Sequence[Results]) -> list[dict[str, Scalar | None]]:
    """All cells of all runs; every row has every column, empty where it does not apply."""
    found = [_row(cell) for result in results for cell in result.cells]
    columns = dict.fromkeys(name for row in found for name in row)
    return [{name: row.get(name) for name in columns} for row in found]


def _row(cell: CellResult) -> dict[str, Scalar | None]:
    row: dict[str, Scalar | None] = {
        "run": cell.run,
        "experiment": cell.experiment,
        "test": cell.test,
        "direction": str(cell.direction),
    }
    row |= {f"cell.{name}": value for name, value in cell.cell.items()}
    row |= {
        "repeats": cell.repeats,
        "operations": cell.operations,
        "size_bytes": cell.size_bytes,
        "concurrency": cell.concurrency,
    }
    for name in METRICS:
        estimate = cell.metrics.get(name)
        if estimate is not None:
            unit = f"{name}_{UNITS.get(name, 'ns')}"
            row |= {unit: estimate.value, f"{unit}_low": estimate.low, f"{unit}_high": estimate.high}
            row |= {f"{name}_n": estimate.n, f"{name}_valid": cell.valid(name)}
    row |= _of_clients(cell)
    row |= {"failed": sum(cell.failed.values()), "failed_by_errno": failures(cell.failed)}
    row |= _of_phase(cell)
    row["verdicts"] = "; ".join(str(verdict.name) for verdict in cell.verdicts) or "valid"
    row["evidence"] = "; ".join(verdict.evidence for verdict in cell.verdicts)
    return row | dict(cell.resources) | {"command": cell.command}


def _of_clients(cell: CellResult) -> dict[str, Scalar | None]:
    """How several clients ran together; each client's own figures are in the JSON."""
    if cell.together is None:
        return {}
    return {
        "first_done_bytes_per_second": cell.together.first_done_bytes_per_second,
        "last_done_bytes_per_second": cell.together.last_done_bytes_per_second,
        "common_window_bytes_per_second": cell.together.common_bytes_per_second,
        "common_window_ns": cell.together.common_ns,
        "overlap_share": cell.together.overlap_share,
    }


def _of_phase(cell: CellResult) -> dict[str, Scalar | None]:
    """Which operation of metadata it was, and what stands beside its rate; with a trend the first repeat, as the last is the value."""
    if cell.phase is None:
        return {}
    rate = cell.rate
    return {
        "operation": str(cell.direction),
        "way": cell.phase.way,
        "planned": cell.phase.planned,
        "first_done_per_second": cell.phase.first_done_per_second,
        "last_done_per_second": cell.phase.last_done_per_second,
        "requests_per_operation": cell.phase.fewest_requests and cell.phase.fewest_requests[0],
        "first_repeat_per_second": rate.ends[0] if rate and rate.ends else None,
    }


def _write_csv(table: Sequence[dict[str, Scalar | None]], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(table[0]) if table else ["run"])
        writer.writeheader()
        writer.writerows(table)


def _write_parquet(table: Sequence[dict[str, Scalar | None]], path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    columns = list(table[0]) if table else ["run"]
    arrays = {name: _column([row.get(name) for row in table]) for name in columns}
    parquet.write_table(pyarrow.table(arrays), path)


def _column(values: list[Scalar | None]) -> list[Scalar | None]:
    """A column has one type: where a setting was written in several (a foreign import), all become text."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) <= 1 or kinds == {int, float}:
        return [float(value) if kinds == {int, float} and value is not None else value for value in values]
    return [None if value is None else str(value) for value in values]
