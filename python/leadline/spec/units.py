"""Sizes, durations, rates and fractions as people write them.

A bare letter or an IEC suffix is binary, as fio and the field mean it ("4k" = "4KiB" = 4096); an SI suffix with a
capital B is decimal ("450MB" = 450,000,000), as vendors print it. Lower-case "b" after the letter means bits.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import inf

from leadline.errors import UserError

_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgtp]?)(i?)(b?)\s*", re.IGNORECASE)
_RATE = re.compile(r"\s*(.+?)\s*(?:/\s*s|ps)\s*", re.IGNORECASE)
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", re.IGNORECASE)


def parse_size(text: str | int) -> int:
    """Bytes from "4k", "64KiB", "1.5GiB", "450MB" or a whole number; raises UserError."""
    if isinstance(text, int) and not isinstance(text, bool):
        return _positive_size(text, text)
    match = _SIZE.fullmatch(text) if isinstance(text, str) else None
    if not match or (match[4] == "b" and match[2]):
        raise UserError(f'"{text}" is not a size; write bytes as "4k", "1MiB" (binary) or "450MB" (decimal)')
    number, letter, iec, suffix = match.groups()
    base = 1000 if suffix and not iec and letter else 1024
    return _positive_size(Fraction(number) * base ** _POWERS[letter.lower()], text)


def _positive_size(value: Fraction | int, text: object) -> int:
    if value < 1 or value != int(value):
        raise UserError(f'"{text}" is not a size: it must come to a whole number of bytes, at least 1')
    return int(value)


def parse_duration(text: str | float) -> float:
    """Seconds from "30s", "500ms", "5m", "1h" or a number of seconds; raises UserError."""
    if isinstance(text, int | float) and not isinstance(text, bool) and 0 <= text < inf:
        return float(text)
    match = _DURATION.fullmatch(text) if isinstance(text, str) else None
    unit = (match[2].lower() or "s") if match else ""
    if not match or unit not in _SECONDS:
        raise UserError(f'"{text}" is not a duration; write "30s", "500ms", "5m" or "1h"')
    return float(match[1]) * _SECONDS[unit]


def parse_bandwidth(text: str | float) -> float:
    """Bytes per second from "450MB/s", "1.2GiB/s", "25Gb/s" (bits) or a number; raises UserError."""
    if isinstance(text, int | float) and not isinstance(text, bool) and 0 < text < inf:
        return float(text)
    match = _RATE.fullmatch(text) if isinstance(text, str) else None
    amount = (
        re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgtp]?)(i?)(b|bit)", match[1], re.IGNORECASE) if match else None
    )
    if not amount or not float(amount[1]):
        raise UserError(f'"{text}" is not a bandwidth; write "450MB/s", "1.2GiB/s" or "25Gb/s" (bits)')
    number, letter, iec, suffix = amount.groups()
    per_unit: int = (1024 if iec else 1000) ** _POWERS[letter.lower()]
    return float(number) * per_unit / (1 if suffix == "B" else 8)


def parse_fraction(text: str) -> Fraction:
    """A scale such as "1/16", "0.5" or "2"; raises UserError unless it is above 0."""
    try:
        value = Fraction(text.replace(" ", ""))
    except (ValueError, ZeroDivisionError):
        value = Fraction(0)
    if value <= 0:
        raise UserError(f'"{text}" is not a scale; write a fraction such as "1/16"')
    return value


def format_size(size_bytes: float) -> str:
    """The short binary form people type: 4096 -> "4k", 1073741824 -> "1g"; uneven sizes in bytes."""
    value, letters = float(size_bytes), ["", "k", "m", "g", "t", "p"]
    for letter in letters:
        if value < 1024 or value % 1 or (value / 1024) % 1:
            # All digits of a whole number: layouts are told apart by it.
            return f"{value:g}{letter}" if value % 1 else f"{value:.0f}{letter}"
        value /= 1024
    return f"{value * 1024:g}p"


def format_duration(seconds: float) -> str:
    """For people: "4.0 s", "3 min 20 s", "2 h 5 min"."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
