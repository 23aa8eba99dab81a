"""The Rust suite's output, as version 0.2.2 prints it: cases, reasons, and what was cut off."""

from __future__ import annotations

import pytest

from leadline.formats.fields import FormatError
from leadline.formats.pjdfstest import read_report
from leadline.store.conformance import Outcome

PRINTED = """\
rename::updates_link_parent                                               FAILED
\tassertion `left == right` failed
  left: 1
 right: 3
chmod::enoent_comp                                                            ok
link::exdev_target                                                       skipped
\tNo secondary file-system has been configured.
\tNo secondary file-system has been configured.

Summary: 1 failed, 1 skipped, 1 passed, 0 expected failures, 3 total
"""


def test_every_case_has_its_outcome() -> None:
    outcomes = {case.name: case.outcome for case in read_report(PRINTED).cases}
    assert outcomes == {
        "rename::updates_link_parent": Outcome.FAILED,
        "chmod::enoent_comp": Outcome.PASSED,
        "link::exdev_target": Outcome.SKIPPED,
    }


def test_what_is_printed_below_a_case_is_its_reason_and_said_once() -> None:
    failed, passed, skipped = read_report(PRINTED).cases
    assert failed.reason == "assertion `left == right` failed; left: 1; right: 3"
    assert passed.reason == ""
    assert skipped.reason == "No secondary file-system has been configured."


def test_a_backtrace_is_no_reason() -> None:
    text = PRINTED.replace(" right: 3\n", " right: 3\nBacktrace:\n   0: std::panicking\n")
    assert read_report(text).cases[0].reason.endswith("right: 3")


def test_colours_do_not_matter() -> None:
    text = PRINTED.replace("FAILED", "\x1b[31mFAILED\x1b[0m").replace("Summary", "\x1b[1;31mSummary\x1b[0m")
    assert read_report(text).cases == read_report(PRINTED).cases


def test_output_that_was_cut_off_is_refused() -> None:
    with pytest.raises(FormatError, match="without a summary"):
        read_report(PRINTED.partition("Summary")[0])


def test_a_summary_that_counts_other_cases_is_refused() -> None:
    with pytest.raises(FormatError, match="counts 4 cases and printed 3"):
        read_report(PRINTED.replace("3 total", "4 total"))


def test_no_case_at_all_is_a_report_of_none() -> None:
    assert read_report("\nSummary: 0 failed, 0 skipped, 0 passed, 0 expected failures, 0 total\n").cases == ()
