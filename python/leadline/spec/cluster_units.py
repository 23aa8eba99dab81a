"""Bandwidths of hardware, with the units that hardware is sold in: where bits and bytes get mixed up, one sentence.

NICs are sold in bits and disks in bytes per second. "25GB/s" for a NIC is eight times what was meant, and a
prediction from it would be wrong without looking so: it is refused, not guessed.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import WithJsonSchema

from leadline.errors import UserError
from leadline.spec.units import parse_bandwidth
from leadline.spec.values import checked

NIC_GIGABITS = (1, 2.5, 5, 10, 20, 25, 40, 50, 56, 100, 200, 400, 800)
"""What NICs are sold as."""
SLOWEST_BYTES_PER_SECOND = 1e5
FASTEST_LINK_BYTES_PER_SECOND = 1e15
FASTEST_DISK_BYTES_PER_SECOND = 1e11
_IN_GIGABYTES = re.compile(r"\s*(\d+(?:\.\d+)?)\s*Gi?B\s*(?:/\s*s|ps)\s*")
_IN_BITS = re.compile(r".*\d\s*[kmgtp]?i?b(it)?\s*(/\s*s|ps)\s*", re.IGNORECASE)
_IN_BYTES = re.compile(r".*B\s*(/\s*[sS]|[pP][sS])\s*")


def parse_link(text: Any) -> float:
    """Bytes per second of a NIC or switch, each way; raises UserError where bits and bytes look mixed up."""
    rate = _stated(text, '"25Gb/s"')
    found = _IN_GIGABYTES.fullmatch(text)
    if found and float(found[1]) in NIC_GIGABITS:
        raise UserError(
            f'"{text}" is {rate * 8 / 1e9:.4g} Gb/s; NICs are sold in bits, so write "{found[1]}Gb/s", '
            f'or "{rate * 8 / 1e9:.4g}Gb/s" if that is meant'
        )
    return _within(rate, text, FASTEST_LINK_BYTES_PER_SECOND, "link")


def parse_disk(text: Any) -> float:
    """Bytes per second of a disk; raises UserError where it is stated in bits."""
    rate = _stated(text, '"450MB/s"')
    if _IN_BITS.fullmatch(text) and not _IN_BYTES.fullmatch(text):
        raise UserError(
            f'"{text}" is in bits, {rate / 1e6:.4g} MB/s; disks are stated in bytes, so write "450MB/s" or "3.2GB/s"'
        )
    return _within(rate, text, FASTEST_DISK_BYTES_PER_SECOND, "disk")


def _stated(text: Any, example: str) -> float:
    if not isinstance(text, str):
        raise UserError(f"{text} has no unit; write {example}, so that bits and bytes are not mixed up")
    return parse_bandwidth(text)


def _within(rate: float, text: str, fastest: float, what: str) -> float:
    if not SLOWEST_BYTES_PER_SECOND <= rate <= fastest:
        raise UserError(f'"{text}" is the bandwidth of no {what}; check its unit')
    return rate


_LINK_SCHEMA: dict[str, Any] = {"type": "string", "examples": ["25Gb/s"]}
_DISK_SCHEMA: dict[str, Any] = {"type": "string", "examples": ["450MB/s"]}

LinkBandwidth = Annotated[float, checked(parse_link), WithJsonSchema(_LINK_SCHEMA)]
DiskBandwidth = Annotated[float, checked(parse_disk), WithJsonSchema(_DISK_SCHEMA)]
