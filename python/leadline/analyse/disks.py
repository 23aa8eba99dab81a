"""Local disks against their sheets: what each reads and writes at best, beside what its vendor states.

Which disks carried a cell, its own counters tell (`disk.<name>.*`, and `host.<host>.disk.<name>.*` on other machines). Cells through a
network or FUSE, in memory, or on disks that were held back say nothing of a disk and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leadline.analyse.machine import Machine, machine_under
from leadline.store.manifest import Manifest
from leadline.store.records import StepKind, StepRecord

if TYPE_CHECKING:
    from leadline.analyse.results import CellResult, Estimate

OFF = 0.7
"""Of its sheet: below this something is wrong, or the test does not ask enough."""
ABOVE = 1.05
SHEET_BLOCK_BYTES = 4096
"""Random rates on sheets are of 4 KiB."""
LAB_DISK = "loop"
STATED = {
    "read": ("read", "bandwidth"),
    "write": ("write", "bandwidth"),
    "randread": ("randread_iops", "iops"),
    "randwrite": ("randwrite_iops", "iops"),
}
"""Test -> key of the sheet, metric."""
_DISK = re.compile(r"(?:host\.(?P<host>.+)\.)?disk\.(?P<disk>.+)\.read_bytes")


@dataclass(frozen=True)
class DiskLine:
    """One disk (or all that carry a directory together) in one test."""

    host: str
    """Empty: this machine."""
    disks: tuple[str, ...]
    test: str
    metric: str
    nominal: float
    """Bytes or operations a second."""
    source: str
    """Where the figure stands: "sheet", or "[limits]"."""
    cell: CellResult | None
    """The best of those measured, valid ones first; None where none was measured."""
    figure: Estimate | None

    @property
    def ratio(self) -> float | None:
        """Measured over nominal."""
        return None if self.figure is None else self.figure.value / self.nominal

    @property
    def is_off(self) -> bool:
        """Well below its sheet."""
        return self.ratio is not None and self.ratio < OFF


def compare_disks(
    records: Sequence[StepRecord], cells: Sequence[CellResult], manifest: Manifest, machine: Machine
) -> tuple[DiskLine, ...]:
    """One line for each disk and test that a sheet, or [limits], states; nothing where nothing is stated."""
    places = {record.ordinal: _disks_of(record) for record in records if _is_of_a_disk(record, machine)}
    sheets = _sheets(manifest)
    found: dict[tuple[str, tuple[str, ...]], list[CellResult]] = {}
    for cell in cells:
        for place in places.get(cell.ordinals[0], ()) if cell.ordinals else ():
            found.setdefault(place, []).append(cell)
    return tuple(
        line
        for (host, disks), own in found.items()
        for test in STATED
        for line in _lines(host, disks, test, own, sheets, manifest.limits)
    )


def limits_of_sheets(records: Iterable[StepRecord], manifest: Manifest, machine: Machine) -> dict[str, float]:
    """What [limits] need not repeat: rates of the sheets, where all cells of the run stood on the same disks of this machine."""
    cells = [record for record in records if record.kind is StepKind.CELL and record.measurements]
    local = all(_is_of_a_disk(record, machine) for record in cells)
    places = {place for record in cells for place in _disks_of(record)}
    if not local or len(places) != 1:
        return {}
    (place,) = places
    sheets = _sheets(manifest)
    return {
        test: rate
        for test, (key, metric) in STATED.items()
        if metric == "bandwidth" and not place[0] and (rate := _of_sheets(place[1], key, sheets)) is not None
    }


def in_words(line: DiskLine) -> str:
    """What is off, in a clause; empty where nothing is."""
    if line.figure is None or line.cell is None or line.ratio is None:
        return f"no {line.test} was measured{' at 4 KiB' if line.metric == 'iops' else ''}"
    if line.cell.spoiled(line.metric):
        return "not valid: " + ", ".join(
            dict.fromkeys(str(each.name) for each in line.cell.spoiled(line.metric))
        )
    if line.is_off:
        return "well below its sheet"
    if line.ratio > ABOVE:
        return "above its sheet: a cache, or another disk"
    return ""


def _lines(
    host: str,
    disks: tuple[str, ...],
    test: str,
    cells: Sequence[CellResult],
    sheets: Mapping[str, Mapping[str, Any]],
    limits: Mapping[str, float],
) -> Iterator[DiskLine]:
    key, metric = STATED[test]
    nominal, source = _of_sheets(disks, key, sheets), "sheet"
    if nominal is None:
        nominal, source, metric = limits.get(test), "[limits]", "bandwidth"
    if not nominal:
        return
    of_size = metric != "iops"
    fitting = [
        cell
        for cell in cells
        if cell.test == test and (of_size or cell.cell.get("block_size") == SHEET_BLOCK_BYTES)
    ]
    rated = [(cell, figure) for cell in fitting if (figure := _figure(cell, host, metric)) is not None]
    best = max(rated, key=lambda each: (each[0].valid(metric), each[1].value), default=(None, None))
    yield DiskLine(host, disks, test, metric, float(nominal), source, *best)


def _figure(cell: CellResult, host: str, metric: str) -> Estimate | None:
    """Of the client on that host alone, where there were several."""
    own = next((client.metrics for client in cell.clients if client.name == host), None)
    return (cell.metrics if own is None else own).get(metric)


def _of_sheets(disks: Sequence[str], key: str, sheets: Mapping[str, Mapping[str, Any]]) -> float | None:
    """Of all disks together; None unless every one of them has a sheet that states it."""
    stated = [sheets.get(disk, {}).get(key) for disk in disks]
    known = [float(rate) for rate in stated if isinstance(rate, int | float)]
    return sum(known) if known and len(known) == len(stated) else None


def _sheets(manifest: Manifest) -> Mapping[str, Mapping[str, Any]]:
    nominal = manifest.campaign.get("nominal")
    disks = nominal.get("disks") if isinstance(nominal, Mapping) else None
    return disks if isinstance(disks, Mapping) else {}


def _is_of_a_disk(record: StepRecord, machine: Machine) -> bool:
    """Whether what the step moved went to local disks that were left as fast as they are."""
    held = record.facts.get("site_conditions")
    is_held = isinstance(held, Mapping) and any(name.startswith("disk_") for name in held)
    return record.kind is StepKind.CELL and not is_held and machine_under(machine, record).on_block_devices


def _disks_of(record: StepRecord) -> list[tuple[str, tuple[str, ...]]]:
    """(host, disks) of each machine that was counted; where others made the load, this one's disks are not meant."""
    found: dict[str, list[str]] = {}
    for name in record.totals:
        match = _DISK.fullmatch(name)
        if match and not match["disk"].startswith(LAB_DISK):
            found.setdefault(match["host"] or "", []).append(match["disk"])
    if len(found) > 1:
        found.pop("", None)
    return [(host, tuple(sorted(disks))) for host, disks in found.items()]
