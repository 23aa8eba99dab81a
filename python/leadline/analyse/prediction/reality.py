"""A published result held against the hardware under it: which share of the network, which share of the disks.

The check that a reader makes before anything is measured: no result can be beyond its NICs and drives, and what it
leaves of them unused is where to ask on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

BYTES_PER_SECOND = {"GB/s": 1e9, "GiB/s": 2**30, "TB/s": 1e12, "TiB/s": 2**40, "TiB/min": 2**40 / 60}
"""Of the units that are printed."""


@dataclass(frozen=True)
class RealityCheck:
    """One result."""

    workload: str
    what: str
    printed: str
    """As the source states it."""
    of: str
    """Of which hosts the shares are."""
    bytes_per_second: float
    network_bytes_per_second: float
    sequential_bytes_per_second: float | None
    """Of all drives; None where the hosts have none."""
    random_bytes_per_second: float | None

    @property
    def network_share(self) -> float:
        """Of the NICs, one way."""
        return self.bytes_per_second / self.network_bytes_per_second

    @property
    def sequential_share(self) -> float | None:
        """Of what the drives do in sequence."""
        limit = self.sequential_bytes_per_second
        return self.bytes_per_second / limit if limit else None

    @property
    def random_share(self) -> float | None:
        """Of what the drives do at random."""
        limit = self.random_bytes_per_second
        return self.bytes_per_second / limit if limit else None


def check_reality(rows: Iterable[Sequence[str | int | float | None]]) -> list[RealityCheck]:
    """From the rows of the published table "3fs_workloads"."""
    return [_check(row) for row in rows]


def _check(row: Sequence[str | int | float | None]) -> RealityCheck:
    workload, what, result, unit, of = row[:5]
    nodes, nics, gigabits, drives, sequential, at_random = (_number(value) for value in row[5:])
    assert isinstance(result, int | float) and nodes and nics and gigabits
    return RealityCheck(
        workload=str(workload),
        what=str(what),
        printed=f"{result} {unit}",
        of=str(of),
        bytes_per_second=result * BYTES_PER_SECOND[str(unit)],
        network_bytes_per_second=nodes * nics * gigabits * 1e9 / 8,
        sequential_bytes_per_second=nodes * drives * sequential * 1e9 if drives and sequential else None,
        random_bytes_per_second=nodes * drives * at_random * 1e9 if drives and at_random else None,
    )


def _number(value: str | int | float | None) -> float | None:
    return float(value) if isinstance(value, int | float) else None
