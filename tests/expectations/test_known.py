"""The data files about pjdfstest: complete, consistent with each other, and a user's own list checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline.analyse.conformance import CALLS
from leadline.errors import UserError
from leadline.expectations.known import expected_failures, meaning_of, shipped_lists, suite_cases
from leadline.store.conformance import Case, Outcome


def test_every_case_is_of_a_call_that_the_table_has() -> None:
    assert {Case(name, Outcome.PASSED).call for name in suite_cases()} <= set(CALLS)


def test_every_case_has_a_meaning_for_applications() -> None:
    assert [name for name in suite_cases() if not meaning_of(name)] == []


def test_names_of_the_c_suite_have_a_meaning_by_their_call() -> None:
    assert meaning_of("chmod/00.t") == meaning_of("chmod::something")
    assert meaning_of("chflags/00.t") is None


def test_the_first_pattern_decides() -> None:
    assert "ELOOP" in (meaning_of("chmod::eloop_comp") or "")
    assert "Permission bits" in (meaning_of("chmod::something") or "")


@pytest.mark.parametrize("name", shipped_lists())
def test_a_shipped_list_names_cases_that_there_are_and_says_why(name: str) -> None:
    shipped = expected_failures(name)
    assert shipped.failures
    for failure in shipped.failures:
        assert any(failure.covers(case) for case in suite_cases()), failure.case
        assert failure.why, failure.case


def test_a_users_list_may_use_patterns(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[[failure]]\ncase = "chmod::update_ctime::*"\nwhy = "no change times"\n')
    mine = expected_failures(str(path))
    known = mine.of("chmod::update_ctime::fifo")
    assert known is not None
    assert known.why == "no change times"
    assert mine.of("chmod::change_perm::fifo") is None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("failure = [", "is no TOML"),
        ('fail = "x"', 'unknown key "fail"; did you mean "failure"?'),
        ('suite = "java"', 'suite is "java"'),
        ('[[failure]]\nwhy = "x"', "names no case"),
        ('[[failure]]\ncase = "a::b"\nreason = "x"', 'unknown key "reason"'),
        ("failure = 3", "no list of tables"),
    ],
)
def test_a_wrong_list_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(UserError) as refused:
        expected_failures(str(path))
    assert sentence in str(refused.value)
    assert "wrong.toml" in str(refused.value)


def test_an_unknown_name_is_answered_with_what_there_is() -> None:
    with pytest.raises(UserError, match='did you mean "btrfs"'):
        expected_failures("btfrs")
