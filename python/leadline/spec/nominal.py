"""What the hardware should be, from its sheets: compared with what is there by `leadline doctor --nominal` and by every run.

Rates of disks and of the network that cells are judged by are [limits]; here is what the machine is made of.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from leadline.errors import UserError
from leadline.spec.values import Bandwidth, Count, Size, Strict, checked

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


class NominalDisk(Strict):
    """One block device."""

    size: Size | None = None
    kind: Literal["ssd", "disk"] | None = None
    """disk: it rotates."""


class Nominal(Strict):
    """What is not stated is not compared."""

    cpu_clock: Clock | None = None
    cpu_governor: str | None = None
    threads: Count | None = None
    nics: dict[str, Bandwidth] = Field(default_factory=dict)
    """Interface -> line rate."""
    disks: dict[str, NominalDisk] = Field(default_factory=dict)
    """As below /sys/class/block: nvme0n1."""
