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
from leadline.cli.ground import Ground, ground
from leadline.cli.progress import watching
from leadline.errors import UserError
from leadline.plan.forecast import forecast
from leadline.plan.planner import FixedPlan
from leadline.plan.steps import Step
from leadline.run.conductor import Conductor, Interrupted, Stop, Watcher
from leadline.run.directory_facts import accepts_direct
from leadline.run.engines.registry import ENGINES
from leadline.run.executable import engine_executable
from leadline.run.hosts.local import LocalHost
from leadline.run.observe.block_devices import disk_names_under
from leadline.run.observe.environment import record_environment
from leadline.run.observe.machine import Machine
from leadline.run.observe.network_interfaces import interface_names
from leadline.run.seams import Target
from leadline.run.targets.work_directory import check_space
from leadline.store.manifest import Manifest
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


def begin(sounding: Sounding, output: Path | None) -> Path:
    """Checks everything that can be checked before anything is written, then runs; returns the run folder."""
    check_engines(sounding.plan.steps)
    path = new_run_folder(output, sounding.name)
    space_bytes = forecast(sounding.plan.steps).space_bytes
    with ground(sounding.campaign.get("target", {}), sounding.directory, space_bytes, path) as at:
        check_direct(sounding.plan.steps, at.directory)
        check_space(at.directory, space_bytes)
        _check_outside(path, at.directory)
        folder = RunFolder.create(path, _manifest(sounding, at.directory))
        if sounding.job_file is not None:
            (folder.path / JOB_FILE).write_bytes(sounding.job_file.read_bytes())
        folder.save_environment(_environment(at))
        try:
            return carry_out(folder, at)
        except UserError:
            _forget_if_empty(folder)
            raise


def _environment(at: Ground) -> dict[str, Any]:
    return record_environment(at.directory) | ({"target": dict(at.facts)} if at.facts else {})


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
    target = folder.manifest.campaign.get("target", {})
    where = Path(folder.manifest.directory)
    with ground(target, where, forecast(steps).space_bytes, path.resolve()) as at:
        if not folder.environment:  # killed before it was recorded
            folder.save_environment(_environment(at))
        return carry_out(folder, at)


def planned_steps(folder: RunFolder) -> tuple[Step, ...]:
    """The plan as the manifest keeps it; raises UserError when somebody has changed it beyond reading."""
    try:
        return tuple(Step.from_json(step) for step in folder.manifest.plan)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(
            f"the plan in {folder.path / 'manifest.json'} is damaged ({error!r}); restore it from a copy"
        ) from None


def carry_out(folder: RunFolder, at: Ground) -> Path:
    """Conducts what is left of the plan and writes the report. Exits with 130 when interrupted."""
    plan = FixedPlan(planned_steps(folder))
    host = LocalHost()
    stop = Stop(host)
    machine = Machine()
    job_file = folder.path / JOB_FILE
    with folder.locked(), _stopping(stop), watching(plan, folder) as watcher:
        conductor = Conductor(
            planner=plan, folder=folder, engines=ENGINES, host=host, target=_target(at, plan), watcher=watcher, stop=stop,
            devices=disk_names_under(machine, at.directory), interfaces=interface_names(machine),
            job_file=job_file if job_file.exists() else None,
        )  # fmt: skip
        interrupted = _conducted(conductor, watcher)
    if interrupted:
        click.echo(
            f"Stopped; {len(folder.finished_ordinals())} of {len(plan.steps)} steps are kept. Go on with:"
        )
        click.echo(f"  leadline run --resume {folder.path}")
        sys.exit(130)
    return folder.path


def _conducted(conductor: Conductor, watcher: Watcher) -> bool:
    try:
        conductor.conduct()
    except Interrupted:
        return True
    return False


def check_engines(steps: Sequence[Step]) -> None:
    """Engines, their options and their tools; raises UserError."""
    engine_executable()
    for name in {step.engine for step in steps}:
        ENGINES[name].check([step for step in steps if step.engine == name])


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


def _target(at: Ground, plan: FixedPlan) -> Target:
    sections = frozenset(step.section for step in plan.steps if step.section)
    named = frozenset(name for step in plan.steps for name in step.options.get("filename", "").split(":"))
    return at.target(forecast(plan.steps).space_bytes, sections, named - {""})


def _manifest(sounding: Sounding, directory: Path) -> Manifest:
    return Manifest(
        name=sounding.name,
        source=sounding.source,
        directory=str(directory),
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
