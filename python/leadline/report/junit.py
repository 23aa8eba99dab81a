"""A conformance run as JUnit XML, which continuous-integration servers read: a test suite a call, a test case a case.

Expected failures are written as skipped, with the reason from the list, so that a server turns red for unexpected ones only.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as Xml

from leadline.analyse.conformance import Judgement, tallies
from leadline.expectations.known import ExpectedFailures, meaning_of
from leadline.store.conformance import Case, Conformance, Outcome

UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold; reasons quote whatever a suite printed."""


def junit(result: Conformance, verdict: Judgement, expected: ExpectedFailures | None) -> str:
    """The document as text."""
    unexpected = {case.name for case in verdict.unexpected}
    whole = Xml.Element(
        "testsuites", {"name": f"{result.version} on {result.label}", **_counts(result.cases, unexpected)}
    )
    for one in tallies(result.cases):
        cases = [case for case in result.cases if case.call == one.call]
        if not cases:
            continue
        about = {
            "name": one.call,
            "timestamp": str(result.facts.get("ended", "")).removesuffix("+00:00"),
            "hostname": str(result.facts.get("host", "")),
        }
        suite = Xml.SubElement(whole, "testsuite", {**about, **_counts(cases, unexpected)})
        for case in cases:
            _write(suite, case, case.name in unexpected, expected)
    Xml.indent(whole)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(whole, encoding="unicode") + "\n"


def _counts(cases: tuple[Case, ...] | list[Case], unexpected: set[str]) -> dict[str, str]:
    failures = sum(case.name in unexpected for case in cases)
    passed = sum(case.outcome is Outcome.PASSED for case in cases)
    return {
        "tests": str(len(cases)),
        "failures": str(failures),
        "errors": "0",
        "skipped": str(len(cases) - failures - passed),
        "time": f"{sum(case.seconds for case in cases):.3f}",
    }


def _write(suite: Xml.Element, case: Case, is_unexpected: bool, expected: ExpectedFailures | None) -> None:
    element = Xml.SubElement(
        suite, "testcase", classname=f"pjdfstest.{case.call}", name=case.name, time=f"{case.seconds:.3f}"
    )
    if is_unexpected:
        failure = Xml.SubElement(element, "failure", message=_clean(case.reason), type="failed")
        failure.text = _clean(meaning_of(case.name) or case.reason)
    elif case.outcome is not Outcome.PASSED:
        Xml.SubElement(element, "skipped", message=_clean(_why_skipped(case, expected)))


def _why_skipped(case: Case, expected: ExpectedFailures | None) -> str:
    if case.outcome is not Outcome.FAILED:
        return case.reason or str(case.outcome)
    known = expected.of(case.name) if expected else None
    return f"expected failure{f': {known.why}' if known and known.why else ''}; {case.reason}".rstrip("; ")


def _clean(text: str) -> str:
    return UNPRINTABLE.sub("?", text)
