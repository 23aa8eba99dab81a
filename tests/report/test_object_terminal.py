"""Requests to an object store in a narrow terminal: a column may be left out, a figure is never cut."""

from __future__ import annotations

import pytest
from object_samples import object_results
from rich.console import Console

from leadline.analyse.objects import object_groups
from leadline.report.objects_terminal import show_cells


def shown(width: int) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as captured:
        for group in object_groups(object_results(parts=True).cells):
            show_cells(group.cells, console)
    return captured.get()


@pytest.mark.parametrize("width", [56, 60, 70, 80, 109, 140])
def test_no_figure_and_no_name_is_cut(width: int) -> None:
    text = shown(width)
    assert "…" not in text and all(len(line) <= width for line in text.splitlines())
    assert "objects/s" in text and "verdict" in text and "multipart put" in text


def test_rate_and_verdict_stay_when_latency_and_throughput_go() -> None:
    assert "p99" in shown(100) and "throughput" in shown(100)
    assert "p99" not in shown(56) and "throughput" not in shown(56)
