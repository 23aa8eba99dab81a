"""A run's records and its measured cells -> its predictions with what came beside them, each only where it was there in time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from leadline.analyse.prediction.beside import PROBED, Beside, Foretelling
from leadline.analyse.prediction.held import load_in
from leadline.analyse.prediction.notes import TOO_LATE
from leadline.analyse.prediction.predictions import Forecast, PredictedCell
from leadline.analyse.prediction.scores import score
from leadline.analyse.results import CellResult
from leadline.store.prediction import CALIBRATED, PREDICTION, StoredCalibration, StoredPrediction
from leadline.store.records import Cell, StepKind, StepRecord

Name = tuple[str, frozenset[tuple[str, object]]]
"""Experiment and settings of a cell."""


def gather_predictions(records: Sequence[StepRecord], cells: Sequence[CellResult]) -> tuple[Foretelling, ...]:
    """One for each prediction that the run holds, in the order in which they were made."""
    by_name = {_name(cell.experiment, cell.cell): cell for cell in cells}
    return tuple(
        _scored(_with_probes(_beside(stored, record, by_name, records), record, records))
        for record in records
        for stored in _stored(record)
    )


def _beside(
    stored: StoredPrediction,
    record: StepRecord,
    by_name: Mapping[Name, CellResult],
    records: Sequence[StepRecord],
) -> Foretelling:
    """In the order in which measured cells are read; what was not measured comes last."""
    places = {name: place for place, name in enumerate(by_name)}
    named = [(_name(each.experiment, each.cell), each) for each in stored.cells]
    named.sort(key=lambda each: places.get(each[0], len(places)))
    return Foretelling(
        cluster=stored.cluster,
        baselines=stored.baselines,
        made_unix_ns=stored.made_unix_ns,
        is_before=_is_before(record, {name for name, _ in named}, records),
        notes=stored.notes,
        cells=tuple(Beside(each, by_name.get(name)) for name, each in named),
    )


def _with_probes(made: Foretelling, record: StepRecord, records: Sequence[StepRecord]) -> Foretelling:
    """With all that was calibrated of the same cluster in time; what came too late is said and left out."""
    for later in records:
        for stored in _calibrated(later, record):
            names = {_name(each.experiment, each.cell) for each in stored.cells}
            if _is_before(later, names, records):
                made = _calibrated_by(made, stored)
            else:
                made = replace(made, probe_notes=(*made.probe_notes, TOO_LATE))
    return made


def _calibrated_by(made: Foretelling, stored: StoredCalibration) -> Foretelling:
    again = {_name(each.experiment, each.cell): each for each in stored.cells}
    probes = {_name(each.experiment, cell) for each in stored.tests for cell in (each.light, each.heavy)}
    cells = []
    for each in made.cells:
        name, foretold = _name(each.foretold.experiment, each.foretold.cell), each.foretold
        if name in again:
            foretold = replace(
                foretold,
                iops={**foretold.iops, PROBED: again[name].iops},
                mean_ns={**foretold.mean_ns, PROBED: again[name].mean_ns},
            )
        cells.append(replace(each, foretold=foretold, is_probe=each.is_probe or name in probes))
    return replace(
        made,
        cells=tuple(cells),
        tests=(*made.tests, *stored.tests),
        probe_notes=(*made.probe_notes, *stored.notes),
    )


def _scored(made: Foretelling) -> Foretelling:
    cells = [cell for each in made.cells if (cell := _as_predicted(each)) is not None]
    return replace(made, scores=score(cells)) if made.is_before else made


def _as_predicted(each: Beside) -> PredictedCell | None:
    """As predictions outside of campaigns are scored."""
    foretold, load = each.foretold, load_in(each.foretold.cell)
    if load is None or not each.actual_iops or not each.actual_mean_ns:
        return None
    return PredictedCell(
        load=load,
        in_flight=0,  # no score asks for it
        forecasts={model: Forecast(iops, foretold.mean_ns[model]) for model, iops in foretold.iops.items()},
        binding=foretold.binding,
        shares=dict(foretold.shares),
        network_share=foretold.network_share,
        disk_share=foretold.disk_share,
        actual=Forecast(each.actual_iops, each.actual_mean_ns),
        is_probe=each.is_probe,
    )


def _stored(record: StepRecord) -> Iterator[StoredPrediction]:
    if record.kind is StepKind.PREDICTION and PREDICTION in record.documents:
        yield StoredPrediction.of_text(record.documents[PREDICTION])


def _calibrated(later: StepRecord, record: StepRecord) -> Iterator[StoredCalibration]:
    """Of the same cluster: the step's cell says which, and what more it is."""
    same = later.kind is StepKind.PREDICTION and dict(later.cell) == {**record.cell, CALIBRATED: True}
    if same and CALIBRATED in later.documents:
        yield StoredCalibration.of_text(later.documents[CALIBRATED])


def _is_before(record: StepRecord, names: set[Name], records: Iterable[StepRecord]) -> bool:
    """By the plan and by the clock, also of cells that failed: they may have told something, too."""
    first = min(_measured(names, records), key=lambda each: each.started_unix_ns, default=None)
    ended_ns = record.started_unix_ns + record.wall_ns
    return first is None or (record.ordinal < first.ordinal and ended_ns <= first.started_unix_ns)


def _measured(names: set[Name], records: Iterable[StepRecord]) -> Iterator[StepRecord]:
    for record in records:
        measured = record.kind in (StepKind.CELL, StepKind.NOISE)
        if measured and _name(record.experiment, record.cell) in names:
            yield record


def _name(experiment: str, cell: Cell) -> Name:
    return experiment, frozenset(cell.items())
