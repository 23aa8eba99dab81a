"""Conditions of a measurement: narrow links, lost packets, slow disks, small clients. All journaled, all undone with the lab.

There is no fixed delay: it needs the netem queueing discipline, which kernels built without modules lack. The token bucket of a
thin cable passes frame by frame, that of a wide one up to two milliseconds at once; a disk held to so many operations a second
delays each at iodepth 1.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from leadline.errors import UserError
from leadline.run.lab.control_groups import (
    ControlGroup,
    controller_place,
    folders_of_everybody,
    write_setting,
)
from leadline.run.lab.journal import Journal
from leadline.run.lab.namespaces import DEVICE
from leadline.run.lab.network import LabHost
from leadline.run.lab.packages import require
from leadline.run.lab.rules import OffloadsOff, PacketLoss, Shaper
from leadline.run.lab.throttles import Throttle
from leadline.run.lab.tools import in_groups

THIN_BITS_PER_SECOND = 100_000_000
"""Up to here a cable passes frame by frame; a gigabit of single frames a second would take a core of its own, which servers lack then."""
FRAMES_BUCKET_BYTES = 2 * 1550
"""Room for two full frames of MTU 1500: a lone message takes the time of its bytes, as on a real cable."""
PACKET_BYTES = 72 * 1024
"""What veth hands over at once, 64 KiB and the headers of its frames; where less fits the bucket, it is cut into them."""
BURST_SECONDS = 0.002
QUEUE_MS = 20
LOSS_TOOLS = {"nft": "nftables", "ethtool": "ethtool"}
CPU_PERIOD_US = 100_000


@dataclass(frozen=True)
class DiskLimits:
    """What a group may ask of a block device; None leaves it free."""

    read_bytes_per_second: int | None = None
    write_bytes_per_second: int | None = None
    read_iops: int | None = None
    write_iops: int | None = None


@dataclass(frozen=True)
class LimitedGroup:
    """Control groups under a limit: one a controller under version 1, a single one under version 2."""

    paths: tuple[str, ...]
    version: int
    settings: tuple[str, ...] = ()
    """`file=text`, as written to the groups."""

    def hold(self, path: Path) -> None:
        """Sets the same limits in another group."""
        for name, _, text in (setting.partition("=") for setting in self.settings):
            write_setting(path / name, text)

    def inside(self, argv: Sequence[str]) -> tuple[str, ...]:
        """The command line that runs under the limit."""
        return in_groups(self.paths, argv)


def shape_link(journal: Journal, host: LabHost, bits_per_second: int) -> None:
    """Both directions of a host's cable."""
    if bits_per_second <= 0:
        raise UserError(
            f"a link cannot be shaped to {bits_per_second} bit/s; give a positive rate, or cut the link"
        )
    burst, queue_ms = _bucket(bits_per_second / 8)
    for namespace, device in ((host.namespace, DEVICE), (host.switch, host.port)):
        journal.make(Shaper(namespace, device, bits_per_second, burst, queue_ms))


def _bucket(bytes_per_second: float) -> tuple[int, int]:
    """Bytes that pass at once, and milliseconds that others wait at most: a packet that is cut into frames finds room for all of them."""
    if bytes_per_second * 8 <= THIN_BITS_PER_SECOND:
        return FRAMES_BUCKET_BYTES, QUEUE_MS + round(PACKET_BYTES / bytes_per_second * 1000)
    return max(PACKET_BYTES, round(bytes_per_second * BURST_SECONDS)), QUEUE_MS


def lose_packets(
    journal: Journal, host: LabHost, percent: float, tell: Callable[[str], None] = lambda line: None
) -> None:
    """A share of the packets that a host receives, and of those that it sends; `tell` hears what has to be installed."""
    if not 0 < percent < 100:
        raise UserError(f"{percent:g} % of packets cannot be lost; give more than 0 and less than 100")
    require(LOSS_TOOLS, journal.tools, tell)
    for namespace, device in ((host.namespace, DEVICE), (host.switch, host.port)):
        journal.make(OffloadsOff(namespace, device))
        journal.make(PacketLoss(namespace, device, max(1, round(percent * 10))))


