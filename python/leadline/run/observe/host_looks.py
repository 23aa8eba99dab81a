"""Counters of another host beside a step: a loop of its shell prints what its kernel counts whenever it is asked, once a second.

Nothing is installed there and nothing stays there: the loop ends with its input, which is the connection. A host that does not answer
costs its counters, never the step. Names are those of this machine's counters behind `host.<name>.`, cores taken together.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType

from leadline.errors import UserError
from leadline.run.deadline import killed_after
from leadline.run.observe.counter_ledger import NANOSECONDS, CounterLedger
from leadline.run.observe.counter_readings import Reading, interface_counters, read_counters
from leadline.run.observe.fuse_queues import GAUGE, read_queues
from leadline.run.observe.machine import Machine, Name
from leadline.run.observe.recording import Below
from leadline.store.series import Series

END = "==> end <=="
LOOP = f'while read -r _; do tail -n +1 "$@" 2> /dev/null; echo; echo "{END}"; done'
"""One process a look; tail(1) names each file before its content."""
FILES = (
    "/proc/stat", "/proc/diskstats", "/proc/net/dev", "/proc/net/snmp", "/proc/meminfo",
    "/proc/pressure/cpu", "/proc/pressure/io", "/proc/pressure/memory",
)  # fmt: skip
ANSWERS_WITHIN_SECONDS = 10.0
LOOPBACK = "lo"
NOTHING = Below()


class Look(Machine):
    """The files of one look."""

    def __init__(self, text: str) -> None:
        super().__init__()
        blocks = (f"\n{text}").split("\n==> ")[1:]
        self._files = {name: content for name, _, content in (block.partition(" <==\n") for block in blocks)}

    def text(self, name: Name, what: str | None = None) -> str | None:
        return self._files.get(str(name))


class HostLooks:
    """`with HostLooks("node1", argv, below) as looks:`, then `looks.series()`, `.totals()` and `.notes()`."""

    def __init__(
        self,
        name: str,
        inside: Callable[[Sequence[str]], Sequence[str]],
        below: Below = NOTHING,
        interval_seconds: float = 1.0,
    ) -> None:
        """`inside` turns a command into one that runs it on the host, with its input and output here."""
        self.name = name
        self._inside = inside
        self._disks = below.disks
        self._queues = {f"fuse.{GAUGE}": below.queue.waiting} if below.queue and below.queue.waiting else {}
        self._interval_ns = int(interval_seconds * NANOSECONDS)
        self._ledger = CounterLedger()
        self._lost: list[str] = []
        self._stopping = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> HostLooks:
        """Starts afresh: it looks beside one step after the other."""
        self._ledger, self._lost, self._stopping = CounterLedger(), [], threading.Event()
        self._process = self._thread = None
        try:
            argv = self._inside(("sh", "-c", LOOP, "leadline", *FILES, *self._queues.values()))
            self._process = subprocess.Popen(
                argv, bufsize=0, start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except (UserError, OSError):  # the load will say why
            self._lost.append(f"The counters of {self.name} were not read: it could not be reached.")
            return self
        self._look()
        self._thread = threading.Thread(
            target=self._look_until_stopped, name=f"counters of {self.name}", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._process is None or self._thread is None:
            return
        self._stopping.set()
        self._thread.join()
        self._look()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        with killed_after(self._process, ANSWERS_WITHIN_SECONDS), self._process:
            pass

    def concerns(self, clients: Sequence[str]) -> bool:
        """Whether it takes part."""
        return self.name in clients

    def series(self) -> list[Series]:
        """Rates and levels over time, relative to the first look."""
        return self._ledger.series()

    def totals(self) -> dict[str, float]:
        """What each counter gained between the first and the last look."""
        return self._ledger.totals()

    def notes(self) -> list[str]:
        """What went wrong with the counters themselves, in sentences."""
        return [*self._ledger.notes(), *self._lost]

    def _look_until_stopped(self) -> None:
        due_ns = time.monotonic_ns() + self._interval_ns
        while not self._stopping.wait(max(0, due_ns - time.monotonic_ns()) / NANOSECONDS) and not self._lost:
            self._look()
            due_ns = max(due_ns + self._interval_ns, time.monotonic_ns())

    def _look(self) -> None:
        if self._lost:
            return
        before = time.monotonic_ns()
        text = self._answer()
        if text is None:
            self._lost.append(f"The counters of {self.name} were lost: it did not answer.")
        else:
            self._ledger.add(self._reading(Look(text), (before + time.monotonic_ns()) // 2))

    def _answer(self) -> str | None:
        """None where the connection is gone, or the host says nothing in time."""
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        said = b""
        end = f"\n{END}\n".encode()
        with killed_after(process, ANSWERS_WITHIN_SECONDS), contextlib.suppress(OSError):
            process.stdin.write(b"\n")
            while block := process.stdout.read(1 << 16):
                said += block
                if said.endswith(end):
                    return said.removesuffix(end).decode(errors="replace")
        return None

    def _reading(self, look: Look, time_ns: int) -> Reading:
        seen = interface_counters(look.text("/proc/net/dev") or "")
        interfaces = {name.removeprefix("nic.").rpartition(".")[0] for name, _ in seen} - {LOOPBACK}
        found = read_counters(look, self._disks, sorted(interfaces), time_ns)
        found.gauges.update(read_queues(look, self._queues))
        prefix = f"host.{self.name}."
        return Reading(
            time_ns,
            {prefix + name: value for name, value in found.counters.items()},
            {prefix + name: value for name, value in found.gauges.items()},
            {prefix + name: ticks for name, ticks in found.cores.items() if name == "cpu.all"},
        )
