"""The table of nccl-tests' all_reduce_perf (doc/PERFORMANCE.md there) -> AllReduceRow.

    # nThread 1 nGpus 2 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
    #  Rank  0 Group  0 Pid   2748 on host device  0 [0x01] NVIDIA ...
    #                                                   out-of-place                       in-place
    #   size     count   type  redop   root    time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
    #    (B)  (elements)                       (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
            8         2  float    sum     -1    6.21    0.00    0.00       0     6.23    0.00    0.00       0

Older versions have "error" in place of "#wrong" and no "root". GB are 10^9 bytes. Bandwidths are rounded to 0.01, so only times are taken;
but their quotient tells an all-reduce of so many ranks from the other collectives, whose tables look alike.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from leadline.formats.fields import FormatError, amount, shown

HEADING = re.compile(r"^#[ \t]+size[ \t]+count[ \t]+type[ \t]+redop\b(.*)$", re.MULTILINE)
RANK = re.compile(r"^#[ \t]+Rank[ \t]+(\d{1,9})[ \t]", re.MULTILINE)
ITERATIONS = re.compile(r"(?<!warmup )(?<!agg )\biters:[ \t]*(\d{1,9})\b")
ROW = re.compile(r"^[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\w{1,20})[ \t]+(\w{1,20})[ \t]+(.{1,400})$")
PLACES = ("out of place", "in place")
FIGURES = 4
"""Of each place: time, algbw, busbw, #wrong."""
TOLD_FROM_GB = 1.0
"""Bandwidths from here on are rounded to less than a percent."""
QUOTIENT_OFF = 0.02


@dataclass(frozen=True)
class AllReduceRow:
    """One message size, one place."""

    size_bytes: int
    type: str
    operation: str
    place: str
    """"out of place" or "in place"."""
    ranks: int
    iterations: int
    mean_ns: float
    wrong: int | None
    """Elements with a wrong result; None where they were not checked, or an older version states an error instead."""


def recognised(text: str) -> bool:
    """By the head of its table."""
    return HEADING.search(text) is not None


def parse(text: str) -> tuple[AllReduceRow, ...]:
    """All rows; raises FormatError when there is none, or when one is cut off."""
    heading = HEADING.search(text)
    if heading is None:
        raise FormatError("it has no table of nccl-tests")
    ranks = len(set(RANK.findall(text)))
    if not ranks:
        raise FormatError(
            'it names no rank (lines "#  Rank  0 ..."), so its bandwidths mean nothing; fetch the whole output'
        )
    stated = ITERATIONS.search(text)
    iterations = int(stated[1]) if stated else 1
    columns = heading[1].split()
    counted = "#wrong" in columns
    skipped = 1 if "root" in columns else 0
    rows = [
        row
        for number, line in enumerate(text.splitlines(), start=1)
        if (found := ROW.match(line))
        for row in _rows(found, skipped, counted, ranks, max(iterations, 1), number)
    ]
    if not rows:
        raise FormatError("its table of nccl-tests has no row: the test ended before its first result")
    return tuple(rows)


def _rows(
    found: re.Match[str], skipped: int, counted: bool, ranks: int, iterations: int, number: int
) -> list[AllReduceRow]:
    words = found[5].split()[skipped:]
    if len(words) < FIGURES * len(PLACES):
        raise FormatError(f"line {number} has {len(words)} of {FIGURES * len(PLACES)} figures: it is cut off")
    for at in range(len(PLACES)):
        _check_quotient(words[FIGURES * at + 1], words[FIGURES * at + 2], ranks, number)
    return [
        AllReduceRow(
            size_bytes=int(amount(int(found[1]), f"line {number}, size")),
            type=found[3],
            operation=found[4],
            place=place,
            ranks=ranks,
            iterations=iterations,
            mean_ns=_nanoseconds(words[FIGURES * at], number),
            wrong=_wrong(words[FIGURES * at + 3]) if counted else None,
        )
        for at, place in enumerate(PLACES)
    ]


def _nanoseconds(word: str, number: int) -> float:
    try:
        time_us = float(word)
    except ValueError:
        raise FormatError(f"line {number} states the time {shown(word)}, which is no number") from None
    if not 0 < time_us < 1e12:
        raise FormatError(f"line {number} states the time {shown(word)} us, which no operation takes")
    return time_us * 1000


def _check_quotient(algorithm: str, bus: str, ranks: int, number: int) -> None:
    """Of an all-reduce the bus carries 2(n-1)/n of what the algorithm moves; a word that is no number says nothing here."""
    try:
        algorithm_gb, bus_gb = float(algorithm), float(bus)
    except ValueError:
        return
    expected = 2 * (ranks - 1) / ranks
    if algorithm_gb < TOLD_FROM_GB or abs(bus_gb / algorithm_gb - expected) <= QUOTIENT_OFF:
        return
    raise FormatError(
        f"line {number} states a bus bandwidth of {bus_gb / algorithm_gb:.3g} x the algorithm's, an all-reduce of the {ranks} "
        f"ranks that it names has {expected:.3g} x: it is of another collective, or lines of ranks are missing; "
        "fetch the whole output of all_reduce_perf"
    )


def _wrong(word: str) -> int | None:
    """ "N/A" where validation was off."""
    return int(word) if word.isdecimal() and len(word) < 19 else None
