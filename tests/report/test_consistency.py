"""The section on consistency: nothing violated goes unshown, nothing held is called right, and the price is drawn as it was measured."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from leadline.analyse.price import prices
from leadline.analyse.results import Results
from leadline.analyse.staleness import staleness
from leadline.report import as_json, show
from leadline.report.consistency import consistency_section
from leadline.report.figures.delay_figure import delay_figure
from leadline.report.figures.price_figure import price_figure
from leadline.report.figures.timeline import in_letters, said, timeline, value
from leadline.report.ladder import rows, stories
from leadline.report.page import page
from leadline.store.histories import DelaySample

sys.path.insert(0, str(Path(__file__).parents[1]))
from analyse.consistency_samples import consistency_record, late_by, sounded, swept

TOKEN = (1 << 48) + (2 << 32) + 92
"""The 92nd value of worker 2 of client 1."""


@pytest.fixture(scope="module")
def juicefs() -> Results:
    return sounded(consistency_record(cell={"promise": "close-to-open; bounded=2s"}))


@pytest.fixture(scope="module")
def section(juicefs: Results) -> str:
    return str(consistency_section([juicefs]))


def test_a_run_without_soundings_has_no_section() -> None:
    results = sounded()
    assert consistency_section([results]) is None
    assert 'id="consistency"' not in page([results])


def test_the_page_holds_the_section_and_leads_to_it(juicefs: Results) -> None:
    text = page([juicefs])
    assert 'href="#consistency"' in text and text.count('<section id="consistency">') == 1
    assert "planned cell" not in text, "nothing measured would be said of a run that sounded"


def test_every_violated_guarantee_is_a_square_and_every_distinct_witness_a_story(
    juicefs: Results, section: str
) -> None:
    (site,) = juicefs.consistency
    squares = [step for row in rows(site) for step in row.steps if step]
    assert sum(step.shade in ("violated", "broken") for step in squares) == 14
    assert [step.headline for step in squares if step.shade == "broken"] == ["449 of 2,677"]
    told = stories(site)
    assert told[0].finding and not any(story.finding for story in told[1:])
    assert section.count('<article class="story') == len(told) == len({story.sentence for story in told})


def test_held_stands_with_its_n_and_its_bound_and_never_as_zero(juicefs: Results) -> None:
    (site,) = juicefs.consistency
    held = [step.beside for row in rows(site) for step in row.steps if step and step.shade == "held"]
    assert held and all(re.match(r"n\u00a0[\d,]+, <\u00a0[\d.]+\u00a0%", words) for words in held)
    assert not any("<\u00a00\u00a0%" in words or "<\u00a00.0\u00a0%" in words for words in held)


def test_what_was_lost_stands_in_the_overview_and_in_the_matrix(section: str) -> None:
    assert '<td class="number bad">2</td>' in section
    assert section.count("LOST 2 of 2") == 2
    assert "close-to-open: violated" in section


def test_delayed_looks_are_drawn_and_the_last_stale_one_is_told(juicefs: Results) -> None:
    (site,) = juicefs.consistency
    for curve in site.staleness:
        figure = delay_figure(curve, site.delays)
        fresh = curve.samples - curve.stale
        assert (len(figure.stale_marks), len(figure.fresh_marks)) == (curve.stale, fresh)
        assert curve.foot is not None and "none from" in figure.sentence
        assert (
            figure.cache_x is None and "the cache keeps" not in figure.sentence
        )  # nobody knows how old the cache was


def test_a_cache_of_known_age_gives_its_time_away_though_the_answers_were_fresh_before() -> None:
    cache_ns, age_ns = 1_000_000_000, 100_000_000
    delays = range(0, 1_500_000_000, 10_000_000)
    samples = [
        DelaySample("unlink -> stat", delay, delay + age_ns < cache_ns, number, age_ns)
        for number, delay in enumerate(delays)
    ]
    (curve,) = staleness(samples)
    figure = delay_figure(curve, samples)
    assert "none from 895 ms" in figure.sentence and "the cache keeps for 995 ms" in figure.sentence
    assert figure.cache_x == pytest.approx(figure.left + (figure.right - figure.left) * 0.995 / 1.49, abs=0.5)


def test_looks_that_were_never_stale_are_a_sentence_and_no_empty_figure() -> None:
    fine = sounded(consistency_record(documents={"visibility": late_by(0, lost=False)}))
    text = str(consistency_section([fine]))
    assert "<figure>" not in text and "How likely" not in text


def test_an_operation_without_an_answer_reaches_to_the_end_and_says_so() -> None:
    first = {"client": 0, "action": "write", "outcome": "doubt", "errno": 5, "start_ns": 0, "end_ns": None,
             "value_in": TOKEN, "value_out": 0, "list": []}  # fmt: skip
    second = {**first, "client": 1, "action": "read", "outcome": "ok", "start_ns": 500, "end_ns": 1000}
    bars = timeline({"operations": [first, second]}, ["A", "B"])
    assert [(bar.client, bar.begin, bar.width) for bar in bars] == [("A", 0, 100), ("B", 50, 50)]
    assert (
        bars[0].words == "wrote B's 92 of worker 2: no answer, so nobody knows"
        and bars[0].when == "0, no answer"
    )
    assert bars[1].words == "read nothing" and bars[1].wrong and not bars[0].wrong


def test_values_are_told_by_who_wrote_them_and_numbers_as_numbers() -> None:
    assert value(TOKEN, ["A", "B"]) == "B's 92 of worker 2" and value(7, ["A"]) == "A's 7"
    assert (
        in_letters(f"client 0 read {TOKEN} at 16456.9 ms", ["A", "B"])
        == "A read B's 92 of worker 2 at 16456.9 ms"
    )
    counted = {
        "client": 0,
        "action": "increment",
        "outcome": "ok",
        "errno": 0,
        "value_in": 21,
        "value_out": 20,
        "list": [],
    }
    assert said(counted, ["A"], "locked_counter") == "counted from 20 to 21"


def test_the_price_is_drawn_from_fresh_to_stale_and_from_slow_to_fast() -> None:
    (price,) = prices(swept())
    figure = price_figure(price)
    across = [column.x for column in figure.columns]
    assert across == sorted(across) and figure.left < across[0] and across[-1] < figure.right
    assert [column.lost for column in figure.columns] == ["", "✕ 4 of 4", "✕ 4 of 4", "✕ 4 of 4"]
    stat = next(line for line in figure.lines if line.label == "file stat")
    heights = [mark.y for mark in stat.marks]
    assert (
        heights == sorted(heights, reverse=True) and figure.top <= heights[-1] < heights[0] <= figure.bottom
    )
    create = next(line for line in figure.lines if line.label == "file create")
    assert len({mark.y for mark in create.marks}) == 1, "what gains nothing is a flat line"
    labels = sorted(line.label_y for line in figure.lines)
    assert labels[1] - labels[0] >= 17


def test_the_price_stands_beside_its_table_with_rates_staleness_and_lost_appends() -> None:
    text = str(consistency_section([swept()]))
    assert "The price of consistency: juicefs" in text and "buy 8.00 times the rate of file stat" in text
    row = re.search(r'<th scope="row">1 s</th>.*?</tr>', text, re.DOTALL)
    assert row and "1.00 s" in row[0] and "4 of 4" in row[0] and "40.0k" in row[0]
    for drawing in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        ElementTree.fromstring(drawing)


def test_every_figure_of_the_section_is_well_formed(section: str) -> None:
    drawings = re.findall(r"<svg.*?</svg>", section, re.DOTALL)
    assert len(drawings) == 4
    for drawing in drawings:
        ElementTree.fromstring(drawing)
    assert "nan" not in section.lower().replace("finance", "")


def test_foreign_words_are_escaped() -> None:
    text = str(consistency_section([sounded(consistency_record(cell={"target": "<b>x</b>"}))]))
    assert "<b>x</b>" not in text and "&lt;b&gt;x&lt;/b&gt;" in text


def test_the_terminal_tells_counts_promises_violations_and_the_price(juicefs: Results) -> None:
    console = Console(file=io.StringIO(), width=120)
    show([juicefs, swept()], console)
    told = " ".join(console.file.getvalue().split())  # type: ignore[attr-defined]
    assert "promise close-to-open: violated in 2 of 2 cells" in told
    assert "no lost write of append log violated, 77 of 477" in told
    assert "The price of consistency: juicefs, attr-cache and entry-cache" in told
    assert "Nothing was measured" not in told


def test_programs_get_the_same(juicefs: Results) -> None:
    run = as_json([juicefs])["runs"][0]
    (site,) = run["consistency"]
    assert [each["verdict"] for each in site["promises"]] == ["violated", "violated"]
    assert sum(each["verdict"] == "violated" for each in site["guarantees"]) == 14
    assert {each["ending"] for each in site["grid"]} == {"lost", "later"}
    points = as_json([swept()])["runs"][0]["prices"][0]["points"]
    assert [point["appends_lost"] for point in points] == [0, 4, 4, 4]
