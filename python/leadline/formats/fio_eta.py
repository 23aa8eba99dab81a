"""fio's ETA line -> Eta: what the live screen shows while a step runs. No result is ever taken from it.

    Jobs: 2 (f=2): [r(2)][60.0%][r=786MiB/s][r=201k IOPS][eta 00m:02s]

(eta.c, display_thread_status.) Rounded for the eye by fio itself; what fio does not know yet is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}

LINE = re.compile(r"Jobs: \d{1,9} \(f=\d{1,9}\)[^\r\n]{0,1000}")
GROUP = re.compile(r"\[([^\[\]]{1,200})\]")
RATE = re.compile(r"([rwt])=([\d.]{1,20})([kKMGTP]?)(i?)B/s")
COUNT = re.compile(r"([rwt])=([\d.]{1,20})([kKMGTP]?)()")
REMAINING = re.compile(r"eta (?:(\d{1,6})d:)?(?:(\d{1,6})h:)?(\d{1,6})m:(\d{1,6})s")


@dataclass(frozen=True)
class Eta:
    """Where a running fio stands; None = not told."""

    read_bytes_per_second: float = 0.0
    write_bytes_per_second: float = 0.0
    read_iops: float = 0.0
    write_iops: float = 0.0
    share_done: float | None = None
    remaining_seconds: int | None = None


def parse(text: str) -> Eta | None:
    """The last ETA line in `text` (fio parts them by carriage returns); None when there is none."""
    lines = LINE.findall(text)
    for line in reversed(lines):
        groups = GROUP.findall(line)
        if len(groups) > 1:
            return _eta(groups)
    return None


def _eta(groups: list[str]) -> Eta:
    bandwidth: dict[str, float] = {}
    iops: dict[str, float] = {}
    share_done = remaining_seconds = None
    for group in groups:
        if group.endswith("B/s"):
            bandwidth = _by_direction(RATE.findall(group))
        elif group.endswith("IOPS"):
            iops = _by_direction(COUNT.findall(group))
        elif group.endswith("%"):
            share_done = _share(group[:-1])
        elif found := REMAINING.fullmatch(group):
            days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
            remaining_seconds = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return Eta(
        read_bytes_per_second=bandwidth.get("r", 0.0),
        write_bytes_per_second=bandwidth.get("w", 0.0),
        read_iops=iops.get("r", 0.0),
        write_iops=iops.get("w", 0.0),
        share_done=share_done,
        remaining_seconds=remaining_seconds,
    )


def _by_direction(found: list[tuple[str, str, str, str]]) -> dict[str, float]:
    """`786MiB` counts in powers of 1024; `201k` IOPS and bytes under kb_base=1000 in powers of 1000."""
    return {
        way: _decimal(digits) * float((1024 if binary else 1000) ** POWERS[power.lower()])
        for way, digits, power, binary in found
    }


def _share(digits: str) -> float | None:
    """fio writes "-.-" while it does not know."""
    return min(_decimal(digits) / 100, 1.0) if re.fullmatch(r"[\d.]{1,20}", digits) else None


def _decimal(digits: str) -> float:
    try:
        return float(digits)
    except ValueError:
        return 0.0  # "1.2.3": a line torn in two
