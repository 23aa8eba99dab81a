"""Trials summed up by cell, and promises held against them."""

from __future__ import annotations

import math

import pytest

from leadline.analyse.ladder import Verdict
from leadline.analyse.promises import kept, promised
from leadline.analyse.visibility import window, windows
from leadline.errors import UserError
from leadline.store.visibility import Cell, Ending, Seen, Trial, Visibility

CELL = Cell("overwrite", "open", "read", "close")
NAME = Cell("unlink", "stat", "looked")
LOCK = Cell("lock (flock)", "lock (flock)", "looked")
MS = 1_000_000


def trial(ending: Ending, window_ms: int = 0, cell: Cell = CELL, meanwhile: str = "") -> Trial:
    stale = [Seen("old", 0, max(window_ms - 2, 0) * MS, 9)] if window_ms else []
    wrong = [Seen(meanwhile, MS, MS, 1)] if meanwhile else []
    fresh = [Seen("new", window_ms * MS, window_ms * MS, 1)] if ending is not Ending.NEVER else []
    return Trial(cell, "A", "B", ending, "old", "new", (*stale, *wrong, *fresh))


def test_a_window_is_the_time_until_the_first_right_answer() -> None:
    found = window(CELL, [trial(Ending.LATER, 600), trial(Ending.LATER, 900), trial(Ending.AT_ONCE)])
    assert (found.median_ns, found.worst_ns, found.decided, found.stale) == (600 * MS, 900 * MS, 3, 2)
    assert found.ending is Ending.LATER and found.example.window_ns == 900 * MS


def test_a_change_that_was_never_seen_makes_the_worst_endless_and_not_the_median() -> None:
    found = window(CELL, [trial(Ending.NEVER), trial(Ending.LATER, 600), trial(Ending.AT_ONCE)])
    assert (found.median_ns, found.worst_ns, found.ending) == (600 * MS, math.inf, Ending.NEVER)


def test_one_loss_makes_a_cell_lost_however_many_went_well() -> None:
    found = window(CELL, [trial(Ending.AT_ONCE)] * 9 + [trial(Ending.LOST)])
    assert found.ending is Ending.LOST and found.endings[Ending.LOST] == 1 and found.decided == 10


def test_what_is_undecided_is_not_counted_as_anything() -> None:
    found = window(CELL, [trial(Ending.UNDECIDED), trial(Ending.AT_ONCE)])
    assert (found.ending, found.decided, found.worst_ns) == (Ending.AT_ONCE, 1, 0)
    assert window(CELL, [trial(Ending.UNDECIDED)]).median_ns is None


def test_an_answer_that_was_right_neither_before_nor_after_is_kept_apart() -> None:
    found = window(CELL, [trial(Ending.LATER, 900, meanwhile="ENOENT"), trial(Ending.LATER, 900)])
    assert found.never_true == {"ENOENT": 1}


def test_cells_come_in_the_order_in_which_they_were_run() -> None:
    trials = (trial(Ending.AT_ONCE, cell=NAME), trial(Ending.AT_ONCE), trial(Ending.AT_ONCE, cell=NAME))
    found = windows(Visibility("x", (), "", {}, {}, trials))
    assert [(each.cell, each.decided) for each in found] == [(NAME, 2), (CELL, 1)]


def verdict(name: str, *trials: Trial) -> Verdict:
    return kept(promised(name), windows(Visibility("x", (), "", {}, {}, trials))).verdict


def test_close_to_open_is_about_contents_and_not_about_names() -> None:
    late_name = trial(Ending.LATER, 900, NAME)
    assert verdict("close-to-open", late_name, trial(Ending.AT_ONCE)) is Verdict.HELD
    assert verdict("close-to-open", late_name, trial(Ending.LATER, 2)) is Verdict.VIOLATED
    assert verdict("close-to-open", late_name) is Verdict.NOT_EXERCISED
    assert verdict("posix", late_name, trial(Ending.AT_ONCE)) is Verdict.VIOLATED


def test_a_bound_allows_windows_below_it_but_no_answer_that_was_never_true() -> None:
    assert verdict("bounded=1s", trial(Ending.LATER, 900)) is Verdict.HELD
    assert verdict("bounded=500ms", trial(Ending.LATER, 900)) is Verdict.VIOLATED
    assert verdict("bounded=1s", trial(Ending.LATER, 900, meanwhile="ENOENT")) is Verdict.VIOLATED
    assert verdict("bounded=1s", trial(Ending.NEVER)) is Verdict.VIOLATED


def test_eventual_is_broken_by_a_loss_alone() -> None:
    assert verdict("eventual", trial(Ending.NEVER), trial(Ending.LATER, 900)) is Verdict.HELD
    assert verdict("eventual", trial(Ending.LOST)) is Verdict.VIOLATED
    assert verdict("locks", trial(Ending.LOST, cell=LOCK)) is Verdict.VIOLATED


def test_a_cell_that_said_nothing_leaves_a_promise_undecided_and_one_that_is_not_offered_does_not_count() -> (
    None
):
    assert verdict("posix", trial(Ending.UNDECIDED), trial(Ending.AT_ONCE, cell=NAME)) is Verdict.UNDECIDED
    assert verdict("posix", trial(Ending.UNSUPPORTED), trial(Ending.AT_ONCE, cell=NAME)) is Verdict.HELD
    assert verdict("posix", trial(Ending.UNDECIDED), trial(Ending.LATER, 5, NAME)) is Verdict.VIOLATED


def test_a_held_promise_says_how_often_it_could_still_be_broken() -> None:
    trials = tuple(trial(Ending.AT_ONCE) for _ in range(30))
    judged = kept(promised("posix"), windows(Visibility("x", (), "", {}, {}, trials)))
    assert judged.upper_bound == pytest.approx(0.1)


@pytest.mark.parametrize("name", ["close-to-opem", "bounded", "bounded=soon", ""])
def test_a_promise_that_nobody_knows_is_refused(name: str) -> None:
    with pytest.raises(UserError):
        promised(name)
