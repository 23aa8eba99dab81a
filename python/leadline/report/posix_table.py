"""A conformance run in the terminal: the table a call, then every failure with what it means for an application."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from leadline.analyse.conformance import Change, Judgement, Tally, out_of_space, tallies, tally
from leadline.expectations.known import meaning_of, suite_cases
from leadline.published.tables import PublishedTable
from leadline.published.tables import table as published_table
from leadline.store.conformance import Case, Conformance, Outcome

PUBLISHED = "3fs_metadata_pjdfstest"
NOT_SHARED = {
    "rust": "no cases on Linux",
    "c": "tests nothing here",
}
BESIDE = {
    "rust": (
        "3FS: scripts of the C suite that passed, as published; those that test nothing on Linux are counted there as passed. "
        "Another suite, other cases: a share of one column is not comparable with a share of the other."
    ),
    "c": "3FS: scripts that passed, as published; those that test nothing on Linux are counted there as passed, and here apart.",
}
"""What has to be known of the published figures, by the suite that they are laid beside."""


def lines(result: Conformance, verdict: Judgement, changed: Sequence[Change] | None = None) -> Iterator[str]:
    """What is printed at the end of a run."""
    where = f"{result.version} on {result.label} at {result.facts.get('path', '?')}"
    yield f"{where}: {counted(tally('total', result.cases))}, {result.seconds:.1f} s"
    yield ""
    yield from _table(result)
    yield ""
    yield from _notes(result)
    yield from _failures(verdict)
    if changed is not None:
        yield from _changes(changed)
    yield _sentence(verdict)


def counted(total: Tally) -> str:
    """`381 of 382 passed, 14 skipped, 2 not applicable`."""
    parts = [f"{total.passed} of {total.tested} passed"]
    parts += [f"{total.skipped} skipped"] if total.skipped else []
    parts += [f"{total.not_applicable} not applicable"] if total.not_applicable else []
    return ", ".join(parts)


def share(one: Tally) -> str:
    """`33/33`, or a dash where nothing was tested."""
    return f"{one.passed}/{one.tested}" if one.tested else "-"


def published_shares() -> dict[str, str]:
    """Call -> `14/14`, of the published evaluation."""
    return {str(row[0]): f"{row[1]}/{row[2]}" for row in published().rows}


def published() -> PublishedTable:
    """The evaluation that this table has the form of."""
    return published_table(PUBLISHED)


def applies(one: Tally, suite: str) -> str:
    """How many cases test nothing on this system, or that the suite has none, or that those it has were not run."""
    if one.not_applicable:
        return str(one.not_applicable)
    if one.tested or one.skipped:
        return ""
    left_out = suite == "rust" and one.call in _calls_of_the_rust_suite()
    return "not run" if left_out else NOT_SHARED[suite]


@cache
def _calls_of_the_rust_suite() -> frozenset[str]:
    return frozenset(name.partition("::")[0] for name in suite_cases())


def _table(result: Conformance) -> Iterator[str]:
    beside = published_shares()
    yield f"{'call':<18}{'passed':>9}{'skipped':>9}  {'not applicable':<20}{'3FS (C suite)':>13}"
    for one in tallies(result.cases):
        yield _row(one, applies(one, result.suite), beside.get(one.call, ""))
    total = (
        sum(int(row[1]) for row in published().rows if row[1]),
        sum(int(row[2]) for row in published().rows if row[2]),
    )
    everything = tally("total", result.cases)
    yield _row(everything, str(everything.not_applicable or ""), f"{total[0]}/{total[1]}")


def _row(one: Tally, not_applicable: str, beside: str) -> str:
    return f"{one.call:<18}{share(one):>9}{one.skipped or '':>9}  {not_applicable:<20}{beside:>13}".rstrip()


def _notes(result: Conformance) -> Iterator[str]:
    yield from result.notes
    yield from _skipped(result.cases)
    if full := out_of_space(result):
        yield f"{len(full)} cases failed because the filesystem was full (ENOSPC or EDQUOT): make room and run it again."
    yield BESIDE[result.suite]
    yield ""


def _skipped(cases: Sequence[Case]) -> Iterator[str]:
    """One line a reason."""
    skipped = [case for case in cases if case.outcome is Outcome.SKIPPED]
    for reason in dict.fromkeys(case.reason for case in skipped):
        which = [case.name for case in skipped if case.reason == reason]
        shown = which[0] if len(which) == 1 else f"{len(which)} cases"
        yield f"Skipped: {shown}: {reason}."


def _failures(verdict: Judgement) -> Iterator[str]:
    for title, cases in (
        ("Failed, not expected", verdict.unexpected),
        ("Failed, as expected", verdict.expected),
        ("Passed although expected to fail: take it out of the list", verdict.healed),
    ):
        if cases:
            yield f"{title}:"
            yield from _by_meaning(cases)
            yield ""


def _by_meaning(cases: Sequence[Case]) -> Iterator[str]:
    """Cases that mean the same stand together."""
    for meaning in dict.fromkeys(meaning_of(case.name) for case in cases):
        for case in cases:
            if meaning_of(case.name) == meaning:
                yield f"  {case.name}{': ' + case.reason if case.reason else ''}"
        if meaning:
            yield f"    {meaning}"


def _changes(changed: Sequence[Change]) -> Iterator[str]:
    yield "Changed since the earlier run:" if changed else "Nothing changed since the earlier run."
    for change in changed:
        yield f"  {change.name}: {change.before or 'not there'} -> {change.after or 'not there'}"
    if changed:
        yield ""


def _sentence(verdict: Judgement) -> str:
    if verdict.unexpected:
        count = len(verdict.unexpected)
        return f"{count} {'case' if count == 1 else 'cases'} failed that should not."
    return f"No unexpected failure{f'; {len(verdict.expected)} expected' if verdict.expected else ''}."
