"""What the hardware should be, from its sheets: compared with what is there by `leadline doctor --nominal` and by every run.

Rates that cells are judged by are [limits]; here is what the machine is made of. Rates of a disk that stand here need not be written
there again, and those of [limits] not here.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from leadline.errors import UserError
from leadline.spec.cluster_units import DiskBandwidth, LinkBandwidth
from leadline.spec.values import Count, Size, Strict, checked

_CLOCK = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([mg])hz\s*", re.IGNORECASE)
_PER_UNIT = {"m": 1e6, "g": 1e9}


def parse_clock(text: Any) -> float:
    """Hertz from "3.5GHz" or "2900 MHz"; raises UserError."""
    match = _CLOCK.fullmatch(text) if isinstance(text, str) else None
    if not match or not float(match[1]):
        raise UserError(f'"{text}" is not a clock; write "3.5GHz" or "2900MHz"')
    return float(match[1]) * _PER_UNIT[match[2].lower()]


Clock = Annotated[
    float, checked(parse_clock), WithJsonSchema({"type": "string", "examples": ["3.5GHz", "2900MHz"]})
]


_RATE = re.compile(r"\s*(\d+(?:\.\d+)?|\d{1,3}(?:,\d{3})+)\s*([km]?)\s*(?:iops)?\s*", re.IGNORECASE)
_TIMES = {"": 1, "k": 1e3, "m": 1e6}
MOST_IOPS = 1e8


def parse_iops(text: Any) -> float:
    """Operations per second from "1000k", "1.5M IOPS", "85,000" or a number, thousands as sheets mean them; raises UserError."""
    match = _RATE.fullmatch(str(text)) if isinstance(text, str | int | float) and text is not True else None
    rate = float(match[1].replace(",", "")) * _TIMES[match[2].lower()] if match else 0.0
    if not 1 <= rate <= MOST_IOPS:
        raise UserError(f'"{text}" is no number of operations a second; write "1000k" or "85k IOPS"')
    return rate


Iops = Annotated[
    float,
    checked(parse_iops),
    WithJsonSchema({"anyOf": [{"type": "string", "examples": ["1000k"]}, {"type": "number", "minimum": 1}]}),
]


class NominalDisk(Strict):
    """One block device."""

    size: Size | None = None
    kind: Literal["ssd", "disk"] | None = None
    """disk: it rotates."""
    read: DiskBandwidth | None = None
    """Sequential."""
    write: DiskBandwidth | None = None
    randread_iops: Iops | None = None
    """Of 4 KiB, as sheets state it."""
    randwrite_iops: Iops | None = None


class Nominal(Strict):
    """What is not stated is not compared."""

    cpu_clock: Clock | None = None
    cpu_governor: str | None = None
    threads: Count | None = None
    nics: dict[str, LinkBandwidth] = Field(default_factory=dict)
    """Interface -> line rate."""
    disks: dict[str, NominalDisk] = Field(default_factory=dict)
    """As below /sys/class/block: nvme0n1."""
