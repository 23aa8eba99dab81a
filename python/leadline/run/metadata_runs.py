"""One step of the metadata engine outside of any campaign: on this machine, by hosts over ssh, or as one rank of an MPI job.

All come to the results of the hosts that took part, or to the sentence of whoever failed first.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.run.crews.mpi_worker import MpiGate
from leadline.run.crews.together import Together
from leadline.run.engines.engine_process import invocation_of, result_of
from leadline.run.gathering import is_consequence
from leadline.run.hosts.local import LocalHost
from leadline.run.hosts.ssh import SshHost
from leadline.run.seams import Client, Completed
from leadline.run.temporary import temporary_folder

Document = Mapping[str, Any]
StepOf = Callable[[int, int], Document]
"""The step of client `number` of so many."""
RANK_OF_MPI = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")
"""Set by the launchers of Open MPI, of MPICH and its kin, and of Slurm."""


def on_this_machine(step_of: StepOf, timeout_seconds: float) -> list[Document]:
    """Ranks are processes of one engine."""
    with temporary_folder("metadata") as scratch:
        invocation = invocation_of(step_of(0, 1), scratch, timeout_seconds)
        completed = LocalHost().run(invocation, lambda process: None, lambda line: None)
    return _results({"": completed})


def on_hosts(
    names: Sequence[str], directory: Path, step_of: StepOf, timeout_seconds: float
) -> list[Document]:
    """An engine on each host, which all see the directory under its path."""
    with ExitStack() as stack:
        hosts = [SshHost(name) for name in names]
        for host in hosts:
            stack.callback(host.close)
        invocations = {}
        for number, host in enumerate(hosts):
            scratch = stack.enter_context(temporary_folder("metadata"))
            invocation = invocation_of(step_of(number, len(hosts)), scratch, timeout_seconds)
            invocations[host.name] = replace(invocation, takes_answers=len(hosts) > 1)
        crew = Together([Client(host.name, host, directory) for host in hosts])
        return _results(crew.run(invocations, lambda process: None, lambda line: None))


def rank_of_mpi() -> int | None:
    """This process's number among those that a launcher of MPI has started; None where none did."""
    ranks = [os.environ[name] for name in RANK_OF_MPI if os.environ.get(name, "").isdecimal()]
    return int(ranks[0]) if ranks else None


def as_rank_of_mpi(step_of: StepOf, timeout_seconds: float) -> tuple[int, list[Document], UserError | None]:
    """This process's number among those that MPI has started, each one rank of the load, and all their results or why there are none.

    Raises UserError when the processes cannot find each other.
    """
    if importlib.util.find_spec("mpi4py") is None:
        raise UserError(
            "MPI has started several processes, and mpi4py, by which they find each other, is not installed: pip install mpi4py"
        )
    mpi = importlib.import_module("mpi4py.MPI")
    world = mpi.COMM_WORLD
    rank, ranks = world.Get_rank(), world.Get_size()
    with temporary_folder("metadata") as scratch:
        invocation = invocation_of(step_of(rank, ranks), scratch, timeout_seconds)
        gate = MpiGate(world, mpi)
        answered = replace(invocation, takes_answers=ranks > 1)
        completed = LocalHost().run(answered, lambda process: None, lambda line: None, gate)
        gate.leave()
    everybody = world.allgather((f"rank {rank}", completed))
    try:
        return rank, _results(dict(everybody)), None
    except UserError as error:
        return rank, [], error


def _results(completed: Mapping[str, Completed]) -> list[Document]:
    """Raises UserError with the reason of whoever failed first."""
    results = {name: result_of(each) for name, each in completed.items()}
    reasons = [
        (is_consequence(sentence), name, sentence)
        for name, (document, reason) in results.items()
        if document is None
        for sentence in [completed[name].reason or _told(str(reason))]
    ]
    if reasons:
        _, name, sentence = min(reasons, key=lambda reason: reason[0])
        raise UserError(f"{name}: {sentence}" if name else sentence)
    return [document for document, _ in results.values() if document is not None]


def _told(reason: str) -> str:
    """The engine's own sentence, without the file that it was asked in."""
    return reason.rpartition("engine_step.json: ")[2]
