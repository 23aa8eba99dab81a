"""A conformance run kept as JSON and read again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leadline.errors import UserError
from leadline.store.conformance import (
    Case,
    Conformance,
    Outcome,
    read_conformance,
    write_conformance,
)

RUN = Conformance(
    suite="rust",
    version="pjdfstest 0.2.2 (Rust)",
    label="btrfs",
    facts={"path": "/mnt/x", "claims": {"posix_fallocate": True}},
    cases=(
        Case("rename::updates_link_parent", Outcome.FAILED, "left: 1; right: 3", 0.25),
        Case("link/00.t", Outcome.NOT_APPLICABLE, "nothing", 0.5, 1, 0),
    ),
    notes=("A note.",),
)


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    write_conformance(RUN, tmp_path / "run.json")
    assert read_conformance(tmp_path / "run.json") == RUN


def test_the_time_of_a_run_is_that_of_its_cases() -> None:
    assert RUN.seconds == 0.75


def test_a_case_belongs_to_the_call_that_its_name_begins_with() -> None:
    assert [case.call for case in RUN.cases] == ["rename", "link"]
    assert Case("chown::lchown::enoent_comp", Outcome.PASSED).call == "chown"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": "leadline posix 2"}',
        json.dumps({"format": "leadline posix 1", "cases": [1]}),
    ],
)
def test_another_file_is_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "other.json").write_text(text)
    with pytest.raises(UserError, match=r"other\.json is no result"):
        read_conformance(tmp_path / "other.json")


def test_a_missing_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: No such file"):
        read_conformance(tmp_path / "none.json")
