"""Cells of several clients: each client's own figures, first-done and last-done rates, the window they shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from leadline.analyse.attendance import by_number, client_names, everyone
from leadline.analyse.client_windows import Load, Span, series_of, spans_of
from leadline.analyse.estimates import estimate_metrics
from leadline.analyse.merge import Trial, Trials, cell_key
from leadline.analyse.participants import ClientResult, Together
from leadline.analyse.windows import measure_windows
from leadline.store.records import Direction, StepRecord

ALONE = 1


def describe_clients(trials: Trials) -> tuple[tuple[ClientResult, ...], Together | None]:
    """Figures by client and how they ran together; nothing for a cell of one client. How ranks ran together, phases.py says."""
    if trials.hosts == ALONE:
        return (), None
    spans = spans_of(trials.trials)
    worst = min(spans, key=lambda span: span.overlap_share)
    names = dict.fromkeys(load.name for span in (worst, *spans) for load in span.loads)
    loads = {load.name: load for span in (*spans, worst) for load in span.loads}
    results = [_client(trials, name, loads[name], worst.begin_ns) for name in sorted(names, key=by_number)]
    return tuple(results), None if trials.direction.is_phase else _together(trials, spans)


@dataclass(frozen=True)
class Absence:
    """Clients that were asked for and gave no figure, in the repeat that lacks most."""

    asked: int
    present: int
    names: tuple[str, ...]
    """Those that any repeat knows by name."""


def absent_clients(trials: Trials) -> Absence | None:
    """None when every repeat has all its clients."""
    known = dict.fromkeys(name for trial in trials.trials for name in _known_names(trial.record))
    asked = trials.hosts if "clients" in trials.cell else max(trials.hosts, len(known))
    poorest = min((client_names(trial.record) for trial in trials.trials), key=len)
    if len(poorest) >= asked:
        return None
    names = sorted((name for name in known if name not in poorest), key=by_number)
    return Absence(asked, len(poorest), tuple(names))


def _known_names(record: StepRecord) -> list[str]:
    return list(everyone(record))


def _client(trials: Trials, name: str, load: Load, begin_ns: float) -> ClientResult:
    own = _alone(trials, name)
    (window,) = measure_windows([own.trials[0].throughput_values])
    return ClientResult(
        name=name,
        metrics=estimate_metrics(own, window),
        operations=sum(trial.operations for trial in own.trials),
        size_bytes=sum(trial.size_bytes for trial in own.trials),
        begin_ns=round(load.begin_ns - begin_ns),
        end_ns=round(load.end_ns - begin_ns),
    )


def _alone(trials: Trials, name: str) -> Trials:
    """The cell as if this client had been the only one; repeats in which it is missing are left out."""
    own = [found for trial in trials.trials if (found := _part(trial, name, trials.direction)) is not None]
    cell = own[0].record.cell
    return Trials(trials.experiment, cell_key(cell), trials.direction, tuple(own))


def _part(trial: Trial, name: str, direction: Direction) -> Trial | None:
    own = [part for part in trial.measurements if part.host == name]
    if not own:
        return None
    series = series_of(trial.record, direction, name)
    record = replace(
        trial.record,
        cell={key: value for key, value in trial.record.cell.items() if key != "clients"},
        measurements=tuple(part for part in trial.record.measurements if part.host == name),
        jobs=tuple(job for job in trial.record.jobs if job.host == name),
        throughput=(replace(series, name=str(direction)),) if series else (),
    )
    return Trial.of(record, own)


def _together(trials: Trials, spans: Sequence[Span]) -> Together:
    skews = [trial.record.facts.get("release_skew_ns") for trial in trials.trials]
    return Together(
        clients=trials.hosts,
        first_done_bytes_per_second=_rate(
            sum(span.bytes_until(span.first_end_ns) for span in spans),
            sum(span.first_end_ns - span.begin_ns for span in spans),
        ),
        last_done_bytes_per_second=_rate(
            sum(span.bytes_until(span.end_ns) for span in spans),
            sum(span.end_ns - span.begin_ns for span in spans),
        ),
        common_bytes_per_second=_rate(
            sum(span.common_bytes for span in spans), sum(span.common_ns for span in spans)
        ),
        common_ns=round(sum(span.common_ns for span in spans) / len(spans)),
        overlap_share=min(span.overlap_share for span in spans),
        release_skew_ns=max((float(skew) for skew in skews if isinstance(skew, int | float)), default=None),
    )


def _rate(moved_bytes: float, time_ns: float) -> float:
    return moved_bytes * 1e9 / time_ns if time_ns > 0 else 0.0
