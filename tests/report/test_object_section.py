"""Object stores of campaigns in results, report and terminal: rates by kind and load, the checks, the store's bar under the filesystem."""

from __future__ import annotations

import io
import json
import re
from functools import cache
from typing import Any

import pytest
from object_samples import GETS_PER_SECOND, NAMED, OBJECT_BYTES, READ_BYTES_PER_SECOND, object_results
from rich.console import Console

from leadline.analyse.objects import object_groups
from leadline.analyse.results import Results, VerdictName
from leadline.report import as_json
from leadline.report.export import rows
from leadline.report.figures.depth import bandwidth_depth
from leadline.report.objects import HEADS, check_table, tables
from leadline.report.page import page
from leadline.report.terminal import show_run
from leadline.store.records import Direction


@cache
def results() -> Results:
    return object_results(parts=True)


@cache
def html() -> str:
    return page([results()])


def answers(question: str) -> list[str]:
    return [answer.sentence for answer in results().answers if answer.question == question]


def shown(width: int) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    show_run(results(), console)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_cells_stand_in_one_table_a_size_by_kind_of_request_and_load() -> None:
    whole, parts = object_groups(results().cells)
    assert [(cell.result.direction, cell.result.concurrency) for cell in whole.cells] == [
        (kind, load)
        for kind in (Direction.OBJECT_PUT, Direction.OBJECT_GET, Direction.OBJECT_LIST)
        for load in (1, 2, 4, 8)
    ]
    assert parts.directions == [Direction.OBJECT_MULTIPART_PUT]


def test_a_fall_at_higher_load_is_found_along_the_requests_in_flight() -> None:
    (whole, _) = object_groups(results().cells)
    fallen = {
        (cell.result.direction, cell.result.concurrency)
        for cell in whole.cells
        if any(verdict.name is VerdictName.COLLAPSED for verdict in cell.result.verdicts)
    }
    assert fallen == {(Direction.OBJECT_GET, 8)}
    axes = {curve.axis for curve in results().curves if curve.cells[0].direction.is_of_objects}
    assert axes == {"concurrency"}


def test_listings_are_counted_by_the_objects_that_they_named() -> None:
    (whole, _) = object_groups(results().cells)
    listing = next(cell for cell in whole.cells if cell.result.direction is Direction.OBJECT_LIST)
    assert listing.result.metrics["iops"].value == 50 and listing.objects_per_second == 50 * NAMED


def test_the_answers_name_the_best_of_each_request_and_what_the_store_cannot_do() -> None:
    (rates,) = [
        each for each in answers("How fast is it?") if each.startswith("Object store, 1 MiB objects, ")
    ]
    assert "get 3.91 GiB/s (4 in flight" in rates
    assert "put 1.95 GiB/s (4 in flight" in rates, (
        "at 8 requests failed, so that the slower point is the best"
    )
    right = answers("Is it right?")
    assert any(
        "bucket: 1 of 3 functional checks passed; failed: special key; not supported: change mtime" in each
        for each in right
    )


def test_requests_to_a_store_are_no_metadata() -> None:
    assert not any("Metadata" in answer.sentence for answer in results().answers)
    assert '<section id="metadata">' not in html()
    data = _data()
    assert data["scaling"] == []


def test_the_section_holds_checks_tables_and_one_line_a_request() -> None:
    assert '<section id="objects">' in html() and "it is not listed as it was given" in html()
    (item,) = _data()["objects"]
    assert item["keys"][1:3] == ["1 MiB objects", "requests in flight"]
    assert [line[0] for line in item["lines"]] == ["put", "get", "list"]
    assert [line[3] for line in item["lines"]] == [[1, 2, 4, 8]] * 3
    (first, second) = tables([results()])
    assert second.title == "1 MiB objects in parts of 256 KiB" and all(
        len(line.figures) == len(HEADS) for line in first.lines
    )
    busiest = next(line for line in first.lines if line.figures[:2] == ("put", "8"))
    assert "21 SlowDown" in busiest.verdict and busiest.figures[2].startswith("○")


def test_stores_of_several_runs_stand_beside_each_other() -> None:
    table = check_table([results(), results()])
    assert table is not None and table.stores == ("bucket, objects", "bucket, objects")
    assert table.rows[1] == ("special key", (("failed", "FAILED", "it is not listed as it was given"),) * 2)
    assert check_table([]) is None


def test_a_filesystem_is_laid_below_the_store_that_it_stands_on() -> None:
    layers = {layer.label: layer for layer in bandwidth_depth(results()).layers}
    store, read = layers["get from the object store"], layers["read, best measured"]
    assert store.value == GETS_PER_SECOND[4] * OBJECT_BYTES
    assert read.above == "get from the object store"
    assert read.share == pytest.approx(READ_BYTES_PER_SECOND / store.value)


@pytest.mark.parametrize("width", [80, 140])
def test_the_terminal_shows_checks_and_every_cell_whatever_the_width(width: int) -> None:
    text = shown(width)
    assert "Object store bucket: what it can do" in text and "1 of 3 passed" in text
    assert "Object store, 1 MiB objects in parts of 256 KiB" in text
    assert all(len(line) <= width for line in text.splitlines()) and "…" not in text
    cells = text[text.index("\nCells") : text.index("Object store bucket")]
    assert "object get" not in cells, "they have a table of their own"


def test_exports_hold_the_cells_and_the_checks() -> None:
    document = as_json([results()])
    (run,) = document["runs"]
    assert run["object_checks"][0]["checks"][1]["result"] == "failed"
    gets = [cell for cell in run["cells"] if cell["direction"] == "object get"]
    assert [cell["settings"]["concurrency"] for cell in gets] == [1, 2, 4, 8]
    exported = [row for row in rows([results()]) if row["direction"] == "object put"]
    assert {row["retried_requests"] for row in exported if row["cell.concurrency"] == 1} == {9.0}


def _data() -> dict[str, Any]:
    return json.loads(re.search(r'id="data"[^>]*>(.*?)</script>', html(), re.DOTALL)[1])  # type: ignore[index, no-any-return]
