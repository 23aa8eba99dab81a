"""Clients started by MPI: mpirun or srun brings one worker to each host, MPI itself lets them go together and gathers what they made.

The way of clusters where nobody may log in to a node by ssh. leadline and mpi4py must be installed at the same path on all hosts, and
the first rank must see the run's folder: start leadline on the first host of the allocation, or keep runs on the shared filesystem.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from leadline.errors import UserError, did_you_mean
from leadline.run.hosts.local import LocalHost
from leadline.run.seams import Completed, Host, Invocation
from leadline.store.series import Series

LAUNCH_SECONDS = 60.0
"""What starting the ranks and gathering may take beside the step."""
STEP, RESULT = "mpi_step.json", "mpi_result.json"
WORKER = "leadline.run.crews.mpi_worker"
PLACING = frozenset({"--map-by", "--oversubscribe", "--rankfile", "--ntasks-per-node", "--distribution"})
"""A user who gives one of these places the ranks."""
ONE_A_HOST = {
    "mpirun": ("--map-by", "ppr:1:node"),
    "srun": ("--ntasks-per-node=1", "--kill-on-bad-exit=1", "--overlap"),
}


@dataclass(frozen=True)
class Launcher:
    """How ranks are started."""

    command: str = "mpirun"
    """mpirun or srun, by name or path."""
    hosts: tuple[str, ...] = ()
    """Empty: those of the scheduler's allocation."""
    arguments: tuple[str, ...] | None = None
    """Further ones; leadline's own place one rank on a host, unless these do the placing."""

    def argv(self, ranks: int) -> tuple[str, ...]:
        """Up to the program; raises UserError for a launcher that leadline does not know."""
        kind = Path(self.command).name
        if kind not in ONE_A_HOST:
            raise UserError(
                f'"{self.command}" is no launcher for MPI that leadline knows: mpirun or srun{did_you_mean(kind, ONE_A_HOST)}'
            )
        given = self.arguments or ()
        placed = any(each.partition("=")[0] in PLACING for each in given)
        named = {"mpirun": "--host", "srun": "--nodelist"}[kind]
        hosts = (named, ",".join(self.hosts[:ranks])) if self.hosts else ()
        count = ("-np", str(ranks)) if kind == "mpirun" else ("--nodes", str(ranks), "--ntasks", str(ranks))
        return (self.command, *count, *hosts, *(() if placed else ONE_A_HOST[kind]), *given)


class MpiCrew:
    """One rank a client, in the order of the clients; also what their machines count beside it (seams.Elsewhere)."""

    def __init__(
        self,
        launcher: Launcher = Launcher(),
        host: Host | None = None,
        directory: Path | None = None,
    ) -> None:
        """`host` runs the launcher; None: this machine. `directory`: whose disks and FUSE queue the ranks' machines count.

        Raises UserError when mpi4py is missing here."""
        if importlib.util.find_spec("mpi4py") is None:
            raise UserError("hosts by MPI need mpi4py, which is not installed here: pip install mpi4py")
        self._launcher = launcher
        self._host = host or LocalHost()
        self._directory = directory
        self._facts: dict[str, Any] = {}
        self._counted: list[dict[str, Any]] = []

    def run(
        self,
        invocations: Mapping[str, Invocation],
        on_start: Callable[[int], None],
        on_line: Callable[[str], None],
    ) -> Mapping[str, Completed]:
        """One invocation a client, let go together by MPI; lines are those of the first rank."""
        self._facts, self._counted = {}, []
        try:
            launcher = self._launcher.argv(len(invocations))
        except UserError as error:
            return {name: Completed(None, "", "", 0, reason=str(error)) for name in invocations}
        seconds = max(each.timeout_seconds for each in invocations.values()) + LAUNCH_SECONDS
        beside = next(iter(invocations.values())).scratch.parent
        with tempfile.TemporaryDirectory(prefix="scratch-mpi-", dir=beside) as name:
            folder = Path(name).resolve()
            step = folder / STEP
            below = str(self._directory or "")
            asked = [_document(*each) | {"directory": below} for each in invocations.items()]
            step.write_text(json.dumps(asked), encoding="utf-8")
            argv = (*launcher, sys.executable, "-m", WORKER, str(step))
            launched = self._host.run(Invocation(argv, folder, folder, seconds), on_start, on_line)
            return self._gathered(folder / RESULT, invocations, launched)

    def interrupt(self) -> None:
        """The launcher, which ends its ranks; what they had is lost."""
        self._host.interrupt()

    def facts(self) -> dict[str, Any]:
        """Of the last run: which host each client was, and how exactly their clocks are known."""
        return self._facts

    def __enter__(self) -> MpiCrew:
        """The ranks count by themselves."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return None

    def concerns(self, clients: Sequence[str]) -> bool:
        """Ranks are started for those that take part only."""
        return True

    def series(self) -> list[Series]:
        """What the ranks' machines counted beside the last run, over time."""
        return [Series(*each) for counted in self._counted for each in counted["series"]]

    def totals(self) -> dict[str, float]:
        """The same in total."""
        return {name: gained for counted in self._counted for name, gained in counted["totals"].items()}

    def notes(self) -> list[str]:
        """What went wrong with their counters."""
        return [note for counted in self._counted for note in counted["notes"]]

    def _gathered(
        self, result: Path, invocations: Mapping[str, Invocation], launched: Completed
    ) -> dict[str, Completed]:
        try:
            document = json.loads(result.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            reason = _why(launched)
            return {
                name: Completed(
                    None,
                    "",
                    launched.stderr,
                    launched.wall_ns,
                    launched.timed_out,
                    launched.interrupted,
                    reason=reason,
                )
                for name in invocations
            }
        self._facts, self._counted = document["facts"], document["counted"]
        return {name: Completed(**document["completed"][name]) for name in invocations}


def _document(name: str, invocation: Invocation) -> dict[str, Any]:
    return {
        **asdict(invocation),
        "name": name,
        "scratch": str(invocation.scratch),
        "working_directory": str(invocation.working_directory),
        "environment": dict(invocation.environment),
    }


def _why(launched: Completed) -> str:
    """Why there is no result: the launcher's line about the rank that failed, else its last word."""
    if launched.timed_out:
        return "the ranks of MPI did not end in time and were killed"
    if launched.reason:
        return launched.reason
    lines = [line.strip() for line in (launched.stderr + "\n" + launched.stdout).splitlines()]
    lines = [line for line in lines if line.strip("- *")]
    telling = [
        line
        for line in lines
        if re.search(r"\brank \d+\b.*(exit|signal)|task \d+.*:|mpi4py|UserError|rank 0 ", line)
    ]
    said = (telling or lines or ["it said nothing"])[-1 if not telling else 0]
    return f"MPI brought no result home: {said[:300]}"
