"""One rank of an all-reduce: `python -m leadline.run.all_reduce_rank STEP`, started by mpirun, as many as there are ranks.

Each operation sums a vector over all ranks, out of place. It is timed on every rank, and the slowest rank's time counts: then the
result is everywhere. The first and the last result of each size are checked element by element; the sums are exact in 32 bits.
"""

from __future__ import annotations

import importlib
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

WARM_UP_OPERATIONS = 3
MOST_OPERATIONS = 20_000
FEWEST_OPERATIONS = 5
PATTERN = 17
"""Neighbouring elements differ, so that a result in the wrong place is wrong."""
ELEMENT_BYTES = 4


def main() -> None:
    """Rank 0 prints the result as the last line."""
    step = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    mpi = importlib.import_module("mpi4py.MPI")
    world = mpi.COMM_WORLD
    sizes = [
        sound_size(world, mpi, size_bytes, step["runtime_seconds"])
        for _ in range(step["repeats"])
        for size_bytes in step["sizes_bytes"]
    ]
    hosts = world.gather(mpi.Get_processor_name())
    if world.Get_rank() == 0:
        library = mpi.Get_library_version().splitlines()[0].strip(" \0")
        print(json.dumps({"ranks": world.Get_size(), "hosts": hosts, "library": library, "sizes": sizes}))


def sound_size(world: Any, mpi: Any, size_bytes: int, runtime_seconds: float) -> dict[str, Any]:
    """Operations on vectors of this size for about the time given."""
    elements = size_bytes // ELEMENT_BYTES
    mine = vector(elements, world.Get_rank())
    summed = np.zeros(elements, dtype=np.float32)
    wanted = expected(elements, world.Get_size())

    def reduce() -> None:
        world.Allreduce(mine, summed, op=mpi.SUM)

    planned = _planned(world, mpi, reduce, runtime_seconds)
    wrong = _wrong(summed, wanted)
    summed[:] = -1
    times_ns = np.empty(planned, dtype=np.int64)
    world.Barrier()
    begin_ns = time.perf_counter_ns()
    for place in range(planned):
        start_ns = time.perf_counter_ns()
        reduce()
        times_ns[place] = time.perf_counter_ns() - start_ns
    runtime_ns = world.allreduce(time.perf_counter_ns() - begin_ns, op=mpi.MAX)
    slowest = np.empty_like(times_ns)
    world.Allreduce(times_ns, slowest, op=mpi.MAX)
    wrong = world.allreduce(wrong + _wrong(summed, wanted), op=mpi.SUM)
    return {
        "size_bytes": elements * ELEMENT_BYTES, "operations": planned, "runtime_ns": runtime_ns,
        "times_ns": slowest.tolist() if world.Get_rank() == 0 else [], "wrong": wrong,
    }  # fmt: skip


def _planned(world: Any, mpi: Any, reduce: Any, runtime_seconds: float) -> int:
    """The same number on all ranks, from the slowest warm-up of any."""
    world.Barrier()
    begin = time.perf_counter()
    for _ in range(WARM_UP_OPERATIONS):
        reduce()
    each: float = world.allreduce((time.perf_counter() - begin) / WARM_UP_OPERATIONS, op=mpi.MAX)
    return max(FEWEST_OPERATIONS, min(MOST_OPERATIONS, math.ceil(runtime_seconds / max(each, 1e-7))))


def vector(elements: int, rank: int) -> NDArray[np.float32]:
    """Whole numbers, small enough that sums over thousands of ranks are exact."""
    return (np.arange(elements) % PATTERN + rank + 1).astype(np.float32)


def expected(elements: int, ranks: int) -> NDArray[np.float32]:
    """The sum of all ranks' vectors."""
    return (np.arange(elements) % PATTERN * ranks + ranks * (ranks + 1) // 2).astype(np.float32)


def _wrong(summed: NDArray[np.float32], wanted: NDArray[np.float32]) -> int:
    return int(np.count_nonzero(summed != wanted))


if __name__ == "__main__":
    main()
