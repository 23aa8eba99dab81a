"""all_reduce_perf of nccl-tests -> step records of engine "nccl-tests", in the cells of `leadline allreduce` (store/all_reduce.py)."""

from __future__ import annotations

from collections.abc import Iterable

from leadline.formats import nccl_tests
from leadline.formats.fields import FormatError
from leadline.formats.nccl_tests import AllReduceRow
from leadline.importers.sources import Source
from leadline.store.all_reduce import all_reduce_record
from leadline.store.records import Latency, StepRecord

LONGEST_NS = 366 * 86_400 * 1_000_000_000


def recognise(source: Source) -> bool:
    """By the head of its table."""
    return nccl_tests.recognised(source.text)


def read(source: Source) -> Iterable[StepRecord]:
    """One record a message size and place; sizes without a byte are left out."""
    rows = [row for row in nccl_tests.parse(source.text) if row.size_bytes]
    return [_record(source, row, ordinal) for ordinal, row in enumerate(rows)]


def _record(source: Source, row: AllReduceRow, ordinal: int) -> StepRecord:
    runtime_ns = round(row.iterations * row.mean_ns)
    if runtime_ns > LONGEST_NS or row.iterations * row.size_bytes > 2**63 - 1:
        raise FormatError(
            f"{row.iterations} iterations of {row.size_bytes} bytes are more than anything measures"
        )
    return all_reduce_record(
        ordinal=ordinal, repeat=0, engine="nccl-tests", ranks=row.ranks, size_bytes=row.size_bytes, iterations=row.iterations,
        runtime_ns=max(1, runtime_ns), latency=Latency(row.iterations, row.mean_ns), wrong=row.wrong,
        further={"place": row.place}, facts={"imported": True, "source": str(source.path), "checked": row.wrong is not None},
    )  # fmt: skip
