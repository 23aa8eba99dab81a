"""What clients saw of each other, cell by cell of a campaign: the documents of its steps, repeats put together, promises held against them.

One `Sounded` is one cell on one site. Trials of repeats are laid together; histories are judged one by one, and their ladders added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from leadline.analyse import wording
from leadline.analyse.ladder import Rung, Verdict, climb
from leadline.analyse.merge import cell_key
from leadline.analyse.promises import Kept, kept, promised
from leadline.analyse.staleness import Staleness, staleness
from leadline.analyse.visibility import CellWindow, windows
from leadline.errors import UserError
from leadline.spec.settings import is_of_site
from leadline.store.histories import DelaySample, Histories, histories_of
from leadline.store.manifest import Manifest
from leadline.store.records import Cell, StepKind, StepRecord
from leadline.store.visibility import Visibility, visibility_of

VISIBILITY, HISTORIES = "visibility", "histories"
"""The kinds of a step's documents (run/engines/consistency.py)."""
OBJECT_BITS = 48


@dataclass(frozen=True)
class Sounded:
    """One cell: all that was seen on one site."""

    run: str
    experiment: str
    cell: Cell
    label: str
    """What tells its site from the others of the run, else the target with its options."""
    target: str
    """The target's name, which sites that differ in options share."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Of the target, as planned."""
    repeats: int = 1
    visibility: Visibility | None = None
    """The grid, trials of all repeats together."""
    windows: tuple[CellWindow, ...] = ()
    histories: tuple[Histories, ...] = ()
    """One a repeat."""
    ladder: tuple[Rung, ...] = ()
    staleness: tuple[Staleness, ...] = ()
    """P(stale | delay), one a mechanism, of the probes of all repeats."""
    kept: tuple[Kept, ...] = ()
    """What the target promises, held against both."""

    @property
    def site(self) -> Cell:
        """What it stands on: experiments on the same site share it."""
        return site_of(self.cell)

    @property
    def operations(self) -> int:
        """Of all histories."""
        return sum(int(each.report.get("operations", 0)) for each in self.histories)

    @property
    def delays(self) -> tuple[DelaySample, ...]:
        """The delayed probes of all repeats."""
        return _samples(self.histories)

    @property
    def broken(self) -> tuple[Kept, ...]:
        """Promises that were not kept."""
        return tuple(each for each in self.kept if each.verdict is Verdict.VIOLATED)

    def is_promised(self, rung: Rung) -> bool:
        """Whether one of the promises covers this line of the ladder."""
        return any(each.promise.covers_rung(rung) for each in self.kept)

    def is_finding(self, rung: Rung) -> bool:
        """Whether it breaks one of them: what is violated without being promised is a measurement."""
        return any(rung in each.broken_rungs for each in self.kept)


def gather_consistency(records: Sequence[StepRecord], manifest: Manifest, run: str) -> tuple[Sounded, ...]:
    """Every cell with a document of what clients saw, in the order of the plan; raises UserError for a damaged document."""
    planned = {step.get("ordinal"): step.get("site") or {} for step in manifest.plan}
    groups: dict[tuple[Any, ...], list[StepRecord]] = {}
    for record in sorted(records, key=lambda record: record.ordinal):
        if record.kind is StepKind.CELL and {VISIBILITY, HISTORIES} & set(record.documents):
            groups.setdefault((record.experiment, cell_key(record.cell)), []).append(record)
    found = [_sounded(members, planned.get(members[0].ordinal, {}), run) for members in groups.values()]
    return tuple(sorted(found, key=lambda each: _place(each, manifest.campaign)))


def _place(sounded: Sounded, campaign: Mapping[str, Any]) -> tuple[int, int]:
    """In the order in which the campaign lists targets and experiments: plans are shuffled. Within both the plan's."""
    targets = [
        each.get("label") or each.get("name") or each.get("directory") for each in campaign.get("target", ())
    ]
    experiments = [each.get("name") for each in campaign.get("experiment", ())]
    target = sounded.cell.get("target")
    return (
        targets.index(target) if target in targets else len(targets),
        experiments.index(sounded.experiment) if sounded.experiment in experiments else len(experiments),
    )


def _sounded(records: Sequence[StepRecord], site: Mapping[str, Any], run: str) -> Sounded:
    first = records[0]
    grids = tuple(_documents(records, VISIBILITY, visibility_of))
    histories = tuple(_documents(records, HISTORIES, histories_of))
    visibility = _together(grids) if grids else None
    found = windows(visibility) if visibility else ()
    ladder = climb(each.report for each in histories)
    return Sounded(
        run=run,
        experiment=first.experiment,
        cell=first.cell,
        label=wording.settings(site_of(first.cell), site_of(first.cell)) or (grids or histories)[0].label,
        target=str(site.get("target") or first.cell.get("target", "")),
        options={str(name): str(value) for name, value in site.get("options", ())},
        repeats=len(records),
        visibility=visibility,
        windows=found,
        histories=histories,
        ladder=ladder,
        staleness=staleness(_samples(histories)),
        kept=tuple(kept(promised(name), found, ladder) for name in promises_of(first.cell)),
    )


def site_of(cell: Cell) -> Cell:
    """The settings of a cell that say what it stands on."""
    return {name: value for name, value in cell.items() if is_of_site(name)}


def promises_of(cell: Cell) -> tuple[str, ...]:
    """As the campaign states them for the cell."""
    stated = str(cell.get("promise", ""))
    return tuple(part.strip() for part in stated.split(";") if part.strip())


def _documents(records: Sequence[StepRecord], kind: str, read: Any) -> Iterator[Any]:
    for record in records:
        if kind in record.documents:
            try:
                yield read(record.documents[kind])
            except (ValueError, KeyError, TypeError, AttributeError):
                raise UserError(
                    f"the {kind} document of step {record.ordinal} is damaged or of another version; restore the run from a copy"
                ) from None


def _samples(histories: Sequence[Histories]) -> tuple[DelaySample, ...]:
    """Objects of different repeats are different objects."""
    return tuple(
        replace(sample, object=(number << OBJECT_BITS) + sample.object)
        for number, each in enumerate(histories)
        for sample in each.delays
    )


def _together(grids: Sequence[Visibility]) -> Visibility:
    """The trials of all repeats; settings and clients are those of the first."""
    notes = dict.fromkeys(note for each in grids for note in each.notes)
    trials = tuple(trial for each in grids for trial in each.trials)
    return replace(grids[0], trials=trials, notes=tuple(notes))
