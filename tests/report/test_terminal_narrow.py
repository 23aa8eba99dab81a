"""Tables of cells in terminals of any width: the verdict is never what is cut."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sample_metadata import metadata_run
from test_terminal import shown

from leadline.analyse.results import Results
from leadline.report.terminal import best_of, cells_by_test


def table_of(results: Results, width: int) -> list[str]:
    text = shown(results, width)
    return text[text.index("Best cell of each test") :].splitlines()


@pytest.mark.parametrize("width", [60, 72, 80, 90, 100, 120, 160])
def test_every_verdict_is_there_to_its_last_letter(width: int) -> None:
    results = metadata_run()
    lines = table_of(results, width)
    assert max(map(len, lines)) <= width
    head = next(line for line in lines if line.startswith("test"))
    place = head.index("verdict")
    told = " ".join(" ".join(line[place:] for line in lines).split())
    for _, cells in cells_by_test(results):
        for verdict in best_of(cells).verdicts:
            assert str(verdict.name) in told


def test_in_a_narrow_terminal_failures_stand_below_the_rate_they_belong_to() -> None:
    results = metadata_run()
    cells = [replace(cell, failed={"EIO": 1234}) if "stat" in cell.test else cell for cell in results.cells]
    lines = table_of(replace(results, cells=tuple(cells)), 60)
    assert any("1,234 failed" in line for line in lines)
