"""TAP, in which the C suite's scripts speak: a plan `1..N`, then `ok` and `not ok`, a line an assertion.

`# TODO` marks what is known to fail and counts as passed, as prove(1) counts it; it is counted apart all the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PLAN = re.compile(r"^1\.\.(\d{1,9})\b")
RESULT = re.compile(r"^(not )?ok\b(?:[ \t]+(\d{1,9}))?(.*)$")
DIRECTIVE = re.compile(r"#[ \t]*(TODO|SKIP)\b", re.IGNORECASE)
BAIL_OUT = "Bail out!"


@dataclass(frozen=True)
class Assertion:
    """One line."""

    holds: bool
    text: str
    directive: str = ""
    """`TODO`, `SKIP` or nothing."""

    @property
    def failed(self) -> bool:
        """A failure that nobody had announced."""
        return not self.holds and self.directive != "TODO"


@dataclass(frozen=True)
class Script:
    """What one script said."""

    planned: int | None
    assertions: tuple[Assertion, ...]
    bailed_out: str | None = None

    @property
    def failed(self) -> tuple[Assertion, ...]:
        """Of those that were made."""
        return tuple(each for each in self.assertions if each.failed)

    @property
    def complete(self) -> bool:
        """Whether it made as many as it had planned."""
        return self.bailed_out is None and self.planned == len(self.assertions)

    @property
    def tests_nothing(self) -> bool:
        """The suite's own way to say that a script does not apply here: a plan of one, and a bare `ok 1`."""
        return self.planned == 1 and self.assertions == (Assertion(True, ""),)


def read_script(text: str) -> Script:
    """Lines that are no TAP are left out; a script that said nothing is an incomplete one."""
    planned, assertions, bailed_out = None, [], None
    for line in text.splitlines():
        if line.startswith(BAIL_OUT):
            bailed_out = line.removeprefix(BAIL_OUT).strip()
        elif match := PLAN.match(line):
            planned = int(match[1])
        elif match := RESULT.match(line):
            assertions.append(_assertion(match))
    return Script(planned, tuple(assertions), bailed_out)


def _assertion(match: re.Match[str]) -> Assertion:
    said = match[3].strip()
    directive = DIRECTIVE.search(said)
    return Assertion(
        match[1] is None, said.removeprefix("-").strip(), directive[1].upper() if directive else ""
    )
