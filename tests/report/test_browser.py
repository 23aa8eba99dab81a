"""The page in a real headless Chromium: what a reader does with it, with the console empty and no request leaving."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sample_metadata import metadata_run
from sample_results import empty, many, sample, single
from sample_targets import TARGETS, side_by_side

from attempts import attempts
from leadline.analyse.results import Results
from leadline.report import write_report

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"{CHROMIUM} is not there"),
]


class Reader:
    """Opens reports and remembers everything that the page asked for or complained about."""

    def __init__(self, browser: Any, folder: Path) -> None:
        self.browser = browser
        self.folder = folder
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.pages: list[Any] = []

    def open(self, *results: Results, init: str = "", **context: Any) -> Any:
        path = write_report(results, self.folder / "report.html")
        page = self.browser.new_page(**{"viewport": {"width": 1280, "height": 900}, **context})
        page.set_default_timeout(120_000)
        self.pages.append(page)
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        if init:
            page.add_init_script(init)
        page.goto(path.as_uri())
        if context.get("java_script_enabled", True):
            page.wait_for_selector("html[data-ready]", state="attached")
        return page

    def foreign_requests(self) -> list[str]:
        own = (self.folder.as_uri(), "data:", "blob:")
        return [url for url in self.requests if not url.startswith(own)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture
def reader(browser: Any, tmp_path: Path) -> Iterator[Reader]:
    """Every test ends with the two promises of the page: it complains about nothing and asks nobody."""
    one = Reader(browser, tmp_path)
    yield one
    for page in one.pages:
        page.close()
    assert one.complaints == []
    assert one.foreign_requests() == []


def small(label: str = "nvme-xfs") -> Results:
    """Enough for every section, quick to draw: 4 tests x 2 block sizes x 2 engines x 8 iodepths x 2 numjobs."""
    return sample(label, jobs=(1, 16))


def menu(page: Any, section: str, name: str) -> Any:
    return page.locator(f'#{section} select[data-menu="{name}"]')


def figure(page: Any, section: str) -> Any:
    place = page.locator(f"#{section} .plot")
    place.scroll_into_view_if_needed()
    page.wait_for_selector(f"#{section} .plot[data-drawn]")
    return place


def choose(page: Any, section: str, name: str, option: str) -> None:
    """Picks an entry and waits until the figure was drawn again."""
    place = figure(page, section)
    drawn = place.get_attribute("data-drawn")
    menu(page, section, name).select_option(option)
    page.wait_for_function(
        "([section, before]) => document.querySelector(`#${section} .plot`).dataset.drawn !== before",
        arg=[section, drawn],
    )


def settle(page: Any) -> None:
    """Two frames: what was drawn is on the screen."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def traces(page: Any, section: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate(
        """(section) => document.querySelector(`#${section} .plot`).data.map((trace) => ({
            type: trace.type, name: trace.name, x: trace.x, y: trace.y, z: trace.z,
            colours: trace.marker && trace.marker.color, symbol: trace.marker && trace.marker.symbol }))""",
        section,
    )
    return found


def test_doubts_stand_above_the_fold(reader: Reader) -> None:
    page = reader.open(small(), small("second"))
    box = page.locator(".doubts").bounding_box()

    assert box["y"] + 100 < 900 and box["y"] + box["height"] <= 900
    assert page.locator("#doubts").is_visible()


def test_menus_change_the_surface(reader: Reader) -> None:
    page = reader.open(small())
    place = figure(page, "surfaces")
    before = traces(page, "surfaces")
    settle(page)
    picture = place.screenshot()

    choose(page, "surfaces", "metric", "p99")
    by_metric = traces(page, "surfaces")
    settle(page)
    assert by_metric[0]["z"] != before[0]["z"]
    assert place.screenshot() != picture

    choose(page, "surfaces", "Test", "randwrite")
    by_test = traces(page, "surfaces")
    assert by_test[0]["z"] != by_metric[0]["z"]

    choose(page, "surfaces", "Grid", "1024 KiB, libaio")
    assert traces(page, "surfaces")[0]["z"] != by_test[0]["z"]


