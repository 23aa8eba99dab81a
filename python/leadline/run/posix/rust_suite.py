"""The Rust pjdfstest (crate 0.2.2): its configuration, written from what the filesystem claims, and its cases.

Each case is a process of its own (about 5 ms). The suite knows no time a case, cannot list its cases, and within one process its
cases for read-only filesystems fail because an earlier one keeps the mount busy; alone all of them can pass.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from leadline.expectations.known import suite_cases, suite_version
from leadline.formats.fields import FormatError
from leadline.formats.pjdfstest import read_report
from leadline.run.posix.claims import Claims
from leadline.run.posix.suite import Spoken, speak
from leadline.run.posix.users import Account
from leadline.store.conformance import Case, Outcome

FULL_NAME = "pjdfstest::tests::"
READ_ONLY = "::erofs_"
CANNOT_REMOUNT = "Failed to remount"
LATE = "Timestamps did not change"
PATIENTLY = "only with"
PATIENT_NAP_SECONDS = 1.2
"""Longer than the suite's own usual second, for which clients keep attributes. Some filesystems also write a directory's times
at most every 100 ms: a change that shows late is another thing than one that never shows, and is tried once more."""
CASE_SECONDS = 120.0


@dataclass(frozen=True)
class RustSuite:
    """At one directory."""

    program: Path
    scratch: Path
    """Where its configuration is written: not on the filesystem that is tested."""
    claims: Claims
    accounts: tuple[Account, Account]
    elsewhere: Path | None
    """A directory on another filesystem, for the two cases that need one."""
    keeps_mount: str
    """Why the filesystem is not mounted read-only for the cases about that; empty where it may be."""
    alias: Path | None = None
    """A short name of the directory where its own is too long for a socket in it."""
    case_seconds: float = CASE_SECONDS
    cases: tuple[str, ...] = ()
    """Some cases only; all where there is none."""
    kind: str = "rust"

    @property
    def version(self) -> str:
        """The crate's."""
        return f"pjdfstest {suite_version()} (Rust)"

    @property
    def names(self) -> Sequence[str]:
        """By call; those that mount read-only come last, as a pass of their own."""
        return sorted(self.cases or suite_cases(), key=lambda name: (READ_ONLY in name, name))

    @property
    def facts(self) -> Mapping[str, Any]:
        """As configured."""
        return {
            "claims": asdict(self.claims),
            "nap_seconds": self.claims.nap_seconds,
            "users": [account.user for account in self.accounts],
            "remounted": not self.keeps_mount,
        }

    def run(self, name: str, directory: Path) -> Case:
        """One case; a process that says nothing sensible is a failed case with the reason."""
        if READ_ONLY in name and self.keeps_mount:
            return Case(name, Outcome.SKIPPED, self.keeps_mount)
        nap = self.claims.nap_seconds
        case = self._once(name, directory, nap)
        if LATE not in case.reason or nap >= PATIENT_NAP_SECONDS:
            return case
        again = self._once(name, directory, PATIENT_NAP_SECONDS)
        if again.outcome is not Outcome.PASSED:
            return case
        return replace(
            again, reason=f"{PATIENTLY} {PATIENT_NAP_SECONDS:g} s between changes, not with {nap:.2g} s"
        )

    def _once(self, name: str, directory: Path, nap_seconds: float) -> Case:
        # What mounts read-only looks for the mount above the directory, which an alias hides.
        where = directory if self.alias is None or READ_ONLY in name else self.alias
        configuration = self.scratch / f"nap-{nap_seconds:.6f}.toml"
        if not configuration.exists():
            configuration.write_text(self.configuration(nap_seconds), encoding="utf-8")
        words = (str(self.program), "-c", str(configuration), "-p", str(where), "-e", FULL_NAME + name)
        return _case(name, speak(words, self.scratch, self.case_seconds), self.case_seconds)

    def configuration(self, nap_seconds: float) -> str:
        """As TOML, with what it sleeps between two changes. JSON strings are TOML strings."""
        offered = {
            "posix_fallocate": self.claims.posix_fallocate,
            "rename_ctime": self.claims.rename_ctime,
            "utimensat": True,
            "utime_now": True,
        }
        users = ", ".join(json.dumps([account.user, account.group]) for account in self.accounts)
        lines = [
            "[features]",
            *(f"{name} = {{}}" for name, is_offered in offered.items() if is_offered),
            *([f"secondary_fs = {json.dumps(str(self.elsewhere))}"] if self.elsewhere else []),
            "[settings]",
            f"naptime = {nap_seconds:.6f}",
            f"allow_remount = {json.dumps(not self.keeps_mount)}",
            "[dummy_auth]",
            f"entries = [{users}]",
        ]
        return "\n".join(lines) + "\n"


def _case(name: str, spoken: Spoken, case_seconds: float) -> Case:
    if spoken.hung:
        return Case(name, Outcome.FAILED, f"did not end within {case_seconds:g} s", spoken.seconds)
    try:
        report = read_report(spoken.text)
    except FormatError as error:
        said = " ".join(spoken.complaint.split())[:300] or str(error)
        return Case(name, Outcome.FAILED, f"the suite broke off: {said}", spoken.seconds)
    if [case.name for case in report.cases] != [name]:
        return Case(name, Outcome.SKIPPED, "this pjdfstest does not have the case", spoken.seconds)
    outcome, reason = report.cases[0].outcome, report.cases[0].reason
    if CANNOT_REMOUNT in reason:  # says nothing about what the filesystem does once it is read-only
        said = reason.partition(CANNOT_REMOUNT)[2].strip(": ")[:120]
        outcome, reason = Outcome.SKIPPED, f"its mount could not be turned read-only: {said}"
    return Case(name, outcome, reason, spoken.seconds)
