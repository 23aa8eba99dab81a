"""fio's options, as people write them and fio repeats them -> a cell in the words of spec/settings.py.

Used for results of others and for a user's own job file. fio leaves out what was not set, so its documented
defaults (fio(1)) fill the gaps. Options that no setting covers go along as "fio.NAME", as campaigns write
them: two jobs that differ in one are different cells.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from leadline.spec.settings import SETTINGS, Kind
from leadline.store.records import Scalar

ALIASES = {"blocksize": "bs", "readwrite": "rw", "nr_files": "nrfiles", "file_size": "filesize"}
DEFAULTS = {
    "rw": "read",
    "bs": "4k",
    "iodepth": "1",
    "numjobs": "1",
    "ioengine": "psync",
    "direct": "0",
    "nrfiles": "1",
}
"""fio(1): what a job does that does not say otherwise (on Linux)."""

MIXED_TESTS = ("rw", "randrw")

# fmt: off
NO_PARAMETERS = frozenset((
    "name", "filename", "directory", "description", "filename_format", "new_group", "stonewall", "wait_for",
    "group_reporting", "thread", "lat_percentiles", "clat_percentiles", "slat_percentiles",
    "percentile_list", "write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log", "log_avg_msec",
    "log_hist_msec", "log_offset", "per_job_logs", "bwavgtime", "iopsavgtime", "kb_base", "unlink",
    "unified_rw_reporting", "rwmixread", "rwmixwrite", "buffered", "create_on_open", "allow_file_create",
))
# fmt: on
"""Names, places and reporting do not make a cell; the mix and `buffered` are read together with others."""

LARGEST = 2**63 - 1
SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,9})?|0x[0-9a-f]{1,15})\s*([kmgtpe]?)(ib?|b)?", re.IGNORECASE)
DURATION = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)\s*(d|h|m|s|ms|us)?", re.IGNORECASE)
SECONDS: dict[str, int | Fraction] = {
    "": 1,
    "s": 1,
    "m": 60,
    "h": 3600,
    "d": 86400,
    "ms": Fraction(1, 10**3),
    "us": Fraction(1, 10**6),
}
TRUE = ("1", "true", "yes", "")
"""fio repeats a flag that was given without a value as the empty string."""


def cell_of(options: Mapping[str, str]) -> dict[str, Scalar]:
    """What identifies a cell; what cannot be read (a range, a share) is kept as fio's own under "fio."."""
    stated = {ALIASES.get(name, name): str(text).strip() for name, text in options.items()}
    known = {**DEFAULTS, **stated}
    if "buffered" in stated and "direct" not in stated:
        known["direct"] = "0" if stated["buffered"] in TRUE else "1"
    binary = stated.get("kb_base") != "1000"
    cell: dict[str, Scalar] = {}
    for setting in SETTINGS.values():
        if setting.fio in known and setting.fio != "rwmixread":
            text = known[setting.fio]
            value = _value(setting.kind, setting.fio, text, binary)
            cell[f"fio.{setting.fio}" if value is None else setting.name] = text if value is None else value
    if cell["rw"] in MIXED_TESTS:
        cell["read_percentage"] = _read_percentage(stated)
    covered = {setting.fio for setting in SETTINGS.values()} | NO_PARAMETERS
    return cell | {
        f"fio.{name}": text or True for name, text in sorted(stated.items()) if name not in covered
    }


def _value(kind: Kind, option: str, text: str, binary: bool) -> Scalar | None:
    """The option as its setting keeps it; None when there is no such value."""
    if option == "rw":
        # `randread:8` (8 requests between new offsets) is still a random read; `readwrite` is `rw`.
        test = text.split(":", maxsplit=1)[0]
        return "rw" if test == "readwrite" else test
    if kind == "flag":
        return text.lower() in TRUE
    if kind == "size":
        return size_of(text, binary)
    if kind == "duration":
        return duration_of(text)
    return _count(text) if kind in ("count", "percent") else text


def _count(text: str) -> int | None:
    return int(text) if re.fullmatch(r"\d{1,18}", text, re.ASCII) else None


def _read_percentage(options: Mapping[str, str]) -> int:
    """Of a mix; half of it when nothing is said."""
    reads, writes = _count(options.get("rwmixread", "")), _count(options.get("rwmixwrite", ""))
    if reads is None:
        reads = 50 if writes is None else 100 - writes
    return min(max(reads, 0), 100)


def size_of(text: str, binary: bool = True) -> int | None:
    """Bytes as fio reads them; None for ranges, shares and lists.

    Under kb_base=1024, the default (`binary`), fio takes "4k" and "4kb" for 4096 but "4KiB" for 4000, the
    reverse of the standard (fio(1), "PARAMETER TYPES").
    """
    found = SIZE.fullmatch(text.strip())
    if not found:
        return None
    number, letter, suffix = found[1], found[2].lower(), (found[3] or "").lower()
    base: int = 1000 if (suffix == "ib") == binary else 1024
    amount = Fraction(int(number, 16)) if number[:2].lower() == "0x" else Fraction(number)
    power = " kmgtpe".index(letter or " ")
    size_bytes = amount * int(base**power)
    return int(size_bytes) if size_bytes <= LARGEST else None


def duration_of(text: str) -> float | None:
    """Seconds as fio reads them: without a suffix they are seconds."""
    found = DURATION.fullmatch(text.strip())
    return float(Fraction(found[1]) * SECONDS[(found[2] or "").lower()]) if found else None