def test_the_surface_shows_the_values_of_the_results(reader: Reader) -> None:
    results = small()
    page = reader.open(results)
    figure(page, "surfaces")
    cell = results.grids[0].cells[0]
    drawn = traces(page, "surfaces")[0]["z"][0][0]

    assert drawn * 2**30 == pytest.approx(cell.metrics["bandwidth"].value, rel=1e-3)


def test_measured_cells_are_points_and_doubtful_ones_are_hollow(reader: Reader) -> None:
    results = small()
    page = reader.open(results)
    figure(page, "surfaces")
    surface, valid, doubtful = traces(page, "surfaces")
    cells = [cell for cell in results.grids[0].cells if cell.test == "read"]

    assert surface["type"] == "surface"
    assert len(valid["x"]) == sum(cell.valid("bandwidth") for cell in cells) > 0
    assert len(doubtful["x"]) == sum(not cell.valid("bandwidth") for cell in cells) > 0
    assert (valid["symbol"], doubtful["symbol"]) == ("circle", "circle-open")


def test_the_surface_turns_by_buttons_and_by_the_mouse(reader: Reader) -> None:
    page = reader.open(small())
    place = figure(page, "surfaces")
    eye = "document.querySelector('#surfaces .plot')._fullLayout.scene._scene.getCamera().eye"
    start = page.evaluate(eye)
    page.get_by_role("button", name="Turn left").click()
    page.wait_for_function(f"before => {eye}.x !== before", arg=start["x"])
    turned = page.evaluate(eye)

    box = place.bounding_box()
    page.mouse.move(box["x"] + 500, box["y"] + 300)
    page.mouse.down()
    page.mouse.move(box["x"] + 620, box["y"] + 320, steps=6)
    page.mouse.up()
    page.wait_for_function(f"before => {eye}.x !== before", arg=turned["x"])
    distance = f"Math.hypot({eye}.x, {eye}.y, {eye}.z)"
    near = page.evaluate(distance)
    page.mouse.wheel(0, 300)
    page.wait_for_function(f"before => Math.abs({distance} - before) > 0.01", arg=near)


def test_the_flat_view_is_a_table_with_marked_doubts(reader: Reader) -> None:
    results = small()
    page = reader.open(results)
    figure(page, "surfaces")
    menu(page, "surfaces", "view").select_option("2D")
    cells = [cell for cell in results.grids[0].cells if cell.test == "read"]
    fields = page.locator("#surfaces .map td")

    assert page.locator("#surfaces .plot").is_hidden() and page.locator("#surfaces .map").is_visible()
    assert fields.count() == len(cells)
    assert page.locator("#surfaces .map td.doubtful").count() == sum(
        not cell.valid("bandwidth") for cell in cells
    )
    assert "not valid: generator-bound" in page.locator("#surfaces .map td.doubtful").first.text_content()
    before = page.locator("#surfaces .map").inner_text()
    menu(page, "surfaces", "metric").select_option("p99")
    assert page.locator("#surfaces .map").inner_text() != before
    assert "p99 latency in" in page.locator("#surfaces .map caption").inner_text()


def test_hovering_says_value_interval_n_and_verdict(reader: Reader) -> None:
    page = reader.open(small())
    place = figure(page, "throughput")
    settle(page)
    page.locator("#throughput .scatterlayer .point").nth(3).hover(force=True)
    page.wait_for_selector("#throughput .hoverlayer .hovertext")
    words = place.locator(".hoverlayer").text_content()

    for expected in ("read, 4 KiB, iodepth 8, 1 job", "bandwidth", "95 % interval", "n = 3", "valid"):
        assert expected in words


