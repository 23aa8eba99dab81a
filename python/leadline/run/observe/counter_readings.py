"""One look at the kernel's counters: text of /proc turned into named numbers, no arithmetic over time.

Sources: proc_stat(5), proc_net_dev (kernel net/core/net-procfs.c), proc_net_snmp, and in the kernel's tree
Documentation/admin-guide/iostats.rst, Documentation/accounting/psi.rst.
A line that is shorter than expected (an old kernel) yields fewer names, never an error.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from leadline.run.observe.block_devices import SECTOR_BYTES
from leadline.run.observe.machine import Machine
from leadline.run.observe.memory import read_meminfo

DISK_COLUMNS = (
    # Column in /proc/diskstats after the name, our name, factor.
    (0, "read_operations", 1),
    (2, "read_bytes", SECTOR_BYTES),
    (4, "write_operations", 1),
    (6, "write_bytes", SECTOR_BYTES),
    (9, "busy_milliseconds", 1),
    (10, "queued_milliseconds", 1),
    (11, "discard_operations", 1),
    (15, "flush_operations", 1),
)
INTERFACE_COLUMNS = (
    # Column in /proc/net/dev after the name, our name.
    (0, "receive_bytes"),
    (1, "receive_packets"),
    (2, "receive_errors"),
    (3, "receive_drops"),
    (8, "transmit_bytes"),
    (9, "transmit_packets"),
    (10, "transmit_errors"),
    (11, "transmit_drops"),
)
MEMORY_GAUGES = (
    ("MemAvailable", "memory.available_bytes"),
    ("Cached", "memory.cached_bytes"),
    ("Dirty", "memory.dirty_bytes"),
    ("Writeback", "memory.writeback_bytes"),
)
TCP_COUNTERS = (("OutSegs", "tcp.sent_segments"), ("RetransSegs", "tcp.retransmitted_segments"))


class CoreTicks(NamedTuple):
    """Clock ticks a core has spent since boot. Guest time is part of user time: the five sum to all time."""

    user: int
    system: int
    idle: int
    iowait: int
    steal: int

    @property
    def whole(self) -> int:
        return self.user + self.system + self.idle + self.iowait + self.steal


@dataclass(frozen=True)
class Reading:
    """Counters only ever grow (until they wrap or restart); gauges are states."""

    time_ns: int
    counters: dict[str, int]
    gauges: dict[str, float]
    cores: dict[str, CoreTicks]


def read_counters(
    machine: Machine, devices: Sequence[str], interfaces: Sequence[str], time_ns: int
) -> Reading:
    """Everything at once; what is not there is not in the reading."""
    counters: dict[str, int] = {}
    gauges: dict[str, float] = {}
    cores: dict[str, CoreTicks] = {}
    _read_stat(machine, counters, gauges, cores)
    counters.update(_disk_counters(machine, devices))
    counters.update(_interface_counters(machine, interfaces))
    counters.update(tcp_counters(machine.text("/proc/net/snmp") or ""))
    counters.update(_pressure_counters(machine))
    meminfo = read_meminfo(machine)
    gauges.update({name: float(meminfo[key]) for key, name in MEMORY_GAUGES if key in meminfo})
    return Reading(time_ns, counters, gauges, cores)


def _read_stat(
    machine: Machine, counters: dict[str, int], gauges: dict[str, float], cores: dict[str, CoreTicks]
) -> None:
    """/proc/stat: one line a core, then single values; the long `intr` line between them is not looked at."""
    for line in (machine.text("/proc/stat") or "").splitlines():
        if line.startswith("cpu"):
            name, *columns = line.split()
            cores["cpu." + (name[3:] or "all")] = _core_ticks([int(column) for column in columns])
        elif line.startswith("ctxt "):
            counters["kernel.context_switches"] = int(line.split()[1])
        elif line.startswith(("procs_running ", "procs_blocked ")):
            name, value = line.split()
            gauges[f"kernel.{name[6:]}_processes"] = float(value)


def _core_ticks(columns: list[int]) -> CoreTicks:
    user, nice, system, idle, iowait, irq, softirq, steal = (columns + [0] * 8)[:8]
    return CoreTicks(user + nice, system + irq + softirq, idle, iowait, steal)


def _disk_counters(machine: Machine, devices: Sequence[str]) -> Iterator[tuple[str, int]]:
    wanted = set(devices)
    for line in (machine.text("/proc/diskstats") or "").splitlines() if wanted else ():
        _, _, name, *columns = line.split()
        if name in wanted:
            for column, quantity, factor in DISK_COLUMNS:
                if column < len(columns):
                    yield f"disk.{name}.{quantity}", int(columns[column]) * factor


def _interface_counters(machine: Machine, interfaces: Sequence[str]) -> Iterator[tuple[str, int]]:
    wanted = set(interfaces)
    return interface_counters((machine.text("/proc/net/dev") or "") if wanted else "", wanted)


def interface_counters(text: str, wanted: Container[str] | None = None) -> Iterator[tuple[str, int]]:
    """Of /proc/net/dev, of all interfaces or of those wanted; two lines of headings come first."""
    for line in text.splitlines():
        # Names of aliases hold colons themselves, and old kernels leave no blank after the last one.
        name, colon, rest = line.strip().rpartition(":")
        if colon and (wanted is None or name in wanted):
            columns = rest.split()
            for column, quantity in INTERFACE_COLUMNS:
                if column < len(columns):
                    yield f"nic.{name}.{quantity}", int(columns[column])


def tcp_counters(text: str) -> Iterator[tuple[str, int]]:
    """Of /proc/net/snmp: a line of names and a line of values for each protocol."""
    lines = [line.split() for line in text.splitlines() if line[:4] == "Tcp:"]
    if len(lines) == 2:
        values = dict(zip(*lines, strict=False))
        yield from ((name, int(values[key])) for key, name in TCP_COUNTERS if key in values)


def _pressure_counters(machine: Machine) -> Iterator[tuple[str, int]]:
    """`some avg10=0.00 avg60=0.00 avg300=0.00 total=3526676`, in microseconds."""
    for resource in ("cpu", "io", "memory"):
        text = machine.text(f"/proc/pressure/{resource}") or ""
        first = text.partition("\n")[0]
        _, mark, total = first.partition("total=")
        if mark and first.startswith("some"):
            yield f"pressure.{resource}.some_microseconds", int(total)
