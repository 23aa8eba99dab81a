"""The network section in a real browser: every view draws its lines, the console stays empty."""

from __future__ import annotations

from pathlib import Path

import pytest
from network_samples import SIZES, network_results

from leadline.report import write_report

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
LINES = {"space": 1, "size throughput": 3, "size latency": 1, "latency throughput": 1}
"""Traces of each view: leadline measured both, iperf3 throughput alone; the third of throughput by size are the stars."""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"{CHROMIUM} is not there"),
]


def test_every_view_draws_what_was_measured(tmp_path: Path) -> None:
    path = write_report([network_results()], tmp_path / "report.html")
    said: list[str] = []
    drawn: dict[str, tuple[int, int]] = {}
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(120_000)
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        page.locator("#network .plot").scroll_into_view_if_needed()
        page.wait_for_selector("#network .plot[data-drawn]", timeout=60_000)
        menu = page.locator("#network select[data-menu=view]")
        for view in menu.evaluate("menu => [...menu.options].map((option) => option.value)"):
            before = page.locator("#network .plot").get_attribute("data-drawn")
            menu.select_option("size throughput" if view != "size throughput" else "size latency")
            menu.select_option(view)
            page.wait_for_function(
                "before => Number(document.querySelector('#network .plot').dataset.drawn) >= Number(before) + 2", arg=before, timeout=60_000
            )  # fmt: skip
            traces = page.evaluate(
                "document.querySelector('#network .plot').data.map((trace) => trace.x.length)"
            )
            drawn[view] = (len(traces), traces[0])
        browser.close()
    assert said == []
    assert {view: lines for view, (lines, _) in drawn.items()} == {view: LINES[view] for view in drawn}
    assert all(points == len(SIZES) for _, points in drawn.values())
    assert {"size throughput", "size latency", "latency throughput"} <= set(drawn)
