"""One rank of MPI: `python -m leadline.run.crews.mpi_worker FILE`, started by mpirun or srun, once a host.

The first rank reads the step and tells the others; each prepares its command, all are let go by one collective call, and the
first rank gathers what came of it. Not in the timed path: while a command runs, its rank sleeps on a pipe.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from leadline.run.crews.mpi import RESULT
from leadline.run.crews.rank_counters import RankCounters
from leadline.run.executable import engine_executable
from leadline.run.hosts.local import LocalHost
from leadline.run.hosts.relocation import packed, relocated, unpack
from leadline.run.seams import Completed, Invocation
from leadline.run.temporary import temporary_folder

CLOCK_READINGS = 10
CLOCK_TAG = 7


class Ended(BaseException):
    """The launcher wants this rank to end."""


class MpiGate:
    """Every rank comes by exactly one call, `wait` or `abort`; the smallest answer counts for all.

    So it is at further barriers: a rank calls `meet` for each, and `leave` once its command has ended. As soon as one has left, no
    rank calls again.
    """

    def __init__(self, communicator: Any, mpi: Any) -> None:
        self._communicator = communicator
        self._smallest, self._greatest = mpi.MIN, mpi.MAX
        self._over = False

    def wait(self) -> None:
        """Raises threading.BrokenBarrierError when a rank cannot come."""
        if not self._all_come(True):
            raise threading.BrokenBarrierError

    def abort(self) -> None:
        """This rank cannot come."""
        self._over = True
        self._communicator.allreduce(0, op=self._smallest)

    def meet(self, number: int, greatest: int) -> int:
        """Raises threading.BrokenBarrierError when a rank has left."""
        if not self._all_come(True):
            raise threading.BrokenBarrierError
        return int(self._communicator.allreduce(greatest, op=self._greatest))

    def leave(self) -> None:
        """The command of this rank has ended."""
        self._all_come(False)

    def _all_come(self, here: bool) -> bool:
        if not self._over:
            self._over = not self._communicator.allreduce(int(here), op=self._smallest)
        return not self._over


def main(path: Path) -> None:
    """The life of a rank."""
    signal.signal(signal.SIGTERM, _stop)  # what a launcher sends first
    mpi = importlib.import_module("mpi4py.MPI")
    communicator = mpi.COMM_WORLD
    try:
        _work(communicator, mpi, path)
    except Ended:  # the launcher is ending all ranks, because of another one: to abort now would hide which
        os._exit(128 + signal.SIGTERM)
    except BaseException:  # the other ranks would wait for this one until the timeout
        traceback.print_exc()
        sys.stderr.flush()
        communicator.Abort(1)


def _stop(number: int, frame: object) -> None:
    """Leaves the way out to whoever has something to remove."""
    raise Ended


def _work(communicator: Any, mpi: Any, path: Path) -> None:
    rank = communicator.Get_rank()
    step = communicator.bcast(_read(path) if rank == 0 else None)
    if communicator.Get_size() != len(step):
        raise SystemExit(f"rank {rank}: {communicator.Get_size()} ranks were started for {len(step)} clients")
    ahead_ns, within_ns = _clock_ahead(communicator, rank)
    document, files = step[rank]
    host = mpi.Get_processor_name()
    counts = communicator.allgather(host).index(host) == rank  # one rank speaks for its machine
    beside = RankCounters(document["name"], document["directory"] if counts else None)
    gate = MpiGate(communicator, mpi)
    completed, made = _perform(document, files, gate, beside, tells=rank == 0)
    completed = _on_first_clock(completed, ahead_ns)
    gathered = communicator.gather((document["name"], asdict(completed), made, host, within_ns))
    counted = communicator.gather(beside.told())
    if rank == 0:
        _write(path, step, gathered, [each for each in counted if each])


def _read(path: Path) -> list[tuple[dict[str, Any], bytes]]:
    """The invocations and what their engines prepared."""
    try:
        documents = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise SystemExit(
            f"rank 0 on {os.uname().nodename} does not see {path}: start leadline there, or keep runs on the shared filesystem"
        ) from None
    return [(document, packed(Path(document["scratch"]))) for document in documents]


def _perform(
    document: Mapping[str, Any], files: bytes, gate: MpiGate, beside: RankCounters, tells: bool
) -> tuple[Completed, bytes]:
    """In a folder of this host, which is gone afterwards."""
    with temporary_folder("mpi") as scratch:
        unpack(io.BytesIO(files), scratch)
        invocation = relocated(_invocation(document), scratch, str(engine_executable()))
        with beside:
            completed = LocalHost().run(
                invocation, beside.watch_engine, _tell if tells else lambda line: None, gate
            )
        if invocation.takes_answers:  # of which every rank's command is one, or none
            gate.leave()
        return completed, packed(scratch)


def _invocation(document: Mapping[str, Any]) -> Invocation:
    return Invocation(
        argv=tuple(document["argv"]), scratch=Path(document["scratch"]), working_directory=Path(document["working_directory"]),
        timeout_seconds=document["timeout_seconds"], environment=document["environment"], takes_answers=document["takes_answers"],
    )  # fmt: skip


def _tell(line: str) -> None:
    sys.stdout.write(line)
    sys.stdout.flush()


def _clock_ahead(communicator: Any, rank: int) -> tuple[int, int]:
    """How far this rank's clock is ahead of the first one's, and within which bound, both in ns (Cristian 1989)."""
    answers = [(0, 0)] * communicator.Get_size()
    if rank == 0:
        for other in range(1, communicator.Get_size()):
            readings = [_reading(communicator, other) for _ in range(CLOCK_READINGS)]
            round_trip_ns, ahead_ns = min(readings)
            answers[other] = (ahead_ns, round_trip_ns // 2)
    else:
        for _ in range(CLOCK_READINGS):
            communicator.recv(source=0, tag=CLOCK_TAG)
            communicator.send(time.monotonic_ns(), dest=0, tag=CLOCK_TAG)
    answer: tuple[int, int] = communicator.scatter(answers)
    return answer


def _reading(communicator: Any, other: int) -> tuple[int, int]:
    before = time.monotonic_ns()
    communicator.send(None, dest=other, tag=CLOCK_TAG)
    said = communicator.recv(source=other, tag=CLOCK_TAG)
    after = time.monotonic_ns()
    return after - before, said - (before + after) // 2


def _on_first_clock(completed: Completed, ahead_ns: int) -> Completed:
    """Times as the first rank's clock has them; its host is leadline's own in the usual case."""
    if not completed.started_ns:
        return completed
    return replace(
        completed, started_ns=completed.started_ns - ahead_ns, ended_ns=completed.ended_ns - ahead_ns
    )


def _write(
    path: Path, step: Sequence[tuple[dict[str, Any], bytes]], gathered: Sequence[Any], counted: Sequence[Any]
) -> None:
    """Scratch files where the engines look for them; the result last, by which leadline knows that all is there."""
    for (document, _), (_, _, made, _, _) in zip(step, gathered, strict=True):
        unpack(io.BytesIO(made), Path(document["scratch"]))
    queues = {each["name"]: each["queue"] for each in counted if each["queue"]}
    result = {
        "completed": {name: completed for name, completed, *_ in gathered},
        "facts": {
            "mpi_hosts": {name: host for name, _, _, host, _ in gathered},
            "clocks_known_to_within_ns": max(within_ns for *_, within_ns in gathered),
        }
        | ({"fuse_queues": queues} if queues else {}),
        "counted": counted,
    }
    draft = path.with_name(f"{RESULT}.draft")
    draft.write_text(json.dumps(result), encoding="utf-8")
    draft.replace(path.with_name(RESULT))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
