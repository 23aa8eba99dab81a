"""The object store's section in a real browser: every view draws its lines, the console stays empty."""

from __future__ import annotations

from pathlib import Path

import pytest
from object_samples import LOADS, object_results

from leadline.report import write_report

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = ["--no-sandbox"]
LINES = {"bandwidth": ["put", "get"], "iops": ["put", "get", "list"], "p99": ["put", "get", "list"]}
"""A listing moves no bytes."""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"{CHROMIUM} is not there"),
]


def test_every_view_draws_one_line_a_request_that_has_the_figure(tmp_path: Path) -> None:
    path = write_report([object_results()], tmp_path / "report.html")
    said: list[str] = []
    drawn: dict[str, dict[str, int]] = {}
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(120_000)
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        page.locator("#objects .plot").scroll_into_view_if_needed()
        page.wait_for_selector("#objects .plot[data-drawn]", timeout=60_000)
        menu = page.locator("#objects select[data-menu=metric]")
        for view in LINES:
            before = page.locator("#objects .plot").get_attribute("data-drawn")
            menu.select_option("iops" if view != "iops" else "bandwidth")
            menu.select_option(view)
            page.wait_for_function(
                "before => Number(document.querySelector('#objects .plot').dataset.drawn) >= Number(before) + 2", arg=before, timeout=60_000
            )  # fmt: skip
            drawn[view] = page.evaluate(
                "Object.fromEntries(document.querySelector('#objects .plot').data.map((trace) => [trace.name, trace.x.length]))"
            )
        browser.close()
    assert said == []
    for view, names in LINES.items():
        lines = {name: points for name, points in drawn[view].items() if name in ("put", "get", "list")}
        assert lines == dict.fromkeys(names, len(LOADS)), view