def test_menus_change_the_curves_and_mark_the_knee(reader: Reader) -> None:
    page = reader.open(small())
    figure(page, "throughput")
    assert [trace["name"] for trace in traces(page, "throughput")] == ["4 KiB", "1 MiB", "knee"]
    assert traces(page, "throughput")[-1]["symbol"] == "star"
    by_p99 = traces(page, "throughput")[0]["x"]

    choose(page, "throughput", "latency", "mean")
    assert traces(page, "throughput")[0]["x"] != by_p99
    choose(page, "throughput", "Lines", "by engine")
    assert [trace["name"] for trace in traces(page, "throughput")][:2] == ["io_uring", "libaio"]
    choose(page, "throughput", "Test", "randwrite")
    menu(page, "throughput", "At").select_option("4 KiB, 16 jobs")
    page.wait_for_function("() => document.querySelector('#throughput .plot').data[0].x.length === 8")
    colours = traces(page, "throughput")[0]["colours"]
    assert len(set(colours)) == 2, "collapsed points are hollow"
    assert "it collapses at" in page.locator("#throughput .knees").inner_text()


def test_limits_are_dashed_lines_or_said_to_lie_above(reader: Reader) -> None:
    page = reader.open(small())
    figure(page, "throughput")
    shapes = page.evaluate(
        "document.querySelector('#throughput .plot').layout.shapes.map((one) => one.line.dash)"
    )

    assert shapes == ["dash"]
    assert "memory copy" in page.locator("#throughput > .notice").inner_text()


def test_percentiles_follow_their_menus(reader: Reader) -> None:
    page = reader.open(small())
    figure(page, "percentiles")
    before = traces(page, "percentiles")
    assert [trace["name"] for trace in before] == ["mean", "p50", "p90", "p99", "p99.9"]
    choose(page, "percentiles", "Points by", "numjobs")
    assert traces(page, "percentiles")[0]["x"] == [1, 16]


def test_runs_are_one_more_menu_and_one_more_line(reader: Reader) -> None:
    page = reader.open(small("old"), small("new"))
    figure(page, "throughput")

    assert [trace["name"] for trace in traces(page, "throughput")][:2] == ["old", "new"]
    choose(page, "surfaces", "Run", "new")
    assert page.locator("#cells thead th").nth(1).inner_text().startswith("run")


def test_the_table_sorts_both_ways_and_says_so(reader: Reader) -> None:
    page = reader.open(small())
    heads = page.locator("#cells thead th")
    names = [text.split("\u00a0")[0].strip() for text in heads.all_inner_texts()]
    place = names.index("IOPS")
    button = heads.nth(place).get_by_role("button")
    iops = [cell.metrics["iops"].value for cell in small().cells]

    button.click()
    assert heads.nth(place).get_attribute("aria-sort") == "ascending"
    smallest = page.locator("#cells tbody tr td").nth(place).inner_text()
    button.click()
    assert heads.nth(place).get_attribute("aria-sort") == "descending"
    largest = page.locator("#cells tbody tr td").nth(place).inner_text()
    assert smallest.startswith(f"{min(iops):.0f}")
    assert largest.removeprefix("○ ").startswith(f"{max(iops) / 1000:.0f}")


def test_the_table_filters_by_words_of_any_column(reader: Reader) -> None:
    page = reader.open(small())
    expected = sum(any(verdict.name == "collapsed" for verdict in cell.verdicts) for cell in small().cells)
    page.get_by_label("Filter: Every cell with its verdict").fill("randwrite collapsed")

    assert page.locator("#cells .status").inner_text() == f"{expected} of 256 rows"
    assert page.locator("#cells tbody tr").count() == expected


def test_rows_are_made_as_the_reader_scrolls(reader: Reader) -> None:
    page = reader.open(sample())
    assert page.locator("#cells tbody tr").count() == 100
    page.locator("#cells .scroll").evaluate("(place) => { place.scrollTop = place.scrollHeight; }")
    page.wait_for_function("() => document.querySelectorAll('#cells tbody tr').length > 100")


def test_details_hold_the_command_that_repeats_the_cell(reader: Reader) -> None:
    results = small()
    page = reader.open(results)
    page.locator("#cells tbody tr button").nth(2).click()
    dialog = page.locator("dialog")

    assert dialog.locator("code").inner_text() == results.cells[2].command
    assert "t interval over 3 repeats" in dialog.inner_text()
    dialog.get_by_role("button", name="Copy command").click()
    dialog.get_by_role("button", name=re.compile("Copied|Selected")).wait_for()
    page.keyboard.press("Escape")
    assert dialog.is_hidden()


