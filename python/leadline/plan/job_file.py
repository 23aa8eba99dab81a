"""A user's own fio job file as a plan: each section an experiment, run as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from leadline.errors import UserError
from leadline.formats.fio_job_file import Section, parse_job_file
from leadline.formats.fio_options import cell_of
from leadline.plan.planner import FixedPlan
from leadline.plan.steps import Step
from leadline.spec.units import parse_duration
from leadline.store.records import StepKind

ASSUMED_SECONDS = 60.0
"""For forecasts, where a section is bound by size."""
LONGEST_SECONDS = 6 * 3600.0
FILE_OPTIONS = ("filename", "filename_format", "opendir", "read_iolog", "replay_redirect")
"""Options that name what fio writes to; `${...}` in them is the environment's word (fio(1)), so it is not known here."""


def read_job_file(path: Path) -> tuple[Section, ...]:
    """Its sections; raises UserError."""
    try:
        return parse_job_file(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read as a fio job file: {error}") from None


def own_directory(sections: Sequence[Section], where: str) -> Path | None:
    """The directory that the file itself names, if any; raises UserError when it names several."""
    named = {section.options["directory"] for section in sections if "directory" in section.options}
    if len(named) > 1:
        raise UserError(
            f"{where} names several directories ({', '.join(sorted(named))}); split it, leadline watches over one at a time"
        )
    return Path(named.pop()) if named else None


def check_confined(sections: Sequence[Section], directory: Path, where: str) -> None:
    """Raises UserError when a section would write anywhere else than in the work directory."""
    for section in sections:
        named = section.options.get("directory")
        if named is not None and Path(named).resolve() != directory.resolve():
            raise UserError(
                f"{where}, section [{section.name}]: directory={named} is not {directory}; leadline writes only where it was pointed"
            )
        if "/" in section.name or section.name == "..":
            raise UserError(
                f"{where}, section [{section.name}]: fio names files after sections, and this name is a path; give a plain one"
            )
        for option, name in _named_files(section):
            if name.startswith("/") or ".." in Path(name).parts or "${" in name:
                raise UserError(
                    f"{where}, section [{section.name}]: {option}={name} lies outside {directory}; give a plain name"
                )


def _named_files(section: Section) -> Iterator[tuple[str, str]]:
    for option in FILE_OPTIONS:
        for name in section.options.get(option, "").split(":"):
            yield option, name


def design_job_file(sections: Sequence[Section], repeats: int) -> FixedPlan:
    """A step per section and repeat, in the file's order, round by round."""
    steps = [_step(section, repeat) for repeat in range(repeats) for section in sections]
    return FixedPlan(tuple(Step(**{**step.__dict__, "ordinal": place}) for place, step in enumerate(steps)))


def _step(section: Section, repeat: int) -> Step:
    seconds = _seconds(section)
    return Step(
        ordinal=0, kind=StepKind.CELL, experiment=section.name, engine="job file", cell=cell_of(section.options), repeat=repeat,
        files="own", expected_seconds=seconds, timeout_seconds=LONGEST_SECONDS, section=section.name, options=section.options,
    )  # fmt: skip


def _seconds(section: Section) -> float:
    try:
        return (
            sum(
                parse_duration(section.options[name])
                for name in ("runtime", "ramp_time")
                if name in section.options
            )
            or ASSUMED_SECONDS
        )
    except UserError:
        return ASSUMED_SECONDS
