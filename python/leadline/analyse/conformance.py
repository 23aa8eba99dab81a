"""A conformance run judged: counts a call, what was not expected to fail, and what changed since an earlier run.

Counts only. `passed` is laid beside `tested`, which is passed and failed; what was skipped or does not apply is neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from leadline.errors import UserError
from leadline.expectations.known import ExpectedFailures
from leadline.store.conformance import Case, Conformance, Outcome, conformance_of
from leadline.store.records import StepRecord

CALLS = (
    "chflags", "chmod", "chown", "ftruncate", "granular", "link", "mkdir", "mkfifo", "mknod", "open", "posix_fallocate",
    "rename", "rmdir", "symlink", "truncate", "unlink", "utimensat",
)  # fmt: skip
"""In the order of the published tables."""
FULL = ("ENOSPC", "EDQUOT")
DOCUMENT = "posix"
"""The kind of a step's document that is one."""


@dataclass(frozen=True)
class Tally:
    """Of one call, or of all."""

    call: str
    passed: int
    failed: int
    skipped: int
    not_applicable: int

    @property
    def tested(self) -> int:
        """Cases that said yes or no."""
        return self.passed + self.failed


@dataclass(frozen=True)
class Judgement:
    """The failures of a run, held against what was expected."""

    unexpected: tuple[Case, ...]
    expected: tuple[Case, ...]
    healed: tuple[Case, ...]
    """Passed although the list says that they fail."""


@dataclass(frozen=True)
class Change:
    """A case that ended otherwise than before; None where one of the runs did not have it."""

    name: str
    before: Outcome | None
    after: Outcome | None


def tallies(cases: Sequence[Case]) -> tuple[Tally, ...]:
    """One a call, also of calls that this suite has no case of; calls that no table knows come last."""
    calls = [*CALLS, *sorted({case.call for case in cases} - set(CALLS))]
    return tuple(tally(call, [case for case in cases if case.call == call]) for call in calls)


def tally(call: str, cases: Sequence[Case]) -> Tally:
    """Counts outcomes."""
    counts = Counter(case.outcome for case in cases)
    return Tally(
        call,
        counts[Outcome.PASSED],
        counts[Outcome.FAILED],
        counts[Outcome.SKIPPED],
        counts[Outcome.NOT_APPLICABLE],
    )


def judged(result: Conformance, expected: ExpectedFailures | None) -> Judgement:
    """Raises UserError where the list is of the other suite."""
    if expected is not None and expected.suite != result.suite:
        raise UserError(
            f"the list of expected failures is of the {expected.suite} suite and the {result.suite} suite ran; their cases differ"
        )
    failed = [case for case in result.cases if case.outcome is Outcome.FAILED]
    known = {case.name for case in result.cases if expected is not None and expected.of(case.name)}
    return Judgement(
        tuple(case for case in failed if case.name not in known),
        tuple(case for case in failed if case.name in known),
        tuple(case for case in result.cases if case.name in known and case.outcome is Outcome.PASSED),
    )


def changes(before: Conformance, after: Conformance) -> tuple[Change, ...]:
    """Cases that ended otherwise, by name; raises UserError where the runs are of different suites."""
    if before.suite != after.suite:
        raise UserError(
            f"the earlier run is of the {before.suite} suite and this one of the {after.suite} suite; only runs of one can be compared"
        )
    earlier = {case.name: case.outcome for case in before.cases}
    later = {case.name: case.outcome for case in after.cases}
    return tuple(
        Change(name, earlier.get(name), later.get(name))
        for name in sorted(earlier | later)
        if earlier.get(name) is not later.get(name)
    )


def regressions(found: Sequence[Change]) -> tuple[Change, ...]:
    """Those that fail now and did not before."""
    return tuple(change for change in found if change.after is Outcome.FAILED)


def out_of_space(result: Conformance) -> tuple[Case, ...]:
    """Failures that tell of a full filesystem and not of its conformance."""
    return tuple(
        case
        for case in result.cases
        if case.outcome is Outcome.FAILED and any(word in case.reason for word in FULL)
    )


def gather_conformance(
    records: Sequence[StepRecord], environment: Mapping[str, Any]
) -> tuple[Conformance, ...]:
    """Every run of a suite among the steps, in the order of the plan; each target with its version."""
    versions = dict(_versions(environment))
    found = (
        conformance_of(record.documents[DOCUMENT], f"step {record.ordinal}")
        for record in sorted(records, key=lambda record: record.ordinal)
        if DOCUMENT in record.documents
    )
    return tuple(
        replace(each, facts={"target_version": versions.get(str(each.facts.get("target"))), **each.facts})
        for each in found
    )


def _versions(environment: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for site in environment.get("sites", ()):
        target = site.get("target", {})
        if target.get("version"):
            yield str(target["name"]), str(target["version"])
