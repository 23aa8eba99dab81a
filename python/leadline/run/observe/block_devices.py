"""The block devices that carry a directory, from the one that is mounted down to the disks.

The way down: mount -> device number (or source, for filesystems such as btrfs whose number is anonymous) ->
partition's disk, slaves of md and dm, backing file of a loop device and the filesystem that holds it. Overlay
lies where its upper directory lies. Source: kernel Documentation/ABI/stable/sysfs-block.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from leadline.run.observe.machine import Machine, chosen
from leadline.run.observe.mounts import MEMORY_TYPES, Mount, find_mount

SECTOR_BYTES = 512
"""Sizes in sysfs and /proc/diskstats count sectors of 512 bytes whatever the device's own block size is."""

TRANSPORTS = (
    # A part of the device's place in /sys/devices, and what it means.
    ("/nvme", "nvme"),
    ("/virtio", "virtio"),
    ("/usb", "usb"),
    ("/session", "iscsi"),
    ("/rport-", "fibre channel"),
    ("/end_device-", "sas"),
    ("/ata", "sata"),
    ("/mmc_host", "mmc"),
    ("/vbd-", "xen"),
    ("/vmbus", "hyper-v"),
    ("/host", "scsi"),
)


def describe_block_devices(machine: Machine, directory: Path) -> list[dict[str, Any]]:
    """JSON-ready facts of every device under the directory, the mounted one first."""
    return [_describe(machine, name) for name in device_names_under(machine, directory)]


def device_names_under(machine: Machine, directory: Path) -> list[str]:
    """Kernel names as in /proc/diskstats, the mounted device first, each once; none for network or memory."""
    found: list[str] = []
    waiting = _mounted_devices(machine, directory)
    while waiting:
        name = waiting.pop(0)
        if name not in found:
            found.append(name)
            waiting.extend(_made_of(machine, name))
    return found


def disk_names_under(machine: Machine, directory: Path) -> list[str]:
    """Only the lowest devices: what moves the bytes in the end."""
    return [name for name in device_names_under(machine, directory) if not _made_of(machine, name)]


def _mounted_devices(machine: Machine, directory: Path) -> list[str]:
    mount = find_mount(machine, directory)
    if mount is None:
        return []
    upper = mount.super_option("upperdir")
    if mount.type == "overlay" and upper is not None:
        return _upper_devices(machine, directory, Path(upper))
    name = _by_number(machine, mount.device) or _by_source(machine, mount.source)
    if name is None:
        _note_no_device(machine, mount)
        return []
    return (_btrfs_members(machine, name) if mount.type == "btrfs" else []) or [name]


def _upper_devices(machine: Machine, directory: Path, upper: Path) -> list[str]:
    """In a container the upper directory may be out of sight, and then resolve to the overlay itself."""
    mount = find_mount(machine, upper)
    if mount is None or mount.type == "overlay":
        why = f"{directory} is an overlay whose upper directory {upper} is not visible here."
        machine.note("block devices", why)
        return []
    return _mounted_devices(machine, upper)


def _note_no_device(machine: Machine, mount: Mount) -> None:
    if mount.type in MEMORY_TYPES:
        why = f"{mount.point} is {mount.type}: it lives in memory."
    elif mount.is_network or mount.is_fuse:
        why = f"{mount.point} is {mount.type} from {mount.source}: its disks are not this machine's to read."
    else:
        why = f"{mount.point} ({mount.type} on {mount.source}) leads to no device in /sys/class/block."
    machine.note("block devices", why)


def _by_number(machine: Machine, number: str) -> str | None:
    linked = machine.resolve(f"/sys/dev/block/{number}")
    if machine.exists(linked):
        return linked.name
    return None


def _by_source(machine: Machine, source: str) -> str | None:
    """`/dev/mapper/vg-data` is a link to `/dev/dm-0`."""
    if not source.startswith("/dev/"):
        return None
    name = machine.resolve(source).name
    return name if machine.exists(f"/sys/class/block/{name}") else None


