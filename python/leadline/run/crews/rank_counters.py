"""What the machine of an MPI rank counts beside the rank's command: the counters of this machine, under the name of its client."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from leadline.run.observe.counters import CounterSampler
from leadline.run.observe.machine import Machine
from leadline.run.observe.network_interfaces import interface_names
from leadline.run.observe.recording import Below, look_below

NOT_TOLD = ("cpu.", "nic.lo.")
"""Of a machine elsewhere, single cores and the loopback stay there."""
CORES_TOGETHER = "cpu.all."


class RankCounters:
    """Counts for the length of a block; ranks whose machine is counted by another one do nothing."""

    def __init__(self, name: str, directory: str | None) -> None:
        """`directory`: whose disks and FUSE queue are looked at; empty for none, None to count nothing at all."""
        self._name = name
        self._below = Below()
        self._sampler: CounterSampler | None = None
        if directory is None:
            return
        machine = Machine()
        if directory:
            self._below = look_below(machine, Path(directory))
        queue = self._below.queue.waiting if self._below.queue else ""
        self._sampler = CounterSampler(
            self._below.disks, interface_names(machine), queues={name: queue} if queue else None
        )

    def __enter__(self) -> RankCounters:
        if self._sampler is not None:
            self._sampler.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._sampler is not None:
            self._sampler.__exit__(kind, error, traceback)

    def watch_engine(self, pid: int) -> None:
        """Counts the processor time of the rank's command."""
        if self._sampler is not None:
            self._sampler.watch_engine(pid)

    def told(self) -> dict[str, Any] | None:
        """JSON-ready; None where another rank counts."""
        if self._sampler is None:
            return None
        series = [replace(each, name=self._named(each.name)) for each in self._sampler.series()]
        return {
            "name": self._name,
            "series": [
                [each.name, each.unit, each.times_ns, each.values]
                for each in series
                if self._is_told(each.name)
            ],
            "totals": {
                name: gained
                for counter, gained in self._sampler.totals().items()
                if self._is_told(name := self._named(counter))
            },
            "notes": [f"{self._name}: {note}" for note in self._sampler.notes()],
            "queue": self._below.queue.facts() if self._below.queue else None,
        }

    def _named(self, counter: str) -> str:
        """`fuse.rank0.waiting_requests` has the client's name already."""
        return f"host.{self._name}.{counter.replace(f'fuse.{self._name}.', 'fuse.')}"

    def _is_told(self, name: str) -> bool:
        rest = name.removeprefix(f"host.{self._name}.")
        return rest.startswith(CORES_TOGETHER) or not rest.startswith(NOT_TOLD)
