"""An all-reduce started by mpirun or srun, and what its first rank printed as step records."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from leadline.errors import UserError
from leadline.run.crews.mpi import Launcher
from leadline.run.hosts.local import LocalHost
from leadline.run.seams import Completed, Invocation
from leadline.run.temporary import temporary_folder
from leadline.store.all_reduce import all_reduce_record
from leadline.store.histogram import Histogram
from leadline.store.records import Latency, StepRecord

RANK = "leadline.run.all_reduce_rank"
LAUNCH_SECONDS = 60.0
GOODWILL = 5.0
"""Times the time asked for: a size whose warm-up was fast may take longer."""


def all_reduce(
    launcher: Launcher, ranks: int, sizes_bytes: Sequence[int], runtime_seconds: float, repeats: int
) -> list[StepRecord]:
    """Raises UserError where MPI is missing or brings nothing home."""
    if importlib.util.find_spec("mpi4py") is None:
        raise UserError("an all-reduce needs mpi4py, which is not installed here: pip install mpi4py")
    if shutil.which(launcher.command) is None:
        raise UserError(
            f"{launcher.command} is not installed here; install MPI (Debian: apt-get install openmpi-bin)"
        )
    step = {"sizes_bytes": list(sizes_bytes), "runtime_seconds": runtime_seconds, "repeats": repeats}
    seconds = LAUNCH_SECONDS + GOODWILL * runtime_seconds * len(sizes_bytes) * repeats
    with temporary_folder("all-reduce") as folder:
        (folder / "step.json").write_text(json.dumps(step), encoding="utf-8")
        argv = (*launcher.argv(ranks), sys.executable, "-m", RANK, str(folder / "step.json"))
        completed = LocalHost().run(
            Invocation(argv, folder, folder, seconds), lambda process: None, lambda line: None
        )
    return records_of(_document(completed, seconds), argv)


def _document(completed: Completed, seconds: float) -> Mapping[str, Any]:
    if completed.timed_out:
        raise UserError(
            f"the all-reduce did not end within {seconds:.0f} s and was ended; ask for fewer or smaller --sizes"
        )
    try:
        return dict(json.loads(completed.stdout.strip().rpartition("\n")[2]))
    except (ValueError, TypeError):
        said = [line.strip() for line in (completed.stderr + "\n" + completed.stdout).splitlines()]
        telling = [line for line in said if line.strip("-* ")]
        reason = completed.reason or (telling[0] if telling else "it said nothing")
        raise UserError(f"MPI brought no result home: {reason[:300]}") from None


def records_of(document: Mapping[str, Any], argv: Sequence[str]) -> list[StepRecord]:
    """One a size and repeat."""
    seen: Counter[int] = Counter()
    records = []
    for ordinal, each in enumerate(document["sizes"]):
        size = each["size_bytes"]
        records.append(
            all_reduce_record(
                ordinal=ordinal, repeat=seen[size], engine="mpi4py", ranks=document["ranks"], size_bytes=size,
                iterations=each["operations"], runtime_ns=each["runtime_ns"], latency=latency_of(each["times_ns"]),
                wrong=each["wrong"], further={}, facts={
                    "checked": True, "library": document["library"], "hosts": document["hosts"], "by_hand": " ".join(argv),
                },
            )
        )  # fmt: skip
        seen[size] += 1
    return records


def latency_of(times_ns: Sequence[int]) -> Latency:
    """Every operation's, of the slowest rank."""
    return Latency(
        count=len(times_ns), mean_ns=sum(times_ns) / len(times_ns), min_ns=min(times_ns), max_ns=max(times_ns),
        histogram=Histogram.from_bins(dict(sorted(Counter(times_ns).items()))),
    )  # fmt: skip
