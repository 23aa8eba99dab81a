"""Metadata in the report, the terminal and the exports: rates with errors, published rates in grey, ways apart."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from sample_metadata import metadata_run, named_targets
from sample_results import sample
from test_document import SCHEMA
from test_page import Elements, embedded
from test_terminal import shown

from leadline.analyse.results import Results
from leadline.published.tables import table
from leadline.report import as_json, write_report
from leadline.report.export import rows, write_cells
from leadline.report.figures.curves import throughput_charts
from leadline.report.figures.depth import depth_charts
from leadline.report.figures.paper_charts import draw_chart
from leadline.report.figures.scaling import scaling_charts
from leadline.report.metadata import Tree, trees
from leadline.report.page import page
from leadline.report.standings import boards

WIDE = table("3fs_metadata_mdtest_wide")


@pytest.fixture(scope="module")
def run() -> Results:
    return metadata_run()


@pytest.fixture(scope="module")
def wide(run: Results) -> Tree:
    return trees([run], [WIDE])[0]


def test_each_tree_and_way_has_a_table_of_its_own(run: Results) -> None:
    titles = [tree.title for tree in trees([run])]
    shape = "depth 2, 3 branches, 1,000 items a directory, a tree for each rank"
    assert titles == [f"wide, full path: {shape}", f"depth, full path, io_uring: {shape}"]


def test_rows_are_loads_and_columns_are_operations_in_mdtests_order(wide: Tree) -> None:
    assert wide.operations[:3] == ("directory create", "directory stat", "directory rename")
    assert wide.operations[-2:] == ("tree create", "tree remove")
    assert [row.load for row in wide.rates if not row.source] == [
        "1 rank",
        *(f"{count} ranks" for count in (2, 4, 8)),
    ]


def test_published_rates_stand_below_the_same_number_of_processes(wide: Tree) -> None:
    published = [row for row in wide.rates if row.source]
    assert [row.load for row in published] == [
        "1 process",
        *(f"{count} processes" for count in (4, 8, 16, 32)),
    ]
    assert [row.load for row in wide.rates][:3] == ["1 rank", "1 process", "2 ranks"]
    creates = wide.operations.index("file create")
    first = published[0].rates[creates]
    assert first is not None and first.text == "371", "370.86 as published"


def test_published_rates_are_those_of_full_paths_one_call_at_a_time(run: Results) -> None:
    assert [tree.has_published for tree in trees([run], [WIDE])] == [True, False], (
        "io_uring is another workload"
    )


def test_a_table_of_another_tree_is_not_laid_beside(run: Results) -> None:
    deep = table("3fs_metadata_mdtest_deep")
    assert all(not row.source for tree in trees([run], [deep]) for row in tree.rates)


def test_the_campaign_made_after_a_table_has_it_beside_even_when_scaled_down() -> None:
    """The published tree has two levels of three directories; a run with less says what it was there."""
    scaled = replace_depth(metadata_run("3fs metadata"), 1)
    row = next(row for row in trees([scaled], [WIDE])[0].rates if row.source)
    assert row.source == f"{WIDE.title} (there depth 2)"
    other = replace_depth(metadata_run("my own"), 1)
    assert all(not row.source for row in trees([other], [WIDE])[0].rates)


def replace_depth(run: Results, depth: int) -> Results:
    cells = [replace(cell, cell={**cell.cell, "depth": depth}) for cell in run.cells]
    return replace(run, cells=tuple(cells))


def test_no_rate_stands_without_its_errors_and_its_doubts(wide: Tree) -> None:
    last = next(row for row in wide.rates if row.load == "8 ranks")
    removed = last.rates[wide.operations.index("file remove")]
    assert removed is not None
    assert removed.failed == "12 failed" and "failed operations" in removed.doubts
    line = next(row for row in wide.rows if row.operation == "file remove" and row.load == "8 ranks")
    assert line.errors == "12 ENOENT"
    clean = next(row for row in wide.rows if row.operation == "file remove" and row.load == "1 rank")
    assert clean.errors == "0"


def test_a_trend_shows_first_and_last_and_no_interval(wide: Tree) -> None:
    line = next(row for row in wide.rows if row.operation == "file create" and row.load == "4 ranks")
    assert line.rate.text == "14.7k → 4.45k" and line.interval == "none"
    assert "trend" in line.rate.doubts and "not averaged" in line.rate.evidence


def test_cached_stats_say_how_few_requests_went_out(wide: Tree) -> None:
    line = next(row for row in wide.rows if row.operation == "directory stat" and row.load == "1 rank")
    assert "cached" in line.rate.doubts and line.requests == "0.000249 FUSE", "160 for 643,859"


def test_scaling_has_a_line_an_operation_and_published_ones_beside(run: Results) -> None:
    charts = scaling_charts([run], [WIDE])
    assert [(chart.keys["points"], len(chart.lines)) for chart in charts] == [
        ("numjobs", 10),
        ("iodepth", 8),
    ]
    assert next(line.label for line in charts[0].published) == f"directory create, {WIDE.title}"
    assert charts[1].published == (), "what was published has no depth"
    stat = next(line for line in charts[1].lines if line.label == "file stat")
    assert stat.knee is not None and "iodepth" in stat.knee.sentence


def test_ways_share_no_chart(run: Results) -> None:
    for chart in [*scaling_charts([run]), *throughput_charts([run])]:
        assert (
            len({(cell.cell["naming"], cell.cell["driver"]) for line in chart.lines for cell in line.cells})
            == 1
        )


def test_throughput_against_latency_is_in_operations(run: Results) -> None:
    chart = next(one for one in throughput_charts([run]) if one.keys["test"].startswith("file stat"))
    assert (chart.y.channel, chart.y.label, chart.y.scale) == ("iops", "operations/s", "operations")
    assert chart.limits == ()


def test_depth_shows_the_best_of_every_operation_and_no_bandwidth(run: Results) -> None:
    (depth,) = depth_charts([run])
    assert depth.title == "Metadata" and len(depth.layers) == 18


def test_targets_stand_side_by_side_by_operations() -> None:
    (board,) = boards([named_targets()])
    assert board.heads == ("operations/s", "p50")
    assert [row.target for row in board.rows] == ["ext4", "nfs"]
    assert board.rows[0].figure.endswith("k ops/s")


def test_the_page_says_operations_where_no_bytes_moved(run: Results, tmp_path: Path) -> None:
    path = write_report([run], tmp_path / "report.html")
    elements = Elements(path.read_text(encoding="utf-8"))
    assert "Metadata: what is done to names" in elements.text
    assert "3FS: mdtest, shallow tree with many files a directory" in elements.text, "brought by the campaign"
    (metric,) = [one for one in embedded(page([run]))["metrics"] if one["name"] == "iops"]
    assert (metric["label"], metric["unit"]) == ("operations/s", "IOPS")


def test_a_run_of_data_has_no_section_on_metadata() -> None:
    text = page([sample(tests=("read",), depths=(1, 8))])
    assert 'id="metadata"' not in text and embedded(text)["scaling"] == []


def test_only_the_campaign_itself_brings_its_published_tables(tmp_path: Path) -> None:
    path = write_report([metadata_run("my own")], tmp_path / "report.html")
    assert "3FS: mdtest" not in path.read_text(encoding="utf-8")


def test_the_terminal_shows_rates_with_errors(run: Results) -> None:
    text = shown(run, width=160)
    head = next(line for line in text.splitlines() if line.startswith("test "))
    assert "operations/s" in head and "failed" in head and "bandwidth" not in head
    assert "Metadata, full path, at the best load" in text
    few = shown(named_targets(), width=90)
    assert "k ops/s" in few and "file create, full path" in few


def test_the_document_keeps_its_schema_and_tells_operations(run: Results) -> None:
    document = json.loads(json.dumps(as_json([run]), allow_nan=False))
    jsonschema.validate(document, SCHEMA)
    cells = document["runs"][0]["cells"]
    removed = next(
        cell for cell in cells if cell["direction"] == "file remove" and cell["settings"]["numjobs"] == 8
    )
    assert removed["failed"] == {"ENOENT": 12}
    assert removed["phase"]["way"] == "full path"
    slowed = next(
        cell for cell in cells if cell["direction"] == "file create" and cell["settings"]["numjobs"] == 4
    )
    assert len(slowed["metrics"]["iops"]["ends"]) == 2
    bent = [curve["saturation"] for curve in document["runs"][0]["curves"] if curve["saturation"]]
    assert bent and all("peak_per_second" in one for one in bent)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_exports_name_the_operation_and_its_failures(run: Results, form: str, tmp_path: Path) -> None:
    path = write_cells([run], tmp_path / f"cells.{form}", form)
    if form == "csv":
        found = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    else:
        found = pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
    removed = next(
        row for row in found if row["operation"] == "file remove" and str(row["cell.numjobs"]) == "8"
    )
    assert (str(removed["failed"]), removed["failed_by_errno"]) == ("12", "12 ENOENT")
    assert removed["way"] == "full path"


def test_rows_of_data_have_no_operation() -> None:
    (first, *_) = rows([sample(tests=("read",), depths=(1,))])
    assert "operation" not in first and first["failed"] == 0


def test_a_figure_for_papers_lays_published_rates_behind_its_lines(run: Results) -> None:
    (axes,) = draw_chart(scaling_charts([run], [WIDE])[0]).axes
    colours = [str(line.get_color()) for line in axes.get_lines() if len(line.get_xdata()) > 1]
    assert colours.count("#aaaaaa") == 10 and len(colours) == 20
    assert axes.get_ylabel() == "operations/s, k ops/s"