def downloaded(page: Any, name: str) -> str:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=name).click()
    return Path(waiting.value.path()).read_text(encoding="utf-8")


def test_the_data_downloads_as_csv_and_json(reader: Reader) -> None:
    results = small()
    page = reader.open(results)
    rows = list(csv.DictReader(io.StringIO(downloaded(page, "Download CSV"))))
    document = json.loads(downloaded(page, "Download JSON"))

    assert len(rows) == len(document["cells"]) == len(results.cells)
    for row, entry, cell in zip(rows, document["cells"], results.cells, strict=True):
        value = cell.metrics["bandwidth"].value / 2**20
        assert float(row["bandwidth_value_mib_per_second"]) == pytest.approx(value, rel=1e-3)
        assert entry["bandwidth_value_mib_per_second"] == pytest.approx(value, rel=1e-3)
        assert row["command"] == entry["command"] == cell.command
        assert entry["iops_valid"] == cell.valid("iops")
    assert [one["reason"] for one in document["failed"]] == [one.reason for one in results.failed]


def test_a_foreign_formula_is_not_run_by_a_spreadsheet(reader: Reader) -> None:
    one = single()
    page = reader.open(replace(one, cells=(replace(one.cells[0], experiment='=cmd|"x"!A1'),)))
    row = next(csv.DictReader(io.StringIO(downloaded(page, "Download CSV"))))

    assert row["experiment"] == '\'=cmd|"x"!A1'


