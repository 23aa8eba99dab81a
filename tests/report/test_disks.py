"""Disks beside their sheets, as readers see them: every width keeps what is off, and the page has a line for each."""

from __future__ import annotations

import re

import pytest
from rich.console import Console

from leadline.analyse.disks import DiskLine
from leadline.analyse.results import CellResult, Estimate, Reference, Results
from leadline.report.disks import disks_section, show_disks
from leadline.store.manifest import Manifest
from leadline.store.records import Direction

FIGURE = Estimate(1.15e9, 1.03e9, 1.28e9, 6, "t interval over 6 repeats")


def results() -> Results:
    cell = CellResult(
        "run", "grid", {"rw": "read", "block_size": 1 << 20}, Direction.READ, "read", 6, {"bandwidth": FIGURE}
    )
    lines = (
        DiskLine("", ("nvme0n1",), "read", "bandwidth", 7e9, "sheet", cell, FIGURE),
        DiskLine("node2", ("sda", "sdb"), "write", "bandwidth", 1e9, "[limits]", cell, FIGURE),
        DiskLine("", ("nvme0n1",), "randread", "iops", 1e6, "sheet", None, None),
    )
    manifest = Manifest("run", "campaign", "/data", "2026-01-01T00:00:00Z", "0")
    return Results("run", manifest, {}, Reference(), (), (), (), (), (), (), (), disks=lines)


def shown(width: int) -> str:
    console = Console(width=width, record=True, file=None, force_terminal=False)
    with console.capture() as captured:
        show_disks(results(), console)
    return captured.get()


@pytest.mark.parametrize("width", [60, 80, 120, 160])
def test_what_is_off_is_never_cut(width: int) -> None:
    words = " ".join(shown(width).split())
    assert "16 %" in words and "115 %" in words and "…" not in words
    assert "too few requests in flight" in words


def test_figures_stand_in_the_units_of_the_sheet() -> None:
    wide = shown(160)
    assert "7.00 GB/s" in wide and "1.15 GB/s" in wide and "1.03 GB/s to 1.28 GB/s" in wide
    assert "node2: sda + sdb" in wide and "1.00 GB/s [limits]" in wide
    assert "above its sheet" in wide and "no randread was measured at 4 KiB" in wide


def test_the_page_has_a_line_for_each_disk_and_test() -> None:
    section = str(disks_section([results()]))
    assert len(re.findall(r'<th scope="row">', section)) == 3
    assert section.count('class="differs"') == 1
    assert disks_section([]) is None
