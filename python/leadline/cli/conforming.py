"""What `leadline posix` does between its options and its exit code: where it runs, what is expected, what is said and kept."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from leadline.analyse.conformance import Change, changes, judged, regressions
from leadline.errors import UserError, did_you_mean
from leadline.expectations.known import (
    ExpectedFailure,
    ExpectedFailures,
    expected_failures,
    shipped_lists,
    suite_cases,
)
from leadline.report.junit import junit
from leadline.report.posix_table import lines
from leadline.run.lab.laboratory import Wishes as LabWishes
from leadline.run.lab.lifecycle import standing
from leadline.run.lab.registry import lab_target
from leadline.run.posix.sounding import Wishes, sound
from leadline.spec.units import parse_size
from leadline.store.conformance import Case, Conformance, Outcome, read_conformance, write_conformance

OWNER = "leadline posix"
"""Of the labs it brings up: what a killed one left is taken down by the next."""


def known_cases(names: Sequence[str], suite: str) -> tuple[str, ...]:
    """Raises UserError for a case that the suite does not have."""
    if names and suite != "rust":
        raise UserError("--case names cases of the Rust suite; leave it out with --suite c")
    for name in names:
        if name not in suite_cases():
            raise UserError(f'pjdfstest has no case "{name}"{did_you_mean(name, suite_cases())}')
    return tuple(names)


def earlier_run(path: Path | None, suite: str) -> Conformance | None:
    """Read before anything runs; raises UserError where it is of the other suite."""
    if path is None:
        return None
    before = read_conformance(path)
    if before.suite != suite:
        raise UserError(
            f"{path} is a run of the {before.suite} suite; only runs of one suite can be compared"
        )
    return before


def list_of(name: str | None, before: Conformance | None, suite: str) -> ExpectedFailures | None:
    """The list by name or file; without one, what failed in the earlier run."""
    if name is not None:
        found = expected_failures(name)
        if found.suite != suite:
            raise UserError(f"the list {name} is of the {found.suite} suite; take --suite {found.suite}")
        return found
    if before is None:
        return None
    failed = [case for case in before.cases if case.outcome is Outcome.FAILED]
    return ExpectedFailures(
        before.label, suite, tuple(ExpectedFailure(case.name, "failed in the earlier run") for case in failed)
    )


@contextmanager
def sound_here(wishes: Wishes) -> Iterator[Conformance]:
    """At the user's directory."""
    yield sound(wishes, _tell, _progress)


@contextmanager
def on_target(name: str, options: Sequence[str], size: str, wishes: Wishes) -> Iterator[Conformance]:
    """On a target of the lab, which goes down after the block: a Ctrl-C meanwhile takes nothing away that was told. It is ours, so it
    may be mounted read-only."""
    target = lab_target(name)
    given = dict(_option(each) for each in options)
    asked = LabWishes(parse_size(size), 1, None, given)
    in_brackets = f" ({', '.join(options)})" if options else ""
    with standing(name, target, asked, _tell, OWNER) as ready:
        if "://" in ready.directory:
            raise UserError(
                f"{name} is reached at {ready.directory} and not mounted anywhere; pjdfstest needs a mounted filesystem"
            )
        label = wishes.label or f"{name}{in_brackets}"
        result = sound(
            replace(wishes, path=Path(ready.directory), label=label, remount=True), _tell, _progress
        )
        yield replace(
            result, facts={**result.facts, "target": name, "options": given, **_version(ready.facts)}
        )


def say(
    result: Conformance,
    before: Conformance | None,
    expected: ExpectedFailures | None,
    json_file: Path | None,
    junit_file: Path | None,
) -> int:
    """Prints, keeps, and gives the exit code."""
    verdict = judged(result, expected)
    changed: tuple[Change, ...] | None = changes(before, result) if before else None
    if json_file is not None:
        write_conformance(result, json_file)
    if junit_file is not None:
        _write(junit_file, junit(result, verdict, expected))
    for line in lines(result, verdict, changed):
        click.echo(line)
    if verdict.unexpected and expected is None and (fits := _shipped_for(result)):
        click.echo(f"What is known of {fits} comes with leadline: --expect {fits}")
    return 1 if verdict.unexpected or regressions(changed or ()) else 0


def _shipped_for(result: Conformance) -> str | None:
    kinds = (str(result.facts.get("target", "")), str(result.facts.get("type", "")).removeprefix("fuse."))
    return next((kind for kind in kinds if kind in shipped_lists()), None)


def _version(facts: object) -> dict[str, object]:
    version = facts.get("version") if isinstance(facts, dict) else None
    return {"target_version": version} if version else {}


def _option(word: str) -> tuple[str, str]:
    key, mark, value = word.partition("=")
    if not mark:
        raise UserError(f"--option {word} has no value; write --option {word}=VALUE")
    return key, value


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from None


def _tell(sentence: str) -> None:
    click.echo(sentence, err=True)


def _progress(case: Case, number: int, total: int) -> None:
    """One line that is written over; nothing where nobody watches."""
    if sys.stderr.isatty():
        click.echo(
            f"\r\x1b[K{number}/{total} {case.name}" if number < total else "\r\x1b[K", nl=False, err=True
        )
