"""The sampler that runs beside a step: a thread that looks at the kernel's counters once a second.

Names, with the unit in each: `cpu.0.busy_share`, `disk.vda.read_bytes_per_second`, `disk.vda.queue_length`,
`disk.vda.utilisation_share`, `nic.eth0.receive_bytes_per_second`, `memory.dirty_bytes`,
`tcp.retransmitted_segments_per_second`, `kernel.context_switches_per_second`, `pressure.io.some_share`,
`engine.busy_cores`. Totals are named as the counter: `disk.vda.read_bytes`, `nic.eth0.receive_bytes`,
`cpu.0.user_seconds`, `engine.cpu_seconds`. Hosts in network namespaces of their own: `host.client1.nic.v0.receive_bytes`,
`host.client1.tcp.retransmitted_segments`, over time with `_per_second`. Other machines have all of these behind `host.<name>.`
(host_looks.py). Groups of processes: `group.servers.busy_cores`, in total `group.servers.cpu_seconds`, and under a quota
`group.servers.throttled_share` of its periods. FUSE mounts: `fuse.client1.waiting_requests`. What a kernel does not count is not there.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Event, Lock, Thread
from types import TracebackType

from leadline.run.observe.counter_ledger import NANOSECONDS, CounterLedger
from leadline.run.observe.counter_readings import read_counters
from leadline.run.observe.engine_clock import EngineClock
from leadline.run.observe.fuse_queues import GAUGE, read_queues
from leadline.run.observe.group_clock import GroupClock
from leadline.run.observe.machine import Machine
from leadline.run.observe.network_namespaces import NamespaceReader
from leadline.store.series import Series

SHORTEST_POINT = 0.2
"""A last interval shorter than this part of a whole one counts in the totals but makes no point."""


class CounterSampler:
    """`with CounterSampler(["vda"], ["eth0"]) as sampler:`, then `sampler.series()` and `.totals()`."""

    def __init__(
        self,
        devices: Sequence[str],
        interfaces: Sequence[str],
        engine_pids: Sequence[int] | None = None,
        interval_seconds: float = 1.0,
        root: Path = Path("/"),
        namespaces: NamespaceReader | None = None,
        groups: GroupClock | None = None,
        queues: Mapping[str, str] | None = None,
    ) -> None:
        """`queues`: the name of a client whose mount is FUSE -> the file that tells how many requests wait there."""
        self._machine = Machine(root)
        self._devices = tuple(devices)
        self._interfaces = tuple(interfaces)
        self._namespaces = namespaces
        self._groups = groups
        self._queues = {f"fuse.{name}.{GAUGE}": path for name, path in (queues or {}).items()}
        self._engine_pids = tuple(engine_pids or ())
        self._interval_ns = int(interval_seconds * NANOSECONDS)
        self._engine = EngineClock(self._machine)
        self._ledger = CounterLedger()
        self._lock = Lock()
        self._stopping = Event()
        self._failure: Exception | None = None
        self._last_ns = 0
        self._samples = 0
        self._thread = Thread(target=self._sample_until_stopped, name="counter sampler", daemon=True)

    def __enter__(self) -> CounterSampler:
        for pid in self._engine_pids:
            self.watch_engine(pid)
        self._sample()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join()
        self._sample(is_last=True)
        if self._failure is not None and error is None:
            raise self._failure

    def watch_engine(self, pid: int) -> None:
        """Count the processor time of a load generator that was started after the sampler, best at once.

        Its time between the last sample and its end is not seen once it has been waited for.
        """
        with self._lock:
            self._engine.watch(pid)
            self._ledger.begin("engine.cpu_ticks", 0, time.monotonic_ns())

    def series(self) -> list[Series]:
        """Rates and gauges over time, relative to the first sample."""
        with self._lock:
            return self._ledger.series()

    def totals(self) -> dict[str, float]:
        """Exact counter differences between the first and the last sample."""
        with self._lock:
            return self._ledger.totals()

    def notes(self) -> list[str]:
        """Counters that vanished or restarted, in sentences."""
        with self._lock:
            return self._ledger.notes()

    @property
    def samples(self) -> int:
        """How often it has looked."""
        return self._samples

    def _sample(self, is_last: bool = False) -> None:
        with self._lock:
            now_ns = time.monotonic_ns()
            reading = read_counters(self._machine, self._devices, self._interfaces, now_ns)
            if self._namespaces is not None:
                reading.counters.update(self._namespaces.counters())
            if self._groups is not None:
                reading.counters.update(self._groups.counters())
            reading.gauges.update(read_queues(self._machine, self._queues))
            if self._engine.is_watching:
                reading.counters["engine.cpu_ticks"] = self._engine.ticks()
            is_sliver = (
                is_last and self._samples > 1 and now_ns - self._last_ns < SHORTEST_POINT * self._interval_ns
            )
            self._ledger.add(reading, totals_only=is_sliver)
            self._last_ns = now_ns
            self._samples += 1

    def _sample_until_stopped(self) -> None:
        """On a fixed schedule, so that points do not drift; looks missed on a stalled machine are skipped."""
        due_ns = self._last_ns + self._interval_ns
        while not self._stopping.wait(max(0, due_ns - time.monotonic_ns()) / NANOSECONDS):
            try:
                self._sample()
            except Exception as failure:
                self._failure = failure  # our bug: shown by the thread that owns the step
                return
            behind_ns = max(0, time.monotonic_ns() - due_ns)
            due_ns += (behind_ns // self._interval_ns + 1) * self._interval_ns
