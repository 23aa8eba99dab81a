"""A conformance run as a table, as a matrix with others, as a page, and as JUnit."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree as Xml

from sample_results import empty
from test_terminal import shown

from leadline.analyse.answers import answer_questions
from leadline.analyse.conformance import DOCUMENT, gather_conformance, judged
from leadline.analyse.conformance_words import conformance_in_words
from leadline.analyse.results import Results
from leadline.expectations.known import ExpectedFailure, ExpectedFailures
from leadline.report.document import document
from leadline.report.junit import junit
from leadline.report.page import page
from leadline.report.posix_matrix import matrices, matrix_markdown, matrix_page
from leadline.report.posix_table import lines
from leadline.store.conformance import Case, Conformance, Outcome, conformance_text
from leadline.store.records import Status, StepKind, StepRecord

EXT4 = Conformance(
    "rust",
    "pjdfstest 0.2.2 (Rust)",
    "ext4",
    {"path": "/mnt/ext4", "host": "here", "ended": "2026-01-01T10:00:00+00:00"},
    (
        Case("rename::updates_link_parent", Outcome.PASSED, "", 0.01),
        Case("link::exdev_target", Outcome.SKIPPED, "why"),
    ),
)
BTRFS = Conformance(
    "rust",
    "pjdfstest 0.2.2 (Rust)",
    "btrfs <&>",
    {"path": "/mnt/btrfs", "host": "here", "ended": "2026-01-01T10:00:00+00:00"},
    (
        Case("rename::updates_link_parent", Outcome.FAILED, "left: 1 \x07 <b>", 0.02),
        Case("rename::other", Outcome.PASSED, "", 0.5),
    ),
    ("posix_fallocate is emulated.",),
)
OLD = Conformance(
    "c",
    "pjdfstest (C)",
    "ext4",
    {"path": "/mnt/ext4"},
    (
        Case("chflags/00.t", Outcome.NOT_APPLICABLE, "", 0.1, 1, 0),
        Case("rename/00.t", Outcome.PASSED, "", 0.1, 9, 0),
    ),
)
KNOWN = ExpectedFailures(
    "btrfs", "rust", (ExpectedFailure("rename::updates_link_parent", "counts no links"),)
)


def printed(result: Conformance, known: ExpectedFailures | None = None) -> str:
    return "\n".join(lines(result, judged(result, known)))


def row(text: str, call: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if line.startswith(call + " "))


def test_a_row_has_passed_of_tested_and_the_published_figure_beside_it() -> None:
    assert row(printed(BTRFS), "rename") == ["rename", "1/2", "16/25"]
    assert row(printed(EXT4), "link") == ["link", "-", "1", "15/18"]


def test_calls_that_a_suite_cannot_test_here_are_said_to_be_so_and_not_passed() -> None:
    assert "no cases on Linux" in next(
        line for line in printed(EXT4).splitlines() if line.startswith("chflags")
    )
    assert row(printed(OLD), "chflags") == ["chflags", "-", "1", "14/14"]


def test_calls_that_were_left_out_are_not_said_to_have_no_cases() -> None:
    assert "not run" in next(line for line in printed(EXT4).splitlines() if line.startswith("chown"))


def test_the_two_suites_are_said_not_to_be_comparable() -> None:
    assert "not comparable" in printed(EXT4)
    assert "not comparable" not in printed(OLD)


def test_a_failure_comes_with_its_reason_and_its_meaning() -> None:
    text = printed(BTRFS)
    assert "Failed, not expected:" in text
    assert "rename::updates_link_parent: left: 1" in text
    assert "The link count of a directory does not follow" in text
    assert text.endswith("1 case failed that should not.")


def test_an_expected_failure_is_shown_as_one() -> None:
    assert "Failed, as expected:" in printed(BTRFS, KNOWN)
    assert "No unexpected failure; 1 expected." in printed(BTRFS, KNOWN)


def test_an_expected_failure_that_passes_is_to_be_taken_from_the_list() -> None:
    assert "take it out of the list" in printed(EXT4, KNOWN)


def test_a_matrix_has_a_column_a_run_and_a_table_a_suite() -> None:
    rust, c = matrices([EXT4, OLD, BTRFS])
    assert rust.columns == ("ext4", "btrfs <&>")
    assert c.columns == ("ext4",)
    cells = {call: [cell.text for cell in cells] for call, cells, _ in rust.rows}
    assert cells["rename"] == ["1/1", "1/2"]
    assert cells["total"] == ["1/1", "1/2"]


def test_the_markdown_says_which_filesystem_failed_what_and_what_it_means() -> None:
    text = matrix_markdown([EXT4, BTRFS])
    assert "| rename | 1/1 | **1/2** | 16/25 |" in text
    assert "- `rename::updates_link_parent` (btrfs <&>)" in text
    assert "The link count of a directory does not follow" in text
    assert "- btrfs <&>: unknown type on Linux ?, 2026-01-01. posix_fallocate is emulated." in text
    assert "link::exdev_target skipped: why." in text


def test_each_filesystem_keeps_its_own_reason_and_cases_alike_stand_together() -> None:
    other = replace(
        BTRFS,
        label="cephfs",
        cases=(
            Case("rename::updates_link_parent", Outcome.FAILED, "left: 3"),
            Case("open::eloop_comp", Outcome.FAILED, "EIO"),
            Case("mkdir::eloop_comp", Outcome.FAILED, "EIO"),
        ),
    )
    text = matrix_markdown([replace(BTRFS, label="btrfs"), other])
    assert "- `rename::updates_link_parent` (btrfs): `left: 1" in text
    assert "- `rename::updates_link_parent` (cephfs): `left: 3`" in text
    assert "- `mkdir::eloop_comp`, `open::eloop_comp` (cephfs): `EIO`" in text


def test_the_page_stands_alone_and_escapes_what_is_foreign() -> None:
    text = matrix_page([EXT4, BTRFS])
    HTMLParser().feed(text)
    assert "btrfs &lt;&amp;&gt;" in text
    assert "<b>" not in text
    assert "http://" not in text
    assert "https://" not in text
    assert text.count("<section") == 1


def test_junit_has_the_shape_that_servers_read() -> None:
    root = Xml.fromstring(junit(BTRFS, judged(BTRFS, None), None))
    assert root.tag == "testsuites"
    for suite in root:
        assert suite.tag == "testsuite"
        assert {"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname"} == set(
            suite.attrib
        )
        assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))
        assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
        assert int(suite.attrib["skipped"]) == len(suite.findall("testcase/skipped"))
        for case in suite:
            assert {"classname", "name", "time"} == set(case.attrib)
            assert len(case) <= 1
    failure = root.find(".//failure")
    assert failure is not None
    assert failure.attrib["message"] == "left: 1 ? <b>"


def test_junit_is_red_for_unexpected_failures_only() -> None:
    root = Xml.fromstring(junit(BTRFS, judged(BTRFS, KNOWN), KNOWN))
    assert root.attrib["failures"] == "0"
    skipped = root.find(".//skipped")
    assert skipped is not None
    assert skipped.attrib["message"].startswith("expected failure: counts no links")


def held(*found: Conformance, label: str = "right") -> Results:
    """A run that measured nothing and tested."""
    run = replace(empty(), label=label, conformance=found, missing_cells=0)
    return replace(run, answers=answer_questions(run))


def test_a_report_has_the_matrix_of_what_the_run_tested_and_of_files_beside_it() -> None:
    text = page([held(EXT4)], conformance=[BTRFS])
    assert '<th scope="col">ext4</th><th scope="col">btrfs &lt;&amp;&gt;</th>' in text
    assert '<a href="#posix">' in text
    assert "Nothing was measured: of" not in text, "it was tested"


def test_a_report_without_conformance_has_no_section_for_it() -> None:
    assert 'id="posix"' not in page([empty()])


def test_columns_of_several_runs_bear_the_runs_names() -> None:
    text = page([held(EXT4, label="old"), held(EXT4, label="new")])
    assert '<th scope="col">ext4, old</th><th scope="col">ext4, new</th>' in text


def test_what_was_found_answers_whether_it_is_right() -> None:
    (clean, broken) = (answer.sentence for answer in conformance_in_words([EXT4, BTRFS, OLD]))
    assert clean == (
        "POSIX, pjdfstest 0.2.2 (Rust): no case failed on ext4 (1 passed, 1 skipped); 1 of 2 failed on btrfs <&> (rename)."
    )
    assert broken == "POSIX, pjdfstest (C): no case failed on ext4 (1 passed)."
    text = shown(held(EXT4))
    assert "no case failed on ext4" in text and "Nothing was measured" not in text


def test_the_document_counts_and_names_what_failed() -> None:
    (entry,) = document([held(BTRFS)])["runs"][0]["conformance"]
    assert (entry["passed"], entry["tested"], entry["skipped"]) == (1, 2, 0)
    assert [case["case"] for case in entry["failed"]] == ["rename::updates_link_parent"]


def test_runs_of_a_suite_are_gathered_from_the_steps_with_the_targets_version() -> None:
    of_a_target = replace(BTRFS, facts={**BTRFS.facts, "target": "moosefs"})
    records = [
        StepRecord(
            ordinal, StepKind.CELL, "right", {"suite": "rust"}, 0, Status.FINISHED,
            documents={DOCUMENT: conformance_text(found)},
        )
        for ordinal, found in ((2, EXT4), (1, of_a_target))
    ]  # fmt: skip
    sites = [{"target": {"name": "moosefs", "version": "MooseFS 3"}}, {"target": {}}]
    first, second = gather_conformance(records, {"sites": sites})
    assert (first.label, first.facts["target_version"]) == (BTRFS.label, "MooseFS 3")
    assert (second.label, second.facts["target_version"]) == ("ext4", None)
