"""Files and trees of foreign results -> one manifest and its step records: the entry of `leadline import`.

A file that the user named must be understood, or it is a mistake of theirs. In a tree, what is not understood
or is broken is left out and named, one sentence each, under "left_out" of the manifest's campaign.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from leadline import __version__
from leadline.errors import UserError
from leadline.formats.fio_log import LOG_LINE
from leadline.importers.registry import UNDERSTOOD, importer_for
from leadline.importers.sources import Source, find_sources
from leadline.store.manifest import Manifest
from leadline.store.records import StepRecord

SHOWN_REASONS = 3


@dataclass
class _Harvest:
    """What was found so far."""

    records: list[StepRecord] = field(default_factory=list)
    kinds: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    left_out: list[str] = field(default_factory=list)


def import_paths(paths: Iterable[Path]) -> tuple[Manifest, list[StepRecord]]:
    """Everything that is understood in `paths`; UserError when that is nothing, or not a named file."""
    named = list(paths)
    harvest = _Harvest()
    for source in find_sources(named):
        try:
            _read(source, harvest)
        except UserError as error:
            sentence = f"{source.path}: {error}"
            if source.path == source.root:
                raise UserError(sentence) from None
            harvest.left_out.append(sentence)
    if not harvest.records:
        raise UserError(_nothing(named, harvest.left_out))
    return _manifest(named, harvest), _numbered(harvest.records)


def _read(source: Source, harvest: _Harvest) -> None:
    importer = importer_for(source)
    if importer is None:
        if source.path != source.root and (not source.text.strip() or LOG_LINE.match(source.text)):
            return  # fio's logs, often empty, lie beside its results and are read with them
        raise UserError(f"it is no result that leadline understands ({UNDERSTOOD})")
    harvest.records += list(importer.read(source))  # a file that breaks off half-way leaves nothing
    harvest.kinds[importer.name] += 1


def _nothing(named: Sequence[Path], left_out: Sequence[str]) -> str:
    places = ", ".join(str(path) for path in named) or "no path"
    reasons = "; ".join(left_out[:SHOWN_REASONS]) or f"no file there is one of: {UNDERSTOOD}"
    rest = f"; and {len(left_out) - SHOWN_REASONS} more" if len(left_out) > SHOWN_REASONS else ""
    return f"nothing could be imported from {places}: {reasons}{rest}"


def _numbered(records: Sequence[StepRecord]) -> list[StepRecord]:
    """Ordinals through all files; equal cells of one experiment, from whatever file, are repeats."""
    seen: dict[tuple[str, frozenset[tuple[str, object]]], int] = defaultdict(int)
    numbered: list[StepRecord] = []
    for ordinal, record in enumerate(records):
        cell = record.experiment, frozenset(record.cell.items())
        numbered.append(replace(record, ordinal=ordinal, repeat=seen[cell]))
        seen[cell] += 1
    return numbered


def _manifest(named: Sequence[Path], harvest: _Harvest) -> Manifest:
    return Manifest(
        name=named[0].absolute().name.split(".")[0] or "import",
        source="import",
        directory=", ".join(str(path.absolute()) for path in named),
        created_utc=datetime.now(UTC).isoformat(timespec="seconds"),
        leadline_version=__version__,
        campaign={"imported": dict(harvest.kinds), "left_out": harvest.left_out},
    )
