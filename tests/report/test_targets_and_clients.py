"""Several targets and several clients on the page: order, rankings, conditions, and the run as it comes from its folder."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from sample_results import sample
from sample_targets import CLIENTS, TARGETS, side_by_side, stored

from leadline.analyse.results import Results
from leadline.cli.analysing import analysed
from leadline.report import as_json, show, write_figures
from leadline.report.environment import footing, headline
from leadline.report.export import rows
from leadline.report.figures.curves import throughput_charts
from leadline.report.figures.depth import bandwidth_depth
from leadline.report.page import page
from leadline.report.payload import payload
from leadline.report.standings import boards


@pytest.fixture(scope="module")
def results() -> Results:
    return side_by_side()


def test_a_stored_run_is_analysed_to_the_same_results(results: Results, tmp_path: Path) -> None:
    again = as_json([analysed(stored(tmp_path / "run"), "side by side")])
    assert json.loads(json.dumps(again)) == json.loads(json.dumps(as_json([results])))


def test_a_run_of_several_targets_opens_with_their_picture_and_their_table(results: Results) -> None:
    text = page([results])
    places = [text.index(f'<section id="{name}">') for name in ("throughput", "targets", "depth", "surfaces")]
    assert places == sorted(places)
    assert text.count('<section id="throughput">') == 1


def test_a_run_of_one_target_opens_as_before() -> None:
    text = page([sample(depths=(1, 8), jobs=(1,))])
    assert text.index('<section id="depth">') < text.index('<section id="throughput">')
    assert '<section id="targets">' not in text and '<section id="clients">' not in text


def test_all_targets_are_lines_of_one_chart_though_engines_differ(results: Results) -> None:
    for chart in throughput_charts([results]):
        assert chart.keys["lines"] == "by target" and chart.keys["at"] == ""
        assert [line.label for line in chart.lines] == sorted(TARGETS)
        assert [limit.label for limit in chart.limits] == ["links of 3 clients"]


def test_an_engine_that_every_target_has_stays_an_axis_of_its_own(results: Results) -> None:
    doubled = [
        replace(curve, fixed={**curve.fixed, "ioengine": engine})
        for curve in results.curves
        for engine in ("libaio", "io_uring")
    ]
    charts = throughput_charts([replace(results, curves=tuple(doubled))])
    assert {chart.keys["lines"] for chart in charts} == {"by target", "by engine"}


def test_bars_and_lines_of_a_target_have_one_colour(results: Results) -> None:
    lines = {line.label: line.style + 1 for line in throughput_charts([results])[0].lines}
    assert {row.target: row.style for row in boards([results])[0].rows} == lines


def test_a_board_shows_interval_share_and_doubts(results: Results) -> None:
    read, _ = boards([results])
    assert [row.target for row in read.rows] == ["nfs", "moosefs", "glusterfs", "cephfs", "juicefs"]
    best, second, last = read.rows[0], read.rows[1], read.rows[-1]
    assert (best.share, best.doubts) == ("best", "")
    assert re.fullmatch(r"\d+ to \d+ MiB/s", best.interval)
    assert re.fullmatch(r"\d+ %", second.share) and re.fullmatch(r"\d+ % to \d+ %", second.share_interval)
    assert (last.share, last.doubts) == ("", "impossible and cached")
    assert "the NICs of the clients received 3.0 % of the bytes read" in last.evidence
    assert best.settings == "iodepth 32, nfs"


def test_bars_hold_their_intervals(results: Results) -> None:
    for board in boards([results]):
        ends = [float(row.low or 0) + float(row.reach) for row in board.rows]
        assert max(ends) == pytest.approx(100, abs=0.02)
        assert all(float(row.low or 0) <= float(row.width) for row in board.rows)


def test_every_client_of_every_cell_is_in_the_data(results: Results) -> None:
    entries = payload([results])["participants"]
    assert len(entries) == len(results.cells)
    for entry in entries:
        assert [client["name"] for client in entry["clients"]] == list(CLIENTS)
        assert entry["together"]["clients"] == 3


def test_conditions_stand_with_the_environment(results: Results) -> None:
    part = footing(results)
    assert part is not None
    lines = dict(part.lines)
    assert lines["cephfs"] == "fuse.ceph-fuse, links of 1 Gb/s"
    assert lines["nfs"] == "nfs through nfs, links of 1 Gb/s"
    assert "links of 1 Gb/s" in page([results])
    assert footing(sample(depths=(1,), jobs=(1,))) is None


def test_the_headline_names_the_targets(results: Results) -> None:
    assert "5 targets: cephfs, glusterfs, juicefs, moosefs, nfs" in headline(results)


def test_shaped_links_are_a_layer_of_the_depth_chart(results: Results) -> None:
    layers = {layer.label: layer for layer in bandwidth_depth(results).layers}
    assert layers["links of 3 clients"].value == 375e6
    assert layers["randread, best measured"].above == "links of 3 clients"


def test_how_clients_ran_together_is_exported(results: Results) -> None:
    late = next(row for row in rows([results]) if "began 1.40 s after the first" in str(row["evidence"]))
    assert 0.5 < float(late["overlap_share"] or 0) < 0.6
    assert float(late["first_done_bytes_per_second"] or 0) > 0
    assert late["cell.target"] == "moosefs"


def test_the_terminal_names_target_and_leader(results: Results) -> None:
    console = Console(record=True, width=140)
    show([results], console)
    text = console.export_text()
    assert "randread: of the 4 that are valid nfs leads with" in text
    assert re.search(r"randread\s+moosefs\s+64 KiB\s+32.*not", text)


def test_figures_for_papers_hold_all_targets(results: Results, tmp_path: Path) -> None:
    written = write_figures([results], tmp_path, "svg", metrics=("bandwidth",))
    (picture,) = [path for path in written if path.name.startswith("throughput-randread")]
    assert all(target in picture.read_text(encoding="utf-8") for target in TARGETS)
