"""Conditions that a lab was held to, and how its targets were made up, in words: "links of 1 Gb/s", "3 storage nodes"."""

from __future__ import annotations

from collections.abc import Callable

from leadline.store.records import Scalar

Write = Callable[[float], str]
_BITS = ((1e9 / 8, "Gb/s"), (1e6 / 8, "Mb/s"), (1e3 / 8, "kb/s"))
"""Bytes per second of one unit: cables are sold in bits and decimal units."""


def link(bandwidth_bytes_per_second: float) -> str:
    """ "1 Gb/s", "250 Mb/s"."""
    for bytes_per_second, unit in _BITS:
        if bandwidth_bytes_per_second >= bytes_per_second:
            return f"{bandwidth_bytes_per_second / bytes_per_second:.3g} {unit}"
    return f"{bandwidth_bytes_per_second * 8:.3g} b/s"


def decimal_bandwidth(bandwidth_bytes_per_second: float) -> str:
    """ "200 MB/s": as disks are sold."""
    for size, unit in ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")):
        if bandwidth_bytes_per_second >= size:
            return f"{bandwidth_bytes_per_second / size:.3g} {unit}"
    return f"{bandwidth_bytes_per_second:.3g} B/s"


def latency(seconds: float) -> str:
    """ "4 ms"."""
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


VALUES: dict[str, Write] = {
    "link": link,
    "packet_loss": lambda value: f"{value:g} %",
    "disk_read_bandwidth": decimal_bandwidth,
    "disk_write_bandwidth": decimal_bandwidth,
    "disk_read_iops": lambda value: f"{value:g}",
    "disk_write_iops": lambda value: f"{value:g}",
    "disk_latency": latency,
    "disk_channels": lambda value: f"{value:g}",
    "disk_channel_bandwidth": decimal_bandwidth,
    "client_cores": lambda value: f"{value:g}",
    "server_cores": lambda value: f"{value:g}",
}
"""Setting -> its value below a label that says the rest."""

PHRASES: dict[str, str] = {
    "link": "links of {}",
    "packet_loss": "{} of packets lost",
    "disk_read_bandwidth": "disk reads held to {}",
    "disk_write_bandwidth": "disk writes held to {}",
    "disk_read_iops": "disk reads held to {} IOPS",
    "disk_write_iops": "disk writes held to {} IOPS",
    "disk_latency": "disks that take {} a request",
    "disk_channels": "each disk serves {} at once",
    "disk_channel_bandwidth": "{} a channel of a disk",
    "client_cores": "{} cores a client",
    "server_cores": "{} cores for all servers",
}
"""Setting -> how it explains itself in a list."""


def condition_value(name: str, value: Scalar) -> str | None:
    """None for a setting that is no condition."""
    write = VALUES.get(name)
    return write(float(value)) if write is not None and isinstance(value, int | float) else None


def condition(name: str, value: Scalar) -> str | None:
    """None for a setting that is no condition."""
    words = condition_value(name, value)
    return None if words is None else PHRASES[name].format(words)
