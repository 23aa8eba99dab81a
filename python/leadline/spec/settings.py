"""The table of everything a cell can be told: one line a setting. Adding an axis is adding a line here.

A setting that is an `axis` may be given a list in a campaign; the experiment then runs every combination. `fio` is the
option it becomes in a fio job (fio(1)); None where leadline acts on it itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["word", "size", "count", "flag", "duration", "percent", "rate", "bandwidth", "number"]


@dataclass(frozen=True)
class Setting:
    """How one setting is written, shown and handed to fio."""

    name: str
    kind: Kind
    axis: bool
    fio: str | None
    label: str
    """For axes of plots and column heads, in the field's own words."""
    logarithmic: bool = False
    site: bool = False
    """Of what the load stands on and not of the load: between two values the target is taken down and brought up anew."""


SETTINGS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting("target", "word", True, None, "target", site=True),
        Setting("storage_nodes", "count", True, None, "storage nodes", True, site=True),
        Setting("link", "bandwidth", True, None, "link", True, site=True),
        Setting("packet_loss", "number", True, None, "packets lost, %", site=True),
        Setting("disk_read_bandwidth", "bandwidth", True, None, "disk reads at most", True, site=True),
        Setting("disk_write_bandwidth", "bandwidth", True, None, "disk writes at most", True, site=True),
        Setting("disk_read_iops", "rate", True, None, "disk reads at most, 1/s", True, site=True),
        Setting("disk_write_iops", "rate", True, None, "disk writes at most, 1/s", True, site=True),
        Setting("disk_latency", "duration", True, None, "disk latency", True, site=True),
        Setting("disk_channels", "count", True, None, "channels a disk", True, site=True),
        Setting(
            "disk_channel_bandwidth",
            "bandwidth",
            True,
            None,
            "bandwidth of a disk's channel",
            True,
            site=True,
        ),
        Setting("client_cores", "number", True, None, "cores a client", True, site=True),
        Setting("client_memory", "size", True, None, "memory a client", True, site=True),
        Setting("server_cores", "number", True, None, "cores of all servers", True, site=True),
        Setting("clients", "count", True, None, "clients", True),
        Setting("rw", "word", True, "rw", "test"),
        Setting("read_percentage", "percent", True, "rwmixread", "reads, %"),
        Setting("block_size", "size", True, "bs", "block size", True),
        Setting("iodepth", "count", True, "iodepth", "iodepth", True),
        Setting("numjobs", "count", True, "numjobs", "numjobs", True),
        Setting("ioengine", "word", True, "ioengine", "engine"),
        Setting("direct", "flag", True, "direct", "O_DIRECT"),
        Setting("size", "size", True, "size", "size a job", True),
        Setting("filesize", "size", True, "filesize", "file size", True),
        Setting("nrfiles", "count", True, "nrfiles", "files a job", True),
        Setting("openfiles", "count", True, "openfiles", "open files a job", True),
        Setting("file_service_type", "word", True, "file_service_type", "file order"),
        Setting("rate", "rate", True, None, "offered rate, 1/s", True),
        Setting("ramp", "duration", False, "ramp_time", "ramp"),
        Setting("runtime", "duration", False, "runtime", "runtime"),
        Setting("refill_buffers", "flag", False, "refill_buffers", "refill buffers"),
        Setting("end_fsync", "flag", False, "end_fsync", "fsync at the end"),
        Setting("fsync_on_close", "flag", False, "fsync_on_close", "fsync on close"),
        Setting("driver", "word", True, None, "driver"),
        Setting("naming", "word", True, None, "naming"),
        Setting("depth", "count", True, None, "tree depth"),
        Setting("branching_factor", "count", True, None, "children a directory"),
        Setting("items_per_directory", "count", True, None, "items a directory", True),
        Setting("items_per_rank", "count", True, None, "items a rank", True),
        Setting("unique_trees", "flag", True, None, "a tree for each rank"),
        Setting("leaves_only", "flag", False, None, "items in leaves only"),
        Setting("rank_shift", "count", True, None, "rank shift"),
        Setting("drop_caches", "flag", True, None, "caches dropped before stat and read"),
        Setting("directories", "flag", False, None, "items that are directories"),
        Setting("files", "flag", False, None, "items that are files"),
        Setting("actions", "word", False, None, "phases"),
        Setting("write_size", "size", True, None, "bytes written to a file", True),
        Setting("read_size", "size", True, None, "bytes read from a file", True),
        Setting("pause", "duration", False, None, "rest before each kind"),
        Setting("stonewall", "duration", False, None, "time to create files"),
        Setting("object_size", "size", True, None, "object size", True),
        Setting("objects", "count", True, None, "objects", True),
        Setting("part_size", "size", True, None, "part size", True),
        Setting("concurrency", "count", True, None, "requests in flight", True),
        Setting("instances", "count", True, None, "client instances", True),
        Setting("operations", "word", False, None, "requests"),
        Setting("retries", "count", False, None, "retries"),
        Setting("checks", "flag", False, None, "functional checks"),
        Setting("window", "duration", False, None, "time of each request"),
        Setting("suite", "word", False, None, "suite"),
        Setting("tool", "word", True, None, "tool"),
        Setting("ranks", "count", True, None, "ranks", True),
        Setting("place", "word", True, None, "place"),
        Setting("test", "word", True, None, "network test"),
        Setting("message_size", "size", True, None, "message size", True),
        Setting("cells", "word", False, None, "cells of the grid"),
        Setting("trials", "count", False, None, "trials of each cell"),
        Setting("patience", "duration", False, None, "patience"),
        Setting("histories", "duration", False, None, "free-running load"),
        Setting("delays", "count", False, None, "delayed probes"),
        Setting("control", "flag", False, None, "one mount seen twice"),
        Setting("witness", "flag", False, None, "witness"),
        Setting("promise", "word", False, None, "promise"),
    )
}

TARGET_OPTION = "target."
"""Mount and format options of a target, where they are axes, are settings named so."""


def is_of_site(name: str) -> bool:
    """Whether a setting says what the load stands on."""
    return name.startswith(TARGET_OPTION) or (name in SETTINGS and SETTINGS[name].site)


AXES = tuple(setting.name for setting in SETTINGS.values() if setting.axis)
EXPERIMENT_AXES = tuple(setting.name for setting in SETTINGS.values() if setting.axis and not setting.site)
LOAD_AXES = ("iodepth", "numjobs", "concurrency", "clients")
"""Axes that raise the concurrency: curves run along them."""
