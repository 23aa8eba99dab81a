"""fio's JSON and JSON+ files, single or in trees: the parameters are those that fio repeats in them."""

from __future__ import annotations

from collections.abc import Iterable

from leadline.importers.fio_steps import records
from leadline.importers.sources import Source
from leadline.store.records import StepRecord

MARK = '"fio version"'


def recognise(source: Source) -> bool:
    """fio names its version in every document, and no one else does."""
    return MARK in source.text


def read(source: Source) -> Iterable[StepRecord]:
    """One record a job section."""
    return records(source)
