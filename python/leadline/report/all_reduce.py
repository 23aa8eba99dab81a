"""All-reduces as tables of the section "Network": time, algorithm and bus bandwidth by the size of the vector."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.analyse.all_reduce import AllReduce, AllReduceRow, all_reduces
from leadline.analyse.results import Results
from leadline.analyse.wording import bandwidth, size
from leadline.report.network import Figure, Line, Table, figure, verdicts

HEADS = ("vector", "p50", "p99", "mean", "algorithm", "bus")
LATENCIES = ("p50", "p99", "mean")


def all_reduce_tables(results: Sequence[Results]) -> list[Table]:
    """One for each number of ranks."""
    return [_table(one) for run in results for one in all_reduces(run.cells)]


def _table(found: AllReduce) -> Table:
    place = f", {found.place}" if found.place else ""
    peak = max(
        (row for row in found.rows if row.bus_bytes_per_second), key=lambda row: row.bus_bytes_per_second or 0, default=None
    )  # fmt: skip
    told = (
        [f"at most {bandwidth(peak.bus_bytes_per_second or 0)} on the bus, at {size(peak.size_bytes)}"]
        if peak
        else []
    )
    return Table(
        run=found.run,
        title=f"all-reduce, {found.ranks} ranks{place}",
        heads=HEADS,
        lines=tuple(Line(_figures(row), verdicts([row.cell])) for row in found.rows),
        sentences=(
            *told,
            "bus bandwidth is 2(n-1)/n of the algorithm's: what each rank's link must carry at least",
        ),
    )


def _figures(row: AllReduceRow) -> tuple[Figure, ...]:
    algorithm = figure(row.cell, "bandwidth")
    mark = "○ " if algorithm.doubts else ""
    bus = Figure("–") if row.bus_bytes_per_second is None else Figure(
        mark + bandwidth(row.bus_bytes_per_second), algorithm.doubts, algorithm.evidence
    )  # fmt: skip
    return (Figure(size(row.size_bytes)), *(figure(row.cell, name) for name in LATENCIES), algorithm, bus)
