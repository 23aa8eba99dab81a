"""What quick and run share: a plan carried out into a run folder, watched, and reported at its end."""

from __future__ import annotations

import datetime
import os
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import click

from leadline import __version__
from leadline.cli.foretelling import foreteller
from leadline.cli.progress import watching
from leadline.errors import UserError
from leadline.plan.planner import FixedPlan
from leadline.plan.steps import Step
from leadline.run.conductor import Conductor, Interrupted, Stop, Watcher
from leadline.run.directory_facts import accepts_direct
from leadline.run.engines.registry import ENGINES
from leadline.run.executable import engine_executable
from leadline.run.grounds import Ground, Grounds
from leadline.run.lab.lifecycle import check_root
from leadline.run.lab.registry import lab_target
from leadline.run.needs import check_cache_drops, check_suites, needs_of
from leadline.run.observe.environment import record_environment
from leadline.run.observe.inventory import compare_inventory
from leadline.run.observe.machine import Machine
from leadline.run.pairs import PairGrounds
from leadline.run.standing import Standing, check_mounts, check_stated, described
from leadline.run.targets.work_directory import check_directory, check_space
from leadline.spec.campaign import Hosts
from leadline.spec.nominal import Nominal, NominalDisk
from leadline.spec.object_target import store_of_target
from leadline.store.manifest import Manifest
from leadline.store.records import StepKind
from leadline.store.run_folder import RunFolder

REPORT = "report.html"
JOB_FILE = "job.fio"


@dataclass(frozen=True)
class Sounding:
    """What is to be carried out, and where."""

    name: str
    source: str
    plan: FixedPlan
    directory: Path
    campaign: Mapping[str, Any]
    seed: int = 0
    scale: str = "1"
    scale_effects: tuple[str, ...] = ()
    limits: Mapping[str, float] | None = None
    job_file: Path | None = None
    place: str = ""
    """As reports name it, where it is no directory."""


def begin(sounding: Sounding, output: Path | None) -> Path:
    """Checks everything that can be checked before anything is written, then runs; returns the run folder."""
    check_engines(sounding.plan.steps)
    check_this_machine(sounding)
    path = new_run_folder(output, sounding.name)
    _check_sites(sounding, path)
    folder = RunFolder.create(path, _manifest(sounding))
    if sounding.job_file is not None:
        (folder.path / JOB_FILE).write_bytes(sounding.job_file.read_bytes())
    try:
        return carry_out(folder)
    except UserError:
        _forget_if_empty(folder)
        raise


def _check_sites(sounding: Sounding, path: Path) -> None:
    """What can be known of every site beforehand; raises UserError."""
    for site in dict.fromkeys(step.site for step in sounding.plan.steps):
        if all(step.files == "pair" for step in sounding.plan.steps if step.site == site) and not site.target:
            continue  # two hosts, no files
        if site.url:
            store_of_target(site.url, site.options)
            continue
        if site.target:
            check_root(f'a campaign with [target] name = "{site.target}"')
            lab_target(site.target)
            continue
        directory = check_directory(Path(site.directory) if site.directory else sounding.directory)
        _check_outside(path, directory)
        for further in (check_directory(Path(path)) for path in site.mounts):
            check_stated(further, site)
        check_mounts([step for step in sounding.plan.steps if step.site == site], directory, site)
        check_stated(directory, site)
        check_space(directory, site.size_bytes)
        check_direct([step for step in sounding.plan.steps if step.site == site], directory)


def _forget_if_empty(folder: RunFolder) -> None:
    """A run that was refused before its first step is no result, and would be in the way of the next try."""
    if not folder.finished_ordinals():
        folder.close()
        shutil.rmtree(folder.path, ignore_errors=True)


def resume(path: Path) -> Path:
    """Goes on with an interrupted run; raises UserError when there is nothing to go on with."""
    folder = RunFolder.open(path)
    if not folder.manifest.plan:
        raise UserError(f"{path} was imported; there is nothing to resume")
    steps = planned_steps(folder)
    check_engines(steps)
    if any(step.section for step in steps) and not (path / JOB_FILE).is_file():
        raise UserError(f"{path} has lost its {JOB_FILE}, so its sections cannot be run; start a new run")
    return carry_out(folder)


def planned_steps(folder: RunFolder) -> tuple[Step, ...]:
    """The plan as the manifest keeps it; raises UserError when somebody has changed it beyond reading."""
    try:
        return tuple(Step.from_json(step) for step in folder.manifest.plan)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(
            f"the plan in {folder.path / 'manifest.json'} is damaged ({error!r}); restore it from a copy"
        ) from None


def carry_out(folder: RunFolder) -> Path:
    """Conducts what is left of the plan and writes the report. Exits with 130 when interrupted."""
    plan = FixedPlan(planned_steps(folder))
    stop = Stop()
    job_file = folder.path / JOB_FILE
    with folder.locked(), _stopping(stop), watching(plan, folder) as watcher:
        conductor = Conductor(
            planner=plan, folder=folder, engines=ENGINES, grounds=_grounds(folder, plan, watcher), watcher=watcher, stop=stop,
            job_file=job_file if job_file.exists() else None, foretell=foreteller(folder, watcher.said),
        )  # fmt: skip
        interrupted = _conducted(conductor, watcher)
    if interrupted:
        click.echo(
            f"Stopped; {len(folder.finished_ordinals())} of {len(plan.steps)} steps are kept. Go on with:"
        )
        click.echo(f"  leadline run --resume {folder.path}")
        sys.exit(130)
    return folder.path


