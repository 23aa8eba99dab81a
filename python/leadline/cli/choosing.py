"""What run and plan share: a campaign or job file on the command line becomes a plan."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from leadline.cli.sounding import Sounding
from leadline.errors import UserError
from leadline.plan.design import design
from leadline.plan.job_file import check_confined, design_job_file, own_directory, read_job_file
from leadline.run.lab.registry import lab_target
from leadline.run.lab.state import lab_state
from leadline.spec.campaign import Campaign
from leadline.spec.load import find_campaign, load_campaign
from leadline.spec.object_target import url_title
from leadline.spec.target import Target
from leadline.spec.units import parse_fraction

JOB_FILE_ENDINGS = (".fio", ".job", ".ini")


def choose(
    source: str,
    directory: Path | None,
    scale: str | None,
    repeats: int | None,
    otherwise: Path | None = None,
) -> Sounding:
    """Raises UserError for whatever is wrong with the file or missing on the command line.

    `otherwise` is the directory when neither the command line nor the file names one.
    """
    if source.endswith(JOB_FILE_ENDINGS):
        if scale is not None:
            raise UserError(
                "--scale does not apply to a fio job file, which runs as it is; change its sizes yourself"
            )
        return _of_job_file(Path(source), directory, repeats or 1, otherwise)
    return _of_campaign(find_campaign(source), directory, scale, repeats, otherwise)


def _of_campaign(
    path: Path, directory: Path | None, scale: str | None, repeats: int | None, otherwise: Path | None
) -> Sounding:
    campaign = load_campaign(path)
    if scale is not None:
        campaign = campaign.model_copy(update={"scale": parse_fraction(scale)})
    if repeats is not None:
        campaign = _repeated(campaign, repeats)
    if directory is not None:
        campaign = _redirected(campaign, directory)
    plan, scaling = design(campaign)
    if campaign.cluster:
        from leadline.cli.foretelling import with_checked_baselines
        from leadline.cli.probing import probes_of

        campaign = with_checked_baselines(campaign)
        plan, scaling = design(campaign, probes_of(campaign))
    return Sounding(
        name=campaign.name,
        source="campaign",
        plan=plan,
        directory=Path.cwd() if campaign.hosts.kind == "pair" else _place(campaign.target, otherwise, path),
        place=url_title(campaign.target[0].url or ""),
        campaign=campaign.model_dump(mode="json"),
        seed=campaign.seed,
        scale=str(campaign.scale),
        scale_effects=tuple(scaling.effects),
        limits={name: value for name, value in campaign.limits.model_dump().items() if value is not None},
    )


def _repeated(campaign: Campaign, repeats: int) -> Campaign:
    experiments = tuple(each.model_copy(update={"repeats": repeats}) for each in campaign.experiment)
    return campaign.model_copy(update={"experiment": experiments})


def _redirected(campaign: Campaign, directory: Path) -> Campaign:
    """The command line's directory wins over the campaign's targets, and that is said."""
    stated = [target for target in campaign.target if target.name or target.directory or target.url]
    if stated:
        places = [
            each.label or (f"the lab's {each.name}" if each.name else str(each.directory or each.url))
            for each in stated
        ]
        instead = (
            f"{places[0]} (the campaign's target)"
            if len(places) == 1
            else f"all {len(places)} targets of the campaign"
        )
        click.echo(f"Measuring {directory} (--directory) in place of {instead}")
    filesystem = campaign.target[0].filesystem if len(campaign.target) == 1 else None
    target = Target.model_validate({"directory": str(directory), "filesystem": filesystem})
    held = campaign.conditions.model_fields_set
    if held:
        raise UserError(
            f"[conditions] {', '.join(sorted(held))} hold lab targets only; take them out to measure {directory}"
        )
    return campaign.model_copy(update={"target": (target,)})


def _place(targets: Sequence[Target], otherwise: Path | None, path: Path) -> Path:
    """Where the campaign works; a target of the lab says so itself when it is up, so until then its folder stands for it."""
    for target in targets:
        if target.name is not None:
            lab_target(target.name)
    first = targets[0]
    if first.url is not None:
        return Path.cwd()
    if first.name is None:
        return _directory(None, first.directory or otherwise, path)
    return lab_state(first.name).folder


def _of_job_file(path: Path, directory: Path | None, repeats: int, otherwise: Path | None) -> Sounding:
    sections = read_job_file(path)
    where = _directory(directory, own_directory(sections, str(path)) or otherwise, path)
    check_confined(sections, where, str(path))
    plan = design_job_file(sections, repeats)
    return Sounding(
        path.stem,
        "job file",
        plan,
        where,
        {"job_file": str(path), "sections": [each.name for each in sections]},
        job_file=path,
    )


def _directory(given: Path | None, stated: str | Path | None, path: Path) -> Path:
    if given is not None:
        return given
    if stated is None:
        raise UserError(
            f"{path} names no directory to measure; say which with --directory DIR (an empty one)"
        )
    return Path(stated)
