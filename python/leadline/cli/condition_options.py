"""Options of `leadline lab up` that hold a lab to conditions: the settings of the same names in a campaign."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from leadline.plan.sites import Conditions

Raw = str | float | None
OPTIONS: tuple[tuple[str, str, Any, str], ...] = (
    ("--link", "RATE", str, "Every host's cable, each way: 1Gb/s (bits), 100MiB/s."),
    ("--packet-loss", "PERCENT", click.FloatRange(0, 100, True, True), "Of the packets on every cable, each way."),
    ("--disk-read-bandwidth", "RATE", str, "A storage disk: 20MiB/s."),
    ("--disk-write-bandwidth", "RATE", str, "A storage disk."),
    ("--disk-read-iops", "N", click.IntRange(min=1), "A storage disk, operations a second."),
    ("--disk-write-iops", "N", click.IntRange(min=1), "A storage disk, operations a second."),
    ("--disk-latency", "TIME", str, "A storage disk, of each request, whatever its size: 4ms."),
    ("--disk-channels", "N", click.IntRange(min=1), "With --disk-latency: requests that a storage disk serves at once (1)."),
    ("--disk-channel-bandwidth", "RATE", str, "With --disk-latency: what each of them moves, on top of the latency."),
    ("--client-cores", "N", click.FloatRange(0, min_open=True), "Processor cores of a client, its mount included."),
    ("--server-cores", "N", click.FloatRange(0, min_open=True), "Processor cores of all servers together."),
    ("--client-memory", "SIZE", str, "Memory of a client, its page cache included: 512MiB."),
)  # fmt: skip


def condition_options(function: Callable[..., None]) -> Callable[..., None]:
    """Adds them to a command, which gets them as keywords."""
    for flag, metavar, kind, said in reversed(OPTIONS):
        function = click.option(flag, metavar=metavar, type=kind, help=said)(function)
    return function


def conditions_of(given: Mapping[str, Raw]) -> Conditions:
    """What was asked for, in bytes and seconds; raises UserError for what is no rate or size."""
    from leadline.plan.sites import Conditions
    from leadline.spec.units import parse_bandwidth, parse_duration, parse_size

    rates = {
        key: None if given[key] is None else parse_bandwidth(str(given[key]))
        for key in ("link", "disk_read_bandwidth", "disk_write_bandwidth", "disk_channel_bandwidth")
    }
    memory, latency = given["client_memory"], given["disk_latency"]
    plain = ("packet_loss", "disk_read_iops", "disk_write_iops", "client_cores", "server_cores")
    numbers = {key: None if given[key] is None else float(str(given[key])) for key in plain}
    return Conditions(
        **rates,
        **numbers,
        disk_latency=None if latency is None else parse_duration(str(latency)),
        disk_channels=None if given["disk_channels"] is None else int(given["disk_channels"]),
        client_memory=None if memory is None else parse_size(str(memory)),
    )
