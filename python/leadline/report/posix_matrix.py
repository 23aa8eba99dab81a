"""Conformance runs of several filesystems side by side: a Markdown table, and one HTML page or section that needs nothing else.

Runs of the Rust suite and of the C suite stand in tables of their own: their figures are not comparable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from leadline.analyse.conformance import CALLS, Tally, tallies, tally
from leadline.errors import UserError
from leadline.expectations.known import meaning_of
from leadline.report.page import templates
from leadline.report.posix_table import BESIDE, published, published_shares, share
from leadline.store.conformance import Conformance, Outcome

SUITES = {"rust": "", "c": ", by script"}
"""In this order, and what a table of it adds to the version."""
HEAD = "# POSIX conformance\n\n<!-- Written by `leadline posix --matrix FILES`. How to read it: docs/guide/posix.md -->\n"
READ = (
    "passed/tested a call. What was skipped, and what tests nothing on this system, is in neither figure and has a row of its own. "
    "No cases: the suite has none for Linux."
)


@dataclass(frozen=True)
class Cell:
    """What stands for one call of one run."""

    text: str
    kind: str
    """`all`, `some` or `none` passed, or `nothing` was tested: how it is coloured."""


@dataclass(frozen=True)
class FailedCase:
    """One case that failed somewhere."""

    name: str
    reasons: tuple[str, ...]
    """One a run, in the order of the columns; empty where it did not fail."""


@dataclass(frozen=True)
class Failures:
    """Cases that mean the same to an application."""

    meaning: str
    cases: tuple[FailedCase, ...]


@dataclass(frozen=True)
class Matrix:
    """All runs of one suite."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...], str], ...]
    """Call, a cell a run, and what was published of the C suite."""
    failures: tuple[Failures, ...]
    runs: tuple[tuple[str, str], ...]
    """Label, and on what it was run and what has to be known of it, in sentences."""
    source: str


def matrices(results: Sequence[Conformance]) -> tuple[Matrix, ...]:
    """One a suite, in the order of SUITES."""
    by_suite = [(kind, [one for one in results if one.suite == kind]) for kind in SUITES]
    return tuple(_matrix(kind, runs) for kind, runs in by_suite if runs)


def matrix_markdown(results: Sequence[Conformance]) -> str:
    """As docs/results holds it."""
    return "\n".join([HEAD, *(line for one in matrices(results) for line in _markdown(one))])


def matrix_section(results: Sequence[Conformance]) -> Markup:
    """The tables as HTML with their own style, to be put into any page."""
    template = templates().get_template("posix_matrix.html.j2")
    text = template.render(matrices=matrices(results), read=READ, alike=_alike)
    return Markup(text)  # the template escapes every foreign string


def matrix_page(results: Sequence[Conformance]) -> str:
    """A whole page."""
    title = "POSIX conformance: " + ", ".join(one.label for one in results)
    page = templates().get_template("posix_matrix_page.html.j2")
    return page.render(title=title, section=matrix_section(results))


