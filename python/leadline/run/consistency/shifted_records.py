"""Puts the times of a history file onto the clock of the run, with the error of each record; the file stays a history like any other.

The format is crates/leadline-history/src/file.rs; where a field lies is read from the file's own header.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

BLOCK = b"BLCK"
HEAD = struct.Struct("<4sIII")
"""Tag, records, values, checksum."""
WIDTHS = {"i64": 8, "u64": 8, "i32": 4, "u32": 4, "i16": 2, "u16": 2, "u8": 1}
NEVER = 2**63 - 1
"""The end of an operation that nobody saw end."""
LARGEST_ERROR_NS = 2**32 - 1

Clock = Callable[[int], tuple[int, int]]
"""A time of the host -> what to add to it, and how far that may be off."""


def put_right(path: Path, clock: Clock) -> int:
    """Rewrites the file, as far as it is whole; the largest error that a record carries."""
    content = bytearray(path.read_bytes())
    at = content.index(b"\n") + 1
    header = json.loads(content[: at - 1])
    places, width, largest_ns = _places(header["fields"]), header["record_bytes"], 0
    while content[at : at + 4] == BLOCK:
        _, records, values, _ = HEAD.unpack_from(content, at)
        begin = at + HEAD.size
        at = begin + records * width + values * 8
        if at > len(content):
            break  # cut off: the reader says so
        for record in range(begin, begin + records * width, width):
            largest_ns = max(largest_ns, _shift(content, record, places, clock))
        struct.pack_into("<I", content, begin - 4, zlib.crc32(content[begin:at]))
    path.write_bytes(content)
    return largest_ns


def _places(fields: list[list[str]]) -> dict[str, int]:
    """Where each field begins."""
    places, at = {}, 0
    for name, width in fields:
        places[name] = at
        at += WIDTHS[width]
    return places


def _shift(content: bytearray, record: int, places: dict[str, int], clock: Clock) -> int:
    start, end = record + places["start_ns"], record + places["end_ns"]
    (start_ns,), (end_ns,) = struct.unpack_from("<q", content, start), struct.unpack_from("<q", content, end)
    offset_ns, error_ns = clock(start_ns)
    struct.pack_into("<q", content, start, start_ns + offset_ns)
    if end_ns != NEVER:
        offset_ns, late_error_ns = clock(end_ns)
        struct.pack_into("<q", content, end, end_ns + offset_ns)
        error_ns = max(error_ns, late_error_ns)
    error_ns = min(error_ns, LARGEST_ERROR_NS)
    struct.pack_into("<I", content, record + places["clock_error_ns"], error_ns)
    return error_ns
