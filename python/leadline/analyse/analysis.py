"""The analysis, from top to bottom: records in, results out. Pure: the same run always gives the same results."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from leadline.analyse.answers import answer_questions
from leadline.analyse.clients import describe_clients
from leadline.analyse.comparisons import compare_cells
from leadline.analyse.conformance import gather_conformance
from leadline.analyse.consistency import gather_consistency
from leadline.analyse.curves import draw_curves, lay_lines, mark_collapses
from leadline.analyse.disks import compare_disks
from leadline.analyse.doubts import collect_doubts
from leadline.analyse.estimates import estimate_metrics
from leadline.analyse.grids import lay_grids
from leadline.analyse.machine import Machine, machine_under, read_machine
from leadline.analyse.merge import CellKey, Trials, cell_key, gather_trials, total_counts, total_mean_ns
from leadline.analyse.network import segments_again
from leadline.analyse.network_bytes import host_uses, summarise_nics
from leadline.analyse.object_use import is_on_objects, object_use
from leadline.analyse.object_words import gather_checks
from leadline.analyse.order import in_reading_order, titles_of
from leadline.analyse.phases import describe_phase
from leadline.analyse.prediction.gathered import gather_predictions
from leadline.analyse.processors import summarise_processors
from leadline.analyse.reference import measure_reference
from leadline.analyse.resources import summarise_resources
from leadline.analyse.results import CellResult, FailedCell, Reference, Results
from leadline.analyse.sites import gather_sites
from leadline.analyse.standings import rank_targets
from leadline.analyse.validity import judge
from leadline.analyse.verdicts.context import CellContext
from leadline.analyse.windows import Window, measure_windows
from leadline.store.manifest import Manifest
from leadline.store.records import Status, StepKind, StepRecord

Windows = tuple[Window | None, ...]
Failures = Mapping[tuple[str, CellKey], tuple[str, ...]]


def analyse(
    records: Sequence[StepRecord], manifest: Manifest, environment: Mapping[str, Any], label: str = ""
) -> Results:
    """One stored run, analysed; `label` names it in reports, else the manifest does."""
    machine = read_machine(environment)
    groups = in_reading_order(gather_trials(records), titles_of(manifest.campaign))
    reference = measure_reference(records, groups, manifest, machine)
    failed = find_failures(records, label or manifest.name)

    judged = judge_cells(groups, reference, machine, failures_by_cell(records), label or manifest.name)
    lines = lay_lines(judged)
    cells = mark_collapses(judged, lines)
    curves = draw_curves(cells, lines)
    planned, missing = count_missing(records, manifest)

    results = Results(
        label=label or manifest.name,
        manifest=manifest,
        environment=environment,
        reference=reference,
        cells=tuple(cells),
        failed=tuple(failed),
        curves=tuple(curves),
        grids=tuple(lay_grids(cells)),
        comparisons=tuple(compare_cells(cells)),
        answers=(),
        doubts=(),
        rankings=rank_targets(
            [cell for cell in cells if not is_on_objects(cell.cell)],
            [each for each in failed if not is_on_objects(each.cell)],
        ),
        sites=gather_sites(records, machine),
        warnings=count_warnings(records),
        conformance=gather_conformance(records, environment),
        object_checks=gather_checks(records),
        consistency=gather_consistency(records, manifest, label or manifest.name),
        predictions=gather_predictions(records, cells),
        disks=compare_disks(records, cells, manifest, machine),
        planned_cells=planned,
        missing_cells=missing,
    )
    return replace(
        results, answers=answer_questions(results), doubts=collect_doubts(results, records, machine)
    )


def judge_cells(
    groups: Sequence[Trials], reference: Reference, machine: Machine, failures: Failures, run: str
) -> list[CellResult]:
    """Every cell with its metrics, and then with the verdicts that a single cell can show."""
    cells = []
    for trials, windows in zip(groups, windows_of(groups), strict=True):
        cell = build_cell(
            trials, windows, run, reference.noise_of(trials.cell, trials.direction), machine.threads
        )
        lost = failures.get((trials.experiment, trials.key), ())
        under = machine_under(machine, trials.first)
        verdicts = judge(CellContext(cell, trials, reference, under, windows, lost))
        cells.append(replace(cell, verdicts=verdicts) if verdicts else cell)
    return cells


def windows_of(groups: Sequence[Trials]) -> list[Windows]:
    """What the throughput series say, one window a repeat; worked out for all cells at once."""
    series = [trial.throughput_values for trials in groups for trial in trials.trials]
    windows = iter(measure_windows(series))
    return [tuple(next(windows) for _ in trials.trials) for trials in groups]


def build_cell(
    trials: Trials,
    windows: Windows,
    run: str,
    noise_floor: float | None = None,
    threads: float | None = None,
) -> CellResult:
    """All repeats of one cell in one direction as one result, not judged yet."""
    direction = trials.direction
    clients, together = describe_clients(trials)
    hosts = host_uses(trials)
    return CellResult(
        run=run,
        experiment=trials.experiment,
        cell=trials.cell,
        direction=direction,
        test=trials.test,
        repeats=len(trials.trials),
        metrics=estimate_metrics(trials, windows[0], noise_floor),
        histogram=trials.histogram,
        concurrency=trials.concurrency,
        effective_concurrency=trials.effective_concurrency,
        submission_mean_ns=total_mean_ns(part.submission for part in trials.measurements if part.submission),
        completion_mean_ns=total_mean_ns(part.completion for part in trials.measurements if part.completion),
        operations=sum(trial.operations for trial in trials.trials),
        size_bytes=sum(trial.size_bytes for trial in trials.trials),
        resources=summarise_resources(trials)
        | summarise_nics(trials, hosts)
        | segments_again(trials)
        | object_use(trials)
        | summarise_processors(trials, threads),
        throughput=tuple(
            series
            for trial in trials.trials
            for series in trial.record.throughput
            if series.name == direction
        ),
        command=repeating_command(trials.first),
        ordinals=tuple(trial.record.ordinal for trial in trials.trials),
        clients=clients,
        together=together,
        hosts=hosts,
        noise_floor=noise_floor,
        failed=total_counts(trial.failed for trial in trials.trials),
        phase=describe_phase(trials),
    )


def find_failures(records: Sequence[StepRecord], run: str) -> list[FailedCell]:
    """Every step that gave no figure, whatever it was for."""
    return [
        FailedCell(run, record.experiment, record.cell, record.repeat, reason, repeating_command(record))
        for record in sorted(records, key=lambda record: record.ordinal)
        if (reason := _failure(record)) is not None
    ]


def failures_by_cell(records: Sequence[StepRecord]) -> Failures:
    """Why repeats of each cell failed, unless the same repeat was made good later (a resumed run)."""
    cells = [record for record in records if record.kind is StepKind.CELL]
    lost = [record for record in cells if _failure(record) is not None]
    good = {_repeat(record) for record in cells if _failure(record) is None} if lost else set()
    found: dict[tuple[str, CellKey], tuple[str, ...]] = {}
    for record in lost:
        if _repeat(record) not in good:
            key = _name(record.experiment, record.cell)
            found[key] = (*found.get(key, ()), _failure(record) or "")
    return found


def count_missing(records: Sequence[StepRecord], manifest: Manifest) -> tuple[int, int]:
    """Planned cells, and those without any record; without a plan (imports) what is there was planned."""
    present = {_name(record.experiment, record.cell) for record in records if record.kind is StepKind.CELL}
    planned = {
        _name(str(step.get("experiment", "")), step.get("cell", {}))
        for step in manifest.plan
        if step.get("kind") == StepKind.CELL
    }
    return (len(planned), len(planned - present)) if planned else (len(present), 0)


def count_warnings(records: Sequence[StepRecord]) -> tuple[str, ...]:
    """What engines printed beside their results, distinct, with how often."""
    counts = Counter(warning for record in records for warning in record.warnings)
    return tuple(f"{warning} ({times} times)" if times > 1 else warning for warning, times in counts.items())


def _failure(record: StepRecord) -> str | None:
    if record.status is Status.FAILED:
        return record.reason or "it failed without a reason given"
    is_cell = record.kind is StepKind.CELL
    empty = is_cell and not record.measurements and not record.documents
    return "it finished without a single measurement" if empty else None


def _repeat(record: StepRecord) -> tuple[str, CellKey, int]:
    return record.experiment, cell_key(record.cell), record.repeat


def _name(experiment: str, cell: Mapping[str, Any]) -> tuple[str, CellKey]:
    return experiment, cell_key(cell)


def repeating_command(record: StepRecord) -> str:
    """What repeats the step by hand; where the engine gives none, the command as it ran."""
    return str(record.facts.get("by_hand") or shlex.join(record.command))