def _grounds(folder: RunFolder, plan: FixedPlan, watcher: Watcher) -> Grounds:
    hosts = Hosts.model_validate(folder.manifest.campaign.get("hosts", {}))
    if hosts.kind == "pair":
        return PairGrounds(hosts.names, folder.path, lambda ground: _record_ground(folder, ground))
    sections = frozenset(step.section for step in plan.steps if step.section)
    named = frozenset(name for step in plan.steps for name in step.options.get("filename", "").split(":"))
    return Standing(
        directory=Path(folder.manifest.directory),
        owner=str(folder.path.resolve()),
        tell=watcher.said,
        on_ground=lambda ground: _record_ground(folder, ground),
        hosts=hosts,
        sections=sections,
        named=named - {""},
        needs=needs_of(plan.steps),
    )


def _record_ground(folder: RunFolder, ground: Ground) -> None:
    """The environment is that of the first ground; every further one is told apart by what it is."""
    environment = dict(folder.environment or record_environment(ground.directory))
    if (
        not ground.mounted and not folder.environment and "filesystem" in ground.step_facts
    ):  # there is only an empty folder to look at
        environment["filesystem"] = dict(ground.step_facts["filesystem"])
        environment["block_devices"] = {}
    nominal = folder.manifest.campaign.get("nominal")
    if nominal and "inventory" not in environment:
        environment["inventory"] = inventory_of(nominal)
    if ground.facts:
        environment.setdefault("target", dict(ground.facts))
    if ground.site.target or ground.site.directory or ground.site.url:
        known = environment.setdefault("sites", [])
        if (own := described(ground)) not in known:
            known.append(own)
    folder.save_environment(environment)


def inventory_of(nominal: Mapping[str, Any]) -> list[dict[str, str]]:
    """What this machine is against its sheets, JSON-ready."""
    found = compare_inventory(Nominal.model_construct(**_disks_of(nominal)), Machine())
    return [{"subject": each.subject, "state": str(each.state), "sentence": each.sentence} for each in found]


def _disks_of(nominal: Mapping[str, Any]) -> dict[str, Any]:
    """As the manifest keeps it: checked before, and in bytes and hertz."""
    disks = {name: NominalDisk.model_construct(**disk) for name, disk in nominal["disks"].items()}
    return {**nominal, "disks": disks}


def _conducted(conductor: Conductor, watcher: Watcher) -> bool:
    try:
        conductor.conduct()
    except Interrupted:
        return True
    return False


def check_engines(steps: Sequence[Step]) -> None:
    """Engines, their options and their tools; raises UserError."""
    engine_executable()
    for name in {step.engine for step in steps if step.kind is not StepKind.PREDICTION}:
        ENGINES[name].check([step for step in steps if step.engine == name])


def check_this_machine(sounding: Sounding) -> None:
    """Raises UserError where load from this machine needs what it does not give; hosts elsewhere are asked when they are reached."""
    check_suites(sounding.plan.steps)
    if sounding.campaign.get("hosts", {}).get("kind", "lab") == "lab":
        check_cache_drops(needs_of(sounding.plan.steps))


def check_direct(steps: Sequence[Step], directory: Path) -> None:
    """Raises UserError when a step asks for O_DIRECT and the filesystem refuses it."""
    asking = next((step for step in steps if step.cell.get("direct") and step.files != "none"), None)
    if asking is not None and not accepts_direct(directory):
        raise UserError(
            f'the filesystem of {directory} refuses O_DIRECT, which "{asking.experiment}" asks for; set direct = false there'
        )


def finish(path: Path) -> None:
    """Analyses a run, prints its summary and writes its report."""
    from rich.console import Console

    from leadline.cli.analysing import analysed
    from leadline.report import show, write_report

    results = [analysed(path)]
    show(results, Console(), write_report(results, path / REPORT))
    click.echo(f"Run:     {path}")


def _manifest(sounding: Sounding) -> Manifest:
    return Manifest(
        name=sounding.name,
        source=sounding.source,
        directory=sounding.place or str(sounding.directory.absolute()),
        created_utc=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        leadline_version=__version__,
        seed=sounding.seed,
        scale=sounding.scale,
        scale_effects=sounding.scale_effects,
        argv=tuple(sys.argv),
        campaign=sounding.campaign,
        plan=tuple(step.to_json() for step in sounding.plan.steps),
        limits=sounding.limits or {},
    )


def new_run_folder(output: Path | None, name: str) -> Path:
    """As told, else a name of its own under ./runs."""
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    plain = "".join(letter if letter.isalnum() else "-" for letter in name).strip("-").lower()
    return (output or Path("runs") / f"{stamp}-{plain}-{os.getpid()}").resolve()


def _check_outside(path: Path, directory: Path) -> None:
    """Results never lie inside the directory that is measured."""
    if path.is_relative_to(directory):
        raise UserError(
            f"the results would lie inside {directory}, which is being measured; give another folder with --output"
        )


@contextmanager
def _stopping(stop: Stop) -> Iterator[None]:
    """SIGINT and SIGTERM end the run cleanly; a second SIGINT is no different, the step in flight is already ending."""

    def request(signum: int, frame: FrameType | None) -> None:
        stop.request()

    before = {number: signal.signal(number, request) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            # Once stopped, only a message and the exit are left, which a further Ctrl-C would tear.
            signal.signal(number, signal.SIG_IGN if stop.requested else handler)
