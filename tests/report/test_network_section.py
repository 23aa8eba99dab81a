"""Network cells in the report and in the terminal: every message size with its verdict, whatever the width."""

from __future__ import annotations

import io
import json
import re

import pytest
from network_samples import network_results
from rich.console import Console

from leadline.report.figures.depth import depth_charts
from leadline.report.network import tables
from leadline.report.network_terminal import show_network
from leadline.report.page import page


def shown(width: int) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    show_network(network_results(), console)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("width", [80, 140])
def test_every_size_stands_with_its_verdict_in_whole_words(width: int) -> None:
    text = shown(width)
    assert "leadline" in text and "sent again" in text and "verdict" in text
    assert "…" not in text
    assert all(len(line) <= width for line in text.splitlines())
    assert re.search(r"^1 MiB .*(valid|samples)", text, re.MULTILINE)


def test_a_column_that_a_tool_has_nothing_for_is_left_out() -> None:
    by_tool = {table.title: table.heads for table in tables([network_results()])}
    assert by_tool["leadline"][:3] == ("message", "region", "p50")
    assert by_tool["iperf3"] == ("message", "one way", "sent again")


def test_the_depth_chart_has_the_fastest_stream_and_no_tests_of_storage() -> None:
    (chart,) = depth_charts([network_results()])
    memory, network = chart.layers
    assert (memory.label, network.label) == ("memory copy", "network, one connection")
    assert network.value == pytest.approx(1.25e9, rel=0.01) and "1 MiB" in network.detail


def test_the_section_holds_the_tables_and_its_data_the_cells_of_each_size() -> None:
    html = page([network_results()])
    assert '<section id="network">' in html and "reach 90 % of the peak" in html
    data = json.loads(re.search(r'id="data"[^>]*>(.*?)</script>', html, re.DOTALL)[1])  # type: ignore[index]
    (item,) = data["network"]
    assert [profile["label"] for profile in item["profiles"]] == ["leadline", "iperf3"]
    leadline = item["profiles"][0]
    assert leadline["sizes"] == [64, 4096, 65_536, 1 << 20]
    assert all(number is not None for number in leadline["latency"] + leadline["one_way"])
    assert item["profiles"][1]["latency"] == [None] * 4
