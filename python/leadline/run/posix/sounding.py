"""A conformance run: checks the directory, makes a folder of its own in it, walks a suite's cases, says what it found."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from leadline import __version__
from leadline.errors import UserError
from leadline.run.lab.signals import ending_orderly
from leadline.run.observe.filesystem import describe_filesystem
from leadline.run.observe.machine import Machine
from leadline.run.posix.c_suite import SCRIPT_SECONDS, CSuite, find_checkout
from leadline.run.posix.claims import Claims, probe
from leadline.run.posix.installation import installed
from leadline.run.posix.own_directory import own_directory, usable
from leadline.run.posix.rust_suite import CASE_SECONDS, RustSuite
from leadline.run.posix.suite import Suite
from leadline.run.posix.surroundings import (
    another_filesystem,
    restore_writing,
    scratch_folder,
    short_alias,
    why_not_remounted,
)
from leadline.run.posix.users import check_reach, two_accounts
from leadline.store.conformance import Case, Conformance, Outcome

Tell = Callable[[str], None]
OnCase = Callable[[Case, int, int], None]
"""A case that has ended, how many have, and how many there are."""
FACTS = ("type", "source", "mount_point", "mount_options", "filesystem_options", "is_fuse", "is_network")


@dataclass(frozen=True)
class Wishes:
    """What the user asked for."""

    path: Path
    suite: str = "rust"
    checkout: Path | None = None
    """Of the C suite."""
    remount: bool = False
    """Whether the filesystem may be mounted read-only for the cases about that."""
    label: str | None = None
    case_seconds: float | None = None
    cases: tuple[str, ...] = ()
    """Of the Rust suite, some only."""


def sound(wishes: Wishes, tell: Tell, on_case: OnCase) -> Conformance:
    """Runs the suite to its end; raises UserError where it cannot, or where the filesystem goes away."""
    usable(wishes.path)
    program = _program(wishes, tell)  # what has to be built is built before anything is written there
    with ending_orderly(), ExitStack() as stack:
        directory = stack.enter_context(own_directory(wishes.path, tell))
        check_reach(two_accounts()[0], directory)
        claims = probe(directory) if wishes.suite == "rust" else None
        suite = (
            _rust_suite(wishes, program, directory, claims, stack) if claims else _c_suite(wishes, program)
        )
        if suite.facts.get("remounted"):
            stack.enter_context(_writable_afterwards(directory, tell))
        cases = tuple(_walk(suite, directory, on_case))
        return _conformance(wishes, suite, directory, cases, tuple(_notes(directory, claims, cases)))


def _program(wishes: Wishes, tell: Tell) -> Path:
    if wishes.suite == "rust":
        return installed(tell)
    if os.geteuid() != 0:
        raise UserError("the C suite needs root, because its scripts become other users; run it with sudo")
    return find_checkout(wishes.checkout)


def _rust_suite(
    wishes: Wishes, program: Path, directory: Path, claims: Claims, stack: ExitStack
) -> RustSuite:
    scratch = stack.enter_context(scratch_folder())
    return RustSuite(
        program=program,
        scratch=scratch,
        claims=claims,
        accounts=two_accounts(),
        elsewhere=stack.enter_context(another_filesystem(directory)),
        keeps_mount=why_not_remounted(directory, wishes.remount),
        alias=short_alias(directory, scratch),
        case_seconds=wishes.case_seconds or CASE_SECONDS,
        cases=wishes.cases,
    )


def _c_suite(wishes: Wishes, program: Path) -> CSuite:
    return CSuite(program, wishes.case_seconds or SCRIPT_SECONDS)


def _walk(suite: Suite, directory: Path, on_case: OnCase) -> Iterator[Case]:
    names = suite.names
    device = directory.stat().st_dev
    for number, name in enumerate(names, 1):
        _still_there(directory, device, number - 1, names)
        case = suite.run(name, directory)
        on_case(case, number, len(names))
        yield case


def _still_there(directory: Path, device: int, done: int, names: Sequence[str]) -> None:
    """What a dead, unmounted or read-only filesystem answers says nothing about its conformance."""
    after = f"after {done} of {len(names)} cases{f' (the last was {names[done - 1]})' if done else ''}"
    try:
        there = directory.stat().st_dev == device
        read_only = os.statvfs(directory).f_flag & os.ST_RDONLY
    except OSError as error:
        raise UserError(
            f"{directory} does not answer any more {after}: {error.strerror}; mount it again and start anew"
        ) from None
    if not there:
        raise UserError(
            f"{directory} lies on another filesystem {after}: something was mounted or unmounted there"
        )
    if read_only:
        raise UserError(
            f"{directory} has turned read-only {after}; look into the kernel's log, and start anew"
        )


@contextmanager
def _writable_afterwards(directory: Path, tell: Tell) -> Iterator[None]:
    try:
        yield
    finally:
        if restore_writing(directory):
            tell(f"{directory} was left read-only by a case that was ended; mounted with rw again")


def _notes(directory: Path, claims: Claims | None, cases: Sequence[Case]) -> Iterator[str]:
    filesystem = describe_filesystem(Machine(), directory)
    if filesystem.get("mount_point") == "/":
        yield "The directory is not on a mount of its own: what was tested is the root filesystem."
    if os.geteuid() != 0:
        yield "Not run as root: cases that make devices, change owners or become other users were skipped."
    if claims is not None and claims.fallocate_emulated:
        yield "posix_fallocate is emulated by the C library, which writes zeros: the filesystem has no call for it."
    if claims is not None and not claims.posix_fallocate:
        yield "posix_fallocate is not offered, which POSIX allows; its cases were skipped."
    if claims is not None and not claims.rename_ctime:
        yield "rename does not change the change time, which POSIX allows; cases about that were skipped."
    late = [case for case in cases if case.outcome is Outcome.PASSED and case.reason]
    if late:
        yield f"{len(late)} cases passed {late[0].reason}: changes that follow each other faster show late in times, or as one."


def _conformance(
    wishes: Wishes, suite: Suite, directory: Path, cases: tuple[Case, ...], notes: tuple[str, ...]
) -> Conformance:
    filesystem = describe_filesystem(Machine(), directory)
    facts: dict[str, Any] = {
        "path": str(wishes.path.resolve()),
        **{name: filesystem.get(name) for name in FACTS},
        **suite.facts,
        "root": os.geteuid() == 0,
        "kernel": platform.release(),
        "host": platform.node(),
        "leadline": __version__,
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    label = wishes.label or str(filesystem.get("type") or wishes.path)
    return Conformance(suite.kind, suite.version, label, facts, cases, notes)
