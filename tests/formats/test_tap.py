"""TAP as the C suite's scripts print it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from leadline.formats.tap import read_script


def test_a_script_whose_assertions_all_hold_is_complete() -> None:
    script = read_script("1..2\nok 1\nok 2\n")
    assert script.complete
    assert script.failed == ()


def test_a_failed_assertion_says_what_was_tried() -> None:
    script = read_script("1..2\nok 1\nnot ok 2 - tried 'chmod x 0644', expected 0, got EPERM\n")
    assert [each.text for each in script.failed] == ["tried 'chmod x 0644', expected 0, got EPERM"]


def test_an_announced_failure_is_none() -> None:
    script = read_script("1..1\nnot ok 1 # TODO Linux: known\n")
    assert script.failed == ()
    assert script.assertions[0].directive == "TODO"


def test_a_bare_ok_after_a_plan_of_one_tests_nothing() -> None:
    assert read_script("1..1\nok 1\n").tests_nothing
    assert not read_script("1..2\nok 1\nok 2\n").tests_nothing
    assert not read_script("1..1\nnot ok 1\n").tests_nothing
    assert not read_script("1..1\nok 1 - mkdir makes a directory\n").tests_nothing


def test_fewer_assertions_than_planned_are_incomplete() -> None:
    assert not read_script("1..3\nok 1\n").complete
    assert not read_script("ok 1\n").complete


def test_a_script_may_bail_out() -> None:
    script = read_script("1..3\nok 1\nBail out! no pjdfstest\n")
    assert script.bailed_out == "no pjdfstest"
    assert not script.complete


@given(st.text())
def test_any_text_is_read_without_a_traceback(text: str) -> None:
    read_script(text)