def limit(
    journal: Journal,
    name: str,
    cores: float | None = None,
    memory_bytes: int | None = None,
    disks: Mapping[Path, DiskLimits] | None = None,
) -> LimitedGroup:
    """A group held to so many cores, so much memory, and to limits on block devices.

    Under version 1 only I/O that a member submits itself is held back (direct, or its own fsync), not the kernel's later writeback.
    """
    settings: dict[str, list[str]] = {}
    version = 1
    for controller, value in {"cpu": cores, "memory": memory_bytes}.items():
        if value is not None:
            place = controller_place(controller)
            settings.setdefault(str(place.folder / name), []).append(
                client_setting(place.version, controller, value)
            )
            version = place.version
    for device, limits in (disks or {}).items():
        place = controller_place("blkio", "io")
        held = disk_settings(place.version, numbers_of(device), limits)
        settings.setdefault(str(place.folder / name), []).extend(held)
        version = place.version
    for path, lines in settings.items():
        journal.make(ControlGroup(path, tuple(lines)))
    return LimitedGroup(
        tuple(settings), version, tuple(line for lines in settings.values() for line in lines)
    )


def throttle(
    journal: Journal, name: str, devices: Sequence[Path], limits: DiskLimits, homes: Sequence[str]
) -> tuple[str, ...]:
    """Slows devices of the lab down for all that reach them; the group that a load must join, where nothing has a group yet.

    Under version 2 the limits are set in `homes`, the groups of those who reach the devices; under version 1 where everybody lives.
    """
    version = controller_place("blkio", "io").version
    if version == 2 and not homes:
        return limit(journal, name, disks=dict.fromkeys(devices, limits)).paths
    folders = tuple(map(Path, homes)) if version == 2 else folders_of_everybody("blkio")
    for device in devices:
        for setting in disk_settings(version, numbers_of(device), limits):
            file, _, text = setting.partition("=")
            for folder in folders:
                if version == 2:
                    write_setting(folder / file, text)
                else:
                    journal.make(Throttle(str(folder), file, *_held(text)))
    return ()


def numbers_of(device: Path) -> str:
    """Major and minor, as control groups name a block device."""
    number = device.stat().st_rdev
    return f"{os.major(number)}:{os.minor(number)}"


def _held(text: str) -> tuple[str, int]:
    device, _, value = text.partition(" ")
    return device, int(value)


def disk_settings(version: int, device: str, limits: DiskLimits) -> tuple[str, ...]:
    """The files to write and what (kernel cgroup-v1/blkio-controller.rst, cgroup-v2.rst "io.max")."""
    names: Mapping[str, tuple[str, str]] = {
        "read_bytes_per_second": ("blkio.throttle.read_bps_device", "rbps"),
        "write_bytes_per_second": ("blkio.throttle.write_bps_device", "wbps"),
        "read_iops": ("blkio.throttle.read_iops_device", "riops"),
        "write_iops": ("blkio.throttle.write_iops_device", "wiops"),
    }
    given = {each.name: value for each in fields(limits) if (value := getattr(limits, each.name)) is not None}
    if not given or any(value <= 0 for value in given.values()):
        raise UserError("a slow disk needs at least one limit, and every limit above 0")
    if version == 1:
        return tuple(f"{names[key][0]}={device} {value}" for key, value in given.items())
    return ("io.max=" + " ".join([device, *(f"{names[key][1]}={value}" for key, value in given.items())]),)


def client_setting(version: int, controller: str, limit: float) -> str:
    """The file to write and what."""
    if limit <= 0:
        raise UserError(
            f"a client cannot be limited to {limit:g} of {controller}; give a value above 0 or none"
        )
    if controller == "memory":
        return f"{'memory.limit_in_bytes' if version == 1 else 'memory.max'}={round(limit)}"
    quota_us = round(limit * CPU_PERIOD_US)
    return f"cpu.cfs_quota_us={quota_us}" if version == 1 else f"cpu.max={quota_us} {CPU_PERIOD_US}"
