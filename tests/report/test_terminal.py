"""The terminal view, as plain text."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from sample_results import empty, sample, single

from leadline.analyse.results import Answer, Doubt, Results
from leadline.report import show


def shown(results: Results, width: int = 140) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    show([results], console, Path("/runs/1/report.html"))
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_answers_doubts_cells_and_the_report_follow_each_other() -> None:
    text = shown(sample())
    places = [
        text.index(words)
        for words in (
            "How fast should it be?",
            "Best settings",
            "What not to trust",
            "Best cell of each test",
            "Report: /runs/1/report.html",
        )
    ]

    assert places == sorted(places)


def test_few_cells_are_all_shown_with_their_verdicts() -> None:
    text = shown(sample(tests=("read",), depths=(1, 2), jobs=(1, 16), blocks=(4096,), engines=("libaio",)))

    assert text.count("read ") >= 4 and text.count("generator-bound") >= 2 and "valid" in text


def test_many_cells_are_summed_up_by_test_with_counts() -> None:
    rows = [
        line
        for line in shown(sample()).splitlines()
        if line.startswith(("read", "write", "randread", "randwrite"))
    ]

    assert len(rows) == 4 and all("160" in row for row in rows)


def test_a_figure_that_is_not_valid_wears_a_mark() -> None:
    text = shown(sample(tests=("read",), depths=(1,), jobs=(16,), blocks=(4096,), engines=("libaio",)))

    assert "○" in text


def test_an_empty_run_says_so() -> None:
    text = shown(empty())

    assert "Nothing was measured" in text and "12 of 12 planned cells are missing" in text
    assert "Every check" not in text


def test_metrics_that_the_source_lacks_have_no_column() -> None:
    text = shown(single())

    assert "mean" in text and "p99" not in text


def test_foreign_words_are_not_read_as_markup() -> None:
    run = replace(
        single(),
        label="[bold]x[/bold]",
        answers=(Answer("[red]q", "[link=x]s"),),
        doubts=(Doubt("[d]", "[/nothing]", 1),),
    )
    text = shown(run)

    for words in ("[bold]x[/bold]", "[red]q", "[link=x]s", "[d]", "[/nothing]"):
        assert words in text


def test_nothing_is_lost_in_a_narrow_terminal() -> None:
    text = shown(sample(), width=60)

    assert "What not to trust" in text and max(len(line) for line in text.splitlines()) <= 60