def _btrfs_members(machine: Machine, name: str) -> list[str]:
    """All devices of the btrfs that one device belongs to."""
    for filesystem in machine.names("/sys/fs/btrfs"):
        members = machine.names(f"/sys/fs/btrfs/{filesystem}/devices")
        if name in members:
            return members
    return []


def _made_of(machine: Machine, name: str) -> list[str]:
    directory = f"/sys/class/block/{name}"
    if machine.exists(f"{directory}/partition"):
        return [machine.resolve(directory).parent.name]
    backing_file = machine.text(f"{directory}/loop/backing_file")
    if backing_file:
        return _mounted_devices(machine, Path(backing_file).parent)
    return machine.names(f"{directory}/slaves")


def _describe(machine: Machine, name: str) -> dict[str, Any]:
    directory = f"/sys/class/block/{name}"
    sectors = machine.integer(f"{directory}/size", f"size of {name}")
    facts: dict[str, Any] = {
        "name": name,
        "kind": _kind(machine, name),
        "made_of": _made_of(machine, name),
        "size_bytes": None if sectors is None else sectors * SECTOR_BYTES,
    }
    if facts["kind"] == "partition":
        return facts
    model = machine.text(f"{directory}/device/model")
    serial = machine.text(f"{directory}/serial") or machine.text(f"{directory}/device/serial")
    if model is None and facts["kind"] == "disk":
        why = f"{directory}/device/model does not exist (usual for a virtual disk)."
        machine.note(f"model of {name}", why)
    return {
        **facts,
        "model": model,
        "serial": "hidden" if serial else None,
        "transport": _transport(machine, name),
        "link": _link(machine, name),
        "numa_node": machine.integer(f"{directory}/device/numa_node"),
        "name_given": machine.text(f"{directory}/dm/name"),
        "raid_level": machine.text(f"{directory}/md/level"),
        "backing_file": machine.text(f"{directory}/loop/backing_file"),
        **_describe_queue(machine, name),
    }


def _describe_queue(machine: Machine, name: str) -> dict[str, Any]:
    queue = f"/sys/class/block/{name}/queue"
    if not machine.exists(queue):
        machine.note(f"request queue of {name}", f"{queue} does not exist.")
        return {}
    rotational = machine.integer(f"{queue}/rotational")
    return {
        # Virtual disks claim whatever their hypervisor left as the default: kept as the kernel states it.
        "rotational": None if rotational is None else bool(rotational),
        "scheduler": chosen(machine.text(f"{queue}/scheduler", f"scheduler of {name}")),
        "nr_requests": machine.integer(f"{queue}/nr_requests"),
        "read_ahead_kib": machine.integer(f"{queue}/read_ahead_kb"),
        "write_cache": machine.text(f"{queue}/write_cache"),
        "logical_block_size_bytes": machine.integer(f"{queue}/logical_block_size"),
        "physical_block_size_bytes": machine.integer(f"{queue}/physical_block_size"),
        "largest_request_kib": machine.integer(f"{queue}/max_sectors_kb"),
        "polls": machine.integer(f"{queue}/io_poll"),
    }


def _kind(machine: Machine, name: str) -> str:
    directory = f"/sys/class/block/{name}"
    for kind, mark in (("partition", "partition"), ("loop", "loop"), ("md", "md"), ("dm", "dm")):
        if machine.exists(f"{directory}/{mark}"):
            return kind
    return "disk" if machine.exists(f"{directory}/device") else "virtual"


def _transport(machine: Machine, name: str) -> str | None:
    if name.startswith("nvme"):
        wire = machine.text(f"/sys/class/block/{name}/device/transport") or "unknown wire"
        return f"nvme over {wire}"
    place = str(machine.resolve(f"/sys/class/block/{name}"))
    return next((meaning for part, meaning in TRANSPORTS if part in place), None)


def _link(machine: Machine, name: str) -> str | None:
    """The PCIe link of an NVMe controller, whose `device` is the PCI function: a limit of its own."""
    function = PurePosixPath(f"/sys/class/block/{name}/device/device")
    speed, width = (machine.text(function / f"current_link_{part}") for part in ("speed", "width"))
    return f"{speed} x{width}" if speed and width else None
