"""Disks that take their time: an image shown through FUSE by `leadline-engine slow-disk`, for a loop device to lie over.

Limits of control groups (throttles.py) are shapers: what a short while allows passes at once, then all waits; a disk that is not used
up answers at once. Here every request holds one of a few channels for its latency and for its bytes (crates/leadline-slow-disk).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from leadline.plan.sites import Conditions
from leadline.run.executable import engine_executable

FILESYSTEM = "fuse"
SUFFIX = ".slow"
"""Of the empty file beside the image over which it is shown."""


@dataclass(frozen=True)
class SlowDisk:
    """How long requests take, and how many are served at once."""

    latency_seconds: float
    channels: int = 1
    channel_bytes_per_second: float | None = None

    def command(self, image: Path, point: Path) -> tuple[str, ...]:
        """Shows an image over a file and leaves a process behind; raises UserError where the engine is not installed."""
        options = {
            "--latency-seconds": self.latency_seconds,
            "--channels": self.channels,
            "--channel-bytes-per-second": self.channel_bytes_per_second,
        }
        words = (str(word) for pair in options.items() if pair[1] is not None for word in pair)
        return (str(engine_executable()), "slow-disk", str(image), str(point), *words)


def slow_disk(conditions: Conditions) -> SlowDisk | None:
    """None where disks answer when they can."""
    if conditions.disk_latency is None:
        return None
    channels = round(conditions.disk_channels or 1)
    return SlowDisk(conditions.disk_latency, channels, conditions.disk_channel_bandwidth)
