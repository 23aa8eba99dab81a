"""Where fio's jobs find their files: in a directory, or past the mount by what a target has to say to an ioengine.

Files of an engine's own are told apart by their names, for no folder can be made for them: layout, client, job, file. Where there are
several servers, each gets a section of fio's command with its share of the jobs; fio numbers the jobs of a section from 0, so a
job finds its files again as long as the shares are dealt in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from leadline.errors import UserError
from leadline.plan.steps import Step
from leadline.run.engines.fio_capabilities import (
    TARGET_SERVED,
    check_options,
    installed_fio,
    lacks_until_up,
    passed_options,
)
from leadline.run.seams import Access, Place
from leadline.store.records import Cell

JOB_NAME = "leadline"
NUMBERED = "$jobnum.$filenum"
"""File names that every cell of a layout finds again, whatever its number of jobs."""
ONE_FILE = "fio.filename"


@dataclass(frozen=True)
class Section:
    """Jobs of one server."""

    name: str
    jobs: int
    options: Mapping[str, str]


@dataclass(frozen=True)
class Reach:
    """What of a step's command depends on the place."""

    cell: Cell
    """The settings that are the same for all jobs, as fio is told them."""
    naming: tuple[str, ...]
    naming_by_hand: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    sections: tuple[Section, ...] = ()
    """None where all jobs are alike."""
    environment: Mapping[str, str] = field(default_factory=dict)

    def around(self, load: Sequence[str], naming: Sequence[str]) -> list[str]:
        """The arguments of fio: options of an engine stand behind the engine, without which fio does not know them."""
        words = [*naming, *load, *_written(self.options)]
        if not self.sections:
            return [f"--name={JOB_NAME}", *words]
        shares = [word for each in self.sections for word in _section(each)]
        return ["--name=global", *words, *shares]


def reach_of(step: Step, place: Place) -> Reach:
    """Raises UserError where the engine does not lead to this target, or cannot do there what the step asks for."""
    name = str(step.cell["ioengine"])
    access = place.accesses.get(name)
    if access is not None:
        _check(step, name, access)
        return _past_the_mount(step, place, access)
    _check_unserved(name, place)
    naming = () if ONE_FILE in step.cell else (f"--filename_format={NUMBERED}",)
    return Reach(
        step.cell,
        (f"--directory={place.data}", *naming),
        (f"--directory={place.data.parent}", *naming),
    )


def _past_the_mount(step: Step, place: Place, access: Access) -> Reach:
    cell = {**step.cell, "ioengine": access.ioengine}
    one_file = cell.pop(ONE_FILE, None)
    naming, by_hand = _naming(step, place, access, None if one_file is None else str(one_file))
    shares = _shares(step, place, access, shared=one_file is not None)
    if len(shares) == 1:  # alike after all
        return Reach(cell, naming, by_hand, {**access.options, **shares[0].options}, (), access.environment)
    if shares:
        cell.pop("numjobs")
    return Reach(cell, naming, by_hand, access.options, shares, access.environment)


def _naming(
    step: Step, place: Place, access: Access, one_file: str | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The same files for leadline and for a person, but for the folder that is gone when the step is over."""
    if not access.named:
        return (), ()
    option = "filename" if one_file else "filename_format"
    last = one_file or NUMBERED
    if access.root is not None:
        within = f"{access.root}/{place.within}" if place.within else access.root
        return (f"--{option}={within}/{last}",), (f"--{option}={access.root}/{last}",)
    parts = ("leadline", step.layout.key if step.layout else "scratch", place.client)
    word = f"--{option}={'-'.join(part for part in parts if part)}.{last}"
    return (word,), (word,)


def _shares(step: Step, place: Place, access: Access, shared: bool) -> tuple[Section, ...]:
    """The jobs dealt out one by one, each client beginning with another server; a file that all jobs share lies on one."""
    count = len(access.spread)
    if not count:
        return ()
    jobs, start = int(step.cell.get("numjobs", 1)), _start(step, place, access)
    if shared:
        return (Section(JOB_NAME, jobs, access.spread[start % count]),)
    dealt = [sum((start + job) % count == server for job in range(jobs)) for server in range(count)]
    return tuple(
        Section(f"server{number}", share, options)
        for number, (share, options) in enumerate(zip(dealt, access.spread, strict=True), 1)
        if share
    )


def _start(step: Step, place: Place, access: Access) -> int:
    """Client 2 begins with the second server; an image has one user, so there it begins behind all images of the clients before it.

    Never by the jobs of the cell: cells with fewer jobs would look for their files on other servers.
    """
    digits = re.search(r"\d+$", place.client)
    before = int(digits.group()) - 1 if digits else 0
    if access.named:
        return before
    return before * (step.layout.jobs if step.layout else int(step.cell.get("numjobs", 1)))


def _check_unserved(name: str, place: Place) -> None:
    if name in TARGET_SERVED and place.accesses:
        raise UserError(
            f"this target is not reached by ioengine {name}; it serves: {', '.join(place.accesses)}"
        )
    if lacks_until_up(name):
        raise UserError(
            f"{installed_fio().version} has no ioengine {name}, and no target brings it here; see leadline lab list"
        )


def _check(step: Step, name: str, access: Access) -> None:
    if lacks_until_up(name):  # else they were checked before the first step
        check_options(passed_options(step.cell), access.ioengine)
    if step.cache == "hot":
        raise UserError(
            f'ioengine {name} goes past the mount, where fio cannot read files into memory first (pre_read); take cache = "hot" out'
        )
    if not access.named and int(step.cell.get("nrfiles", 1)) > 1:
        raise UserError(
            f"ioengine {name} works on images, which hold no files; take nrfiles = {step.cell['nrfiles']} out"
        )


def _section(section: Section) -> list[str]:
    return [f"--name={section.name}", f"--numjobs={section.jobs}", *_written(section.options)]


def _written(options: Mapping[str, str]) -> list[str]:
    return [f"--{name}={text}" for name, text in options.items()]
