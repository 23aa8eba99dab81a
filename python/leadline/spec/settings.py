"""The table of everything a cell can be told: one line a setting. Adding an axis is adding a line here.

A setting that is an `axis` may be given a list in a campaign; the experiment then runs every combination. `fio` is the
option it becomes in a fio job (fio(1)); None where leadline acts on it itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["word", "size", "count", "flag", "duration", "percent", "rate"]


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


SETTINGS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
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
    )
}

AXES = tuple(setting.name for setting in SETTINGS.values() if setting.axis)
LOAD_AXES = ("iodepth", "numjobs")
"""Axes that raise the concurrency: curves run along them."""
