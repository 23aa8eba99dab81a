"""The table of what can be imported: one line a kind. The first that recognises a file reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from leadline.importers import bench_fio, fio_results, grid, nccl_tests, perftest
from leadline.importers.sources import Source
from leadline.store.records import StepRecord


@dataclass(frozen=True)
class Importer:
    """One kind of foreign result."""

    name: str
    recognise: Callable[[Source], bool]
    """By content; never raises anything but UserError (the file cannot be read)."""
    read: Callable[[Source], Iterable[StepRecord]]
    """Raises UserError when the file is recognised but not whole."""


IMPORTERS = (
    Importer("bench-fio tree", bench_fio.recognise, bench_fio.read),  # before plain fio: its files are fio's
    Importer("fio JSON or JSON+", fio_results.recognise, fio_results.read),
    Importer("published grid JSON", grid.recognise, grid.read),
    Importer("perftest output (text or JSON)", perftest.recognise, perftest.read),
    Importer("nccl-tests output (all_reduce_perf)", nccl_tests.recognise, nccl_tests.read),
)

UNDERSTOOD = ", ".join(importer.name for importer in IMPORTERS)


def importer_for(source: Source) -> Importer | None:
    """Who reads this file; None when nobody does. Raises UserError when it cannot be read at all."""
    return next((importer for importer in IMPORTERS if importer.recognise(source)), None)
