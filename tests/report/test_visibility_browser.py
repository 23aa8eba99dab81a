"""The visibility matrix in a real browser: nothing is asked of the network, nobody complains, and the worst stands on the first screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_visibility_page import sample

from leadline.analyse.visibility import windows
from leadline.report.visibility_page import write_visibility_page
from leadline.store.visibility import Trial

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = Path("/usr/bin/chromium")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"{CHROMIUM} is not there"),
]


def test_a_loss_is_seen_without_scrolling_sideways_and_nothing_is_asked_of_the_network(
    tmp_path: Path,
) -> None:
    trials: list[Trial] = list(sample().trials)
    path = write_visibility_page(tmp_path / "matrix.html", sample(), windows(sample()), [])
    said: list[str] = []
    asked: list[str] = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(120_000)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        lost = page.locator(".matrix .lost").bounding_box()
        shown = page.locator(".matrix .shade").count()
        browser.close()
    assert lost is not None and lost["x"] + lost["width"] < 1280
    assert shown == len({trial.cell for trial in trials})
    assert said == [] and [url for url in asked if not url.startswith(("file:", "data:"))] == []