def test_dark_mode_follows_the_system_and_the_button(reader: Reader) -> None:
    page = reader.open(small(), color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    figure(page, "throughput")
    page.get_by_role("button", name="Dark").click()

    assert dark == "rgb(20, 23, 27)" and page.evaluate(ground) == "rgb(255, 255, 255)"
    page.wait_for_function(
        "() => document.querySelector('#throughput .plot').layout.font.color === '#16191d'"
    )


def test_paper_shows_tables_instead_of_the_turning_surface(reader: Reader) -> None:
    page = reader.open(small())
    figure(page, "throughput")
    rows = "document.querySelectorAll('#cells tbody tr').length"
    page.evaluate(f"addEventListener('beforeprint', () => setTimeout(() => {{ window.printed = {rows}; }}))")
    document = page.pdf(format="A4")
    page.emulate_media(media="print")

    assert document.startswith(b"%PDF") and len(re.findall(rb"/Type\s*/Page\b", document)) >= 5
    page.wait_for_function("() => window.printed !== undefined")
    assert page.evaluate("window.printed") == len(small().cells)
    assert page.locator("#surfaces .map").is_visible() and page.locator("#surfaces .plot").is_hidden()
    assert page.locator(".menus").first.is_hidden()
    assert page.locator("#throughput .plot").is_visible()


def test_the_keyboard_reaches_menus_and_changes_them(reader: Reader) -> None:
    page = reader.open(small())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.menu") == "metric":
            break
    focused = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    before = menu(page, "surfaces", "metric").input_value()
    page.keyboard.press("ArrowDown")

    assert focused == "solid"
    assert (before, menu(page, "surfaces", "metric").input_value()) == ("bandwidth", "iops")


def test_without_webgl_the_surface_is_a_table_and_says_why(reader: Reader) -> None:
    no_webgl = """const original = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
            return kind.startsWith("webgl") ? null : original.call(this, kind, ...rest); };"""
    page = reader.open(small(), init=no_webgl)

    assert page.locator("#surfaces .map td").first.is_visible()
    assert "no WebGL" in page.locator("#surfaces > .notice").inner_text()
    assert page.locator("#surfaces .plot").is_hidden()
    figure(page, "throughput")


def test_without_scripts_answers_doubts_and_depth_are_still_there(reader: Reader) -> None:
    page = reader.open(small(), java_script_enabled=False)

    assert page.locator(".depth .fill").first.is_visible()
    assert page.locator("#doubts").is_visible()


@pytest.mark.parametrize("results", [empty(), single()], ids=["empty", "single cell"])
def test_a_run_with_little_in_it_opens_quietly(reader: Reader, results: Results) -> None:
    page = reader.open(results)

    assert page.locator("#surfaces > .notice").inner_text().startswith("No grid")
    assert page.locator(".plot").count() == 0
    assert ("No cell was measured." in page.locator("#cells").inner_text()) == (not results.cells)


def test_hostile_words_are_shown_and_not_run(reader: Reader) -> None:
    words = '<img src=x onerror="window.hit=1"><b>x</b></script>'
    base = sample(tests=("read",), depths=(1, 2, 4), jobs=(1, 2), blocks=(4096,), engines=("libaio",))
    cells = tuple(replace(cell, test=words, experiment=words, command=words) for cell in base.cells)
    curves = tuple(
        replace(curve, test=words, cells=cells[:3], loads=(1.0, 2.0, 4.0)) for curve in base.curves[:1]
    )
    grids = (replace(base.grids[0], label=words, tests=(words,), cells=cells),)
    page = reader.open(replace(base, label=words, cells=cells, curves=curves, grids=grids, comparisons=()))
    figure(page, "throughput")
    figure(page, "surfaces")
    page.locator("#cells tbody tr button").first.click()

    assert words in page.locator("dialog").inner_text()
    assert page.evaluate("window.hit") is None
    assert page.locator("img, main b:not(.heat b)").count() == 0


def test_a_narrow_screen_needs_no_sideways_scrolling(reader: Reader) -> None:
    page = reader.open(small(), viewport={"width": 400, "height": 800})
    for section in ("surfaces", "throughput", "percentiles"):
        figure(page, section)

    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_a_thousand_cells_open_soon(reader: Reader) -> None:
    results = many(1000)
    write_report([results], reader.folder / "report.html")
    for attempt in attempts():
        started = time.perf_counter()
        page = reader.open(results)
        ready = time.perf_counter() - started
        inside = page.evaluate("performance.getEntriesByType('navigation')[0].domComplete / 1000")
        print(
            f"\n{len(results.cells)} cells: page complete after {inside:.2f} s, seen from outside {ready:.2f} s"
        )
        with attempt:
            assert (
                inside < 10
            )  # a generous bound for a busy machine; the claim of 2 s is shown in benchmarks/


def test_ten_thousand_packed_cells_open_and_sort(reader: Reader) -> None:
    page = reader.open(many(10_000))
    assert page.locator("#data").get_attribute("type") == "text/plain"
    page.locator("#cells thead th").nth(1).get_by_role("button").click()

    assert page.locator("#cells .status").inner_text() == "10240 rows"
    assert page.locator("#cells tbody tr").count() == 100


def test_every_target_is_a_line_of_the_first_picture(reader: Reader) -> None:
    page = reader.open(side_by_side())
    figure(page, "throughput")
    sections = page.evaluate("[...document.querySelectorAll('main > section')].map((one) => one.id)")

    assert sections[:4] == ["answer", "throughput", "targets", "depth"]
    assert [trace["name"] for trace in traces(page, "throughput")] == [*sorted(TARGETS), "knee"]
    assert page.evaluate("document.querySelector('#throughput .plot').layout.shapes.length") == 1


def test_the_bars_of_targets_stay_in_their_order_and_in_their_place(reader: Reader) -> None:
    page = reader.open(side_by_side())
    board = page.locator(".board").first
    names = board.locator("tbody th").all_inner_texts()
    widths = [box["width"] for box in (bar.bounding_box() for bar in board.locator(".fill").all())]

    assert names == ["nfs", "moosefs", "glusterfs", "cephfs", "juicefs"]
    assert widths[:4] == sorted(widths[:4], reverse=True) and widths[4] > widths[0]
    assert "impossible and cached" in board.locator("tr.behind").inner_text()


def test_a_row_of_clients_opens_to_each_of_them_and_closes_again(reader: Reader) -> None:
    results = side_by_side()
    page = reader.open(results)
    place = page.locator("#clients")
    button = place.locator("tbody button").first
    button.click()
    lines = place.locator(".members tbody tr")

    assert lines.locator("th").all_inner_texts() == [
        "client1",
        "client2",
        "client3",
        "server1",
        "server2",
        "server3",
    ]
    assert lines.first.locator(".ran div").bounding_box()["width"] > 50
    assert button.get_attribute("aria-expanded") == "true"
    button.click()
    assert place.locator(".members").count() == 0


def test_an_opened_row_does_not_hide_the_rows_below(reader: Reader) -> None:
    page = reader.open(side_by_side())
    place = page.locator("#clients")
    place.locator("tbody button").nth(3).click()
    place.locator(".scroll").evaluate("(one) => { one.scrollTop = one.scrollHeight; }")

    assert place.locator("tbody button").count() == len(side_by_side().cells)


def test_a_late_client_shows_in_its_bar_and_in_the_overlap(reader: Reader) -> None:
    page = reader.open(side_by_side())
    place = page.locator("#clients")
    place.get_by_label("Filter: Cells of several clients").fill("randread moosefs 32,")
    row = place.locator("tbody tr").first
    row.get_by_role("button").click()
    bars = [bar.bounding_box() for bar in place.locator(".ran div").all()]

    assert "56.3 %" in row.inner_text()
    assert bars[2]["x"] > bars[0]["x"] + 20


def test_the_details_of_a_cell_hold_its_clients(reader: Reader) -> None:
    page = reader.open(side_by_side())
    page.locator("#cells tbody tr button").first.click()
    words = page.locator("dialog .members").inner_text()

    assert all(name in words for name in ("client1", "client3", "server1", "link used"))


def test_between_targets_nothing_is_interpolated(reader: Reader) -> None:
    page = reader.open(side_by_side())

    assert page.locator("#surfaces").get_attribute("data-view") == "2D"


def test_several_targets_fit_a_narrow_screen(reader: Reader) -> None:
    page = reader.open(side_by_side(), viewport={"width": 400, "height": 800})
    figure(page, "throughput")

    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_hostile_names_of_targets_and_clients_stay_words(reader: Reader) -> None:
    words = '<img src=x onerror="window.hit=1">'
    page = reader.open(side_by_side(rename={"nfs": words, "client3": words}))
    figure(page, "throughput")
    page.locator("#clients tbody button").first.click()

    assert words in page.locator(".board").first.inner_text()
    assert words in page.locator("#clients .members").inner_text()
    assert page.evaluate("window.hit") is None
    assert page.locator("img").count() == 0


def test_metadata_is_drawn_over_processes_and_over_depth_with_published_rates_behind(reader: Reader) -> None:
    page = reader.open(metadata_run())
    place = figure(page, "metadata")
    names = place.evaluate("(plot) => plot.data.map((trace) => trace.name)")
    assert names.count("published") == 4 and "file create" in names and "knee" in names
    hollow = place.evaluate("(plot) => plot.data.find((trace) => trace.name === 'file create').marker.color")
    assert len(set(hollow)) == 2, "the point with a trend is hollow"
    choose(page, "metadata", "kind", "directory")
    assert "directory stat" in place.evaluate("(plot) => plot.data.map((trace) => trace.name)")
    tree = menu(page, "metadata", "Tree")
    choose(page, "metadata", "Tree", tree.locator("option").nth(1).inner_text())
    assert "published" not in place.evaluate("(plot) => plot.data.map((trace) => trace.name)")


def test_metadata_is_in_operations_in_curves_surfaces_and_cells(reader: Reader) -> None:
    page = reader.open(metadata_run())
    axis = figure(page, "throughput").evaluate("(plot) => plot.layout.yaxis.title.text")
    assert axis.startswith("operations, ") and "ops/s" in axis
    page.locator("#cells").scroll_into_view_if_needed()
    cells = page.locator("#cells .lazy").inner_text()
    assert "ops/s" in cells and "IOPS" not in cells
    heads = page.locator("#cells thead").inner_text().split()
    assert heads.index("failed") < heads.index("operations/s"), "a rate never stands without its errors"