def write_matrix_page(results: Sequence[Conformance], path: Path) -> Path:
    """Raises UserError where the file cannot be written."""
    try:
        path.write_text(matrix_page(results), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from None
    return path


def _matrix(kind: str, runs: Sequence[Conformance]) -> Matrix:
    by_call = [{one.call: one for one in tallies(run.cases)} for run in runs]
    calls = [*CALLS, *sorted({call for run in by_call for call in run} - set(CALLS))]
    beside = published_shares()
    rows = [(call, tuple(_cell(run.get(call)) for run in by_call), beside.get(call, "")) for call in calls]
    totals = [tally("total", run.cases) for run in runs]
    passed, total = (sum(int(row[column] or 0) for row in published().rows) for column in (1, 2))
    rows += [
        ("total", tuple(_cell(one) for one in totals), f"{passed}/{total}"),
        ("skipped", tuple(Cell(str(one.skipped), "") for one in totals), ""),
        ("not applicable", tuple(Cell(str(one.not_applicable), "") for one in totals), ""),
        ("seconds", tuple(Cell(f"{run.seconds:.1f}", "") for run in runs), ""),
    ]
    return Matrix(
        title=", ".join(dict.fromkeys(run.version for run in runs)) + SUITES[kind],
        columns=tuple(run.label for run in runs),
        rows=tuple(rows),
        failures=tuple(_failures(runs)),
        runs=tuple((run.label, " ".join((_provenance(run), *run.notes, *_skipped(run)))) for run in runs),
        source=f"{BESIDE[kind]} Source: {published().source}.",
    )


def _provenance(run: Conformance) -> str:
    facts = run.facts
    version = f" {facts['target_version']}" if facts.get("target_version") else ""
    when = str(facts.get("ended", "")).partition("T")[0]
    return f"{facts.get('type', 'unknown type')}{version} on Linux {facts.get('kernel', '?')}, {when}."


def _skipped(run: Conformance) -> Iterator[str]:
    """One sentence a reason."""
    skipped = [case for case in run.cases if case.outcome is Outcome.SKIPPED]
    for reason in dict.fromkeys(case.reason for case in skipped):
        alike = [case.name for case in skipped if case.reason == reason]
        yield f"{f'{len(alike)} cases' if len(alike) > 1 else alike[0]} skipped: {reason.rstrip('.')}."


def _cell(one: Tally | None) -> Cell:
    if one is None or not (one.tested or one.skipped or one.not_applicable):
        return Cell("no cases", "nothing")
    if not one.tested:
        return Cell(share(one), "nothing")
    return Cell(share(one), "all" if not one.failed else "none" if not one.passed else "some")


def _failures(runs: Sequence[Conformance]) -> Iterator[Failures]:
    found = [
        {case.name: case.reason or "failed" for case in run.cases if case.outcome is Outcome.FAILED}
        for run in runs
    ]
    names = sorted({name for run in found for name in run})
    for meaning in dict.fromkeys(meaning_of(name) or "" for name in names):
        alike = [name for name in names if (meaning_of(name) or "") == meaning]
        yield Failures(
            meaning, tuple(FailedCase(name, tuple(run.get(name, "") for run in found)) for name in alike)
        )


def _markdown(one: Matrix) -> Iterator[str]:
    yield f"## {one.title}\n"
    yield READ + "\n"
    yield _row("call", *one.columns, "3FS, C suite")
    yield _row(*["---"] * (len(one.columns) + 2))
    for call, cells, beside in one.rows:
        yield _row(call, *(_emphasised(cell) for cell in cells), beside)
    yield f"\n{one.source}\n"
    yield from _failures_markdown(one)
    yield "### The runs\n"
    yield from (f"- {label}: {about}" for label, about in one.runs)
    yield ""


def _failures_markdown(one: Matrix) -> Iterator[str]:
    yield "### What failed, and what it means\n" if one.failures else "No case failed.\n"
    for group in one.failures:
        for labels, why, names in _alike(one, group):
            yield f"- {', '.join(_plain(name) for name in names)} ({', '.join(labels)}): {_plain(why)}"
        yield f"\n  {group.meaning}\n"


def _alike(one: Matrix, group: Failures) -> list[tuple[tuple[str, ...], str, list[str]]]:
    """Cases that failed on the same filesystems for the same reason stand in one line: where, why, which."""
    found: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for case in group.cases:
        for why in dict.fromkeys(reason for reason in case.reasons if reason):
            labels = tuple(
                label for label, reason in zip(one.columns, case.reasons, strict=True) if reason == why
            )
            found.setdefault((labels, why), []).append(case.name)
    return [(labels, why, names) for (labels, why), names in found.items()]


def _emphasised(cell: Cell) -> str:
    return f"**{cell.text}**" if cell.kind in ("some", "none") else cell.text


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def _plain(text: str) -> str:
    return "`" + text.replace("`", "'") + "`"
