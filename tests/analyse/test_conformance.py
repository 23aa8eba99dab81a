"""Conformance runs judged: what counts as tested, what was expected, what changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leadline.analyse.conformance import changes, judged, out_of_space, regressions, tallies, tally
from leadline.errors import UserError
from leadline.expectations.known import ExpectedFailure, ExpectedFailures
from leadline.store.conformance import Case, Conformance, Outcome

PASSED, FAILED, SKIPPED, NOTHING = Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED, Outcome.NOT_APPLICABLE


def run(*cases: Case, suite: str = "rust") -> Conformance:
    return Conformance(suite, "1", "here", {}, cases)


def listed(*names: str, suite: str = "rust") -> ExpectedFailures:
    return ExpectedFailures("here", suite, tuple(ExpectedFailure(name, "known") for name in names))


def test_what_tests_nothing_is_neither_passed_nor_tested() -> None:
    cases = [Case("chflags/00.t", NOTHING), Case("chflags/01.t", PASSED), Case("chflags/02.t", SKIPPED)]
    total = tally("chflags", cases)
    assert (total.passed, total.tested, total.skipped, total.not_applicable) == (1, 1, 1, 1)


def test_every_call_of_the_published_table_has_a_row_and_unknown_calls_come_last() -> None:
    rows = tallies([Case("zebra::x", PASSED), Case("chmod::x", FAILED)])
    assert rows[0].call == "chflags"
    assert rows[-1].call == "zebra"
    assert [row.failed for row in rows if row.call == "chmod"] == [1]


def test_only_failures_outside_the_list_are_unexpected() -> None:
    result = run(Case("a::x", FAILED), Case("a::y", FAILED), Case("a::z", PASSED), Case("b::x", PASSED))
    verdict = judged(result, listed("a::y", "a::z"))
    assert [case.name for case in verdict.unexpected] == ["a::x"]
    assert [case.name for case in verdict.expected] == ["a::y"]
    assert [case.name for case in verdict.healed] == ["a::z"]


def test_without_a_list_every_failure_is_unexpected() -> None:
    assert len(judged(run(Case("a::x", FAILED), Case("a::y", FAILED)), None).unexpected) == 2


def test_a_list_of_the_other_suite_is_refused() -> None:
    with pytest.raises(UserError, match="of the c suite and the rust suite ran"):
        judged(run(), listed(suite="c"))


def test_changes_name_what_ended_otherwise_and_what_came_and_went() -> None:
    before = run(Case("a::x", PASSED), Case("a::y", FAILED), Case("a::gone", PASSED))
    after = run(Case("a::x", FAILED), Case("a::y", FAILED), Case("a::new", SKIPPED))
    found = {change.name: (change.before, change.after) for change in changes(before, after)}
    assert found == {"a::x": (PASSED, FAILED), "a::gone": (PASSED, None), "a::new": (None, SKIPPED)}


def test_only_new_failures_are_regressions() -> None:
    before = run(Case("a::x", PASSED), Case("a::y", FAILED), Case("a::z", SKIPPED))
    after = run(Case("a::x", FAILED), Case("a::y", PASSED), Case("a::z", PASSED))
    assert [change.name for change in regressions(changes(before, after))] == ["a::x"]


def test_runs_of_different_suites_are_not_compared() -> None:
    with pytest.raises(UserError, match="only runs of one can be compared"):
        changes(run(), replace(run(), suite="c"))


def test_failures_of_a_full_filesystem_are_told_apart() -> None:
    result = run(
        Case("a::x", FAILED, "called `Result::unwrap()` on an `Err` value: ENOSPC"),
        Case("a::y", FAILED, "EPERM"),
    )
    assert [case.name for case in out_of_space(result)] == ["a::x"]
