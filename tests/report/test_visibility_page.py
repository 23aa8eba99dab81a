"""The visibility matrix in words: LOST, never and at once stand there in letters, whatever the colours."""

from __future__ import annotations

import io
import itertools
import re

from rich.console import Console

from leadline.analyse.promises import kept, promised
from leadline.analyse.visibility import windows
from leadline.report.page import template_text
from leadline.report.visibility_page import LEGEND, matrix, visibility_page
from leadline.report.visibility_terminal import show_visibility
from leadline.store.visibility import Cell, Ending, Seen, Trial, Visibility

MS = 1_000_000


def sample() -> Visibility:
    def trial(cell: Cell, ending: Ending, *seen: Seen, **more: object) -> Trial:
        return Trial(cell, "A", "B", ending, "old old", "new new", seen, **more)  # type: ignore[arg-type]

    lost = {"at_the_end": {"A": "1 3", "B": "1 3"}, "reason": "'1 3' in place of '1 2 3'"}
    return Visibility(
        "juicefs <default>",
        ({"name": "A", "directory": "/a", "filesystem": "fuse.juicefs"},),
        "",
        {"patience_seconds": 5.0, "settled_seconds": 5.0},
        {"created_utc": "2026-01-01T00:00:00+00:00"},
        (
            trial(Cell("append", "append", "made it", "close"), Ending.LOST, Seen("1 3", 0, 5000 * MS, 90), **lost),
            trial(Cell("overwrite", "held", "held", "close"), Ending.NEVER, Seen("old old", 0, 5000 * MS, 90)),
            trial(
                Cell("rename over", "open", "read"), Ending.LATER,
                Seen("ENOENT", 0, 930 * MS, 40), Seen("new new", 945 * MS, 945 * MS, 1),
            ),
            trial(Cell("create", "stat", "looked"), Ending.AT_ONCE, Seen("new new", 0, 0, 1)),
            trial(Cell("create", "stat", "cold"), Ending.AT_ONCE, Seen("new new", 0, 0, 1)),
            trial(Cell("setxattr", "getxattr", "looked"), Ending.UNSUPPORTED, reason="EOPNOTSUPP"),
        ),
        ("Asking may itself refresh a cache.",),
    )  # fmt: skip


def test_the_page_says_in_words_what_the_colours_show_and_escapes_what_is_foreign() -> None:
    found = windows(sample())
    text = visibility_page(sample(), found, [kept(promised("eventual"), found)])
    for said in ("LOST 1 of 1", "never in 5 s", "945 ms", "ENOENT meanwhile", "at once", "not offered"):
        assert said in text
    assert "juicefs &lt;default&gt;" in text and "<default>" not in text
    assert "eventual: violated in 1 of 5 cells: append / append" in text
    assert "<script" not in text and "src=" not in text


def test_a_row_is_a_change_the_worst_first_and_a_square_holds_every_way_of_looking() -> None:
    rows = dict(matrix(windows(sample()), 5.0))
    assert list(rows) == ["append, close", "overwrite, close", "rename over", "create", "setxattr"]
    assert [entry["beside"] for entry in rows["create"]["name"]] == ["stat, looked", "stat, cold"]
    assert list(rows["append, close"]) == ["append"]


def test_every_colour_has_a_style_and_words_with_enough_contrast() -> None:
    style = template_text("visibility.css")
    for shade, _ in LEGEND:
        assert f".shade.{shade} {{" in style
    pairs = re.findall(r"background: (#\w{6}); color: (#\w{6})", style)
    assert len(pairs) == len(LEGEND) - 1
    assert min(contrast(*pair) for pair in pairs) >= 4.5  # WCAG AA


def test_neighbouring_shades_differ_in_lightness_and_not_in_hue_alone() -> None:
    style = template_text("visibility.css")
    shades = ["once", "later-0", "later-1", "later-2", "later-3"]
    lightness = [
        luminance(re.search(rf"\.shade\.{shade} {{ background: (#\w{{6}})", style)[1])  # type: ignore[index]
        for shade in shades
    ]
    assert all(one > 1.2 * other for one, other in itertools.pairwise(lightness))


def test_the_terminal_shows_the_worst_first_and_tells_the_story_of_a_loss() -> None:
    console = Console(file=io.StringIO(), width=250)
    found = windows(sample())
    show_visibility(sample(), found, [], console)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert (
        shown.index("LOST 1 of 1")
        < shown.index("never in 5 s")
        < shown.index("945 ms")
        < shown.rindex("at once")
    )
    assert "at the end A saw '1 3' and B saw '1 3'" in shown


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    brighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)
