"""One message size of an all-reduce as a step record: the same cells whether leadline measured it or another tool did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leadline.store.records import Direction, Latency, Measurement, Scalar, Status, StepKind, StepRecord

EXPERIMENT = "all-reduce"


def all_reduce_record(
    ordinal: int,
    repeat: int,
    engine: str,
    ranks: int,
    size_bytes: int,
    iterations: int,
    runtime_ns: int,
    latency: Latency,
    wrong: int | None,
    further: Mapping[str, Scalar],
    facts: Mapping[str, Any],
) -> StepRecord:
    """Bytes are those of one rank's vector, once an operation: the bandwidth is the algorithm's.

    `wrong` counts elements of results; None where nobody looked. An operation with a wrong result is none: then the step has failed.
    """
    checked = {} if wrong is None else {"verify": "element by element"}
    measurement = Measurement(
        "local", 0, Direction.SEND, iterations, iterations * size_bytes, runtime_ns, latency
    )
    return StepRecord(
        ordinal=ordinal,
        kind=StepKind.CELL,
        experiment=EXPERIMENT,
        cell={"test": EXPERIMENT, "message_size": size_bytes, "ranks": ranks, **checked, **further},
        repeat=repeat,
        status=Status.FAILED if wrong else Status.FINISHED,
        reason=f"{wrong:,} element{' of the result was' if wrong == 1 else 's of the result were'} wrong"
        if wrong
        else None,
        engine=engine,
        wall_ns=runtime_ns,
        measurements=(measurement,),
        facts=dict(facts),
    )


def bus_bandwidth(algorithm_bandwidth: float, ranks: int) -> float:
    """2(n-1)/n of it: what each rank's link must carry at least, whatever the algorithm (nccl-tests, doc/PERFORMANCE.md)."""
    return algorithm_bandwidth * 2 * (ranks - 1) / ranks
