"""perftest's output (ib_send_bw, ib_write_lat ...), as text tables or gathered in JSON -> PerftestRow.

Units as perftest counts them (perftest_parameters): "MB/sec" are 2^20 bytes, "Gb/sec" (--report_gbits) 10^9
bits, "Mpps" 10^6 messages. The latency of send and write tests is half a round trip; of a read, a whole one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from leadline.formats.fields import Fields, FormatError, amount, shown

TITLE = re.compile(r"\b(Send|RDMA_Write|RDMA_Read|Atomic)\b[A-Za-z _]{0,40}\b(BW|Latency) Test\b")
TEST_WORDS = {"Send": "send", "RDMA_Write": "write", "RDMA_Read": "read", "Atomic": "atomic"}

# Blanks only, not \s: that runs over line ends, and a file of empty lines would take quadratic time.
HEADER = re.compile(r"^[ \t]*#bytes[ \t]+(?:#sl[ \t]+)?#iterations\b", re.MULTILINE)
COLUMN = re.compile(r"(?:BW )?[^\s\[]+(?: percentile)?\[[^\]]{1,12}\]|#\w+|\S+(?: Port\d\[[^\]]{1,12}\])?")
COLUMN_KEYS = {
    "#bytes": "bytes",
    "#iterations": "iterations",
    "BW average[MB/sec]": "bw_average_MBs",
    "BW average[MiB/sec]": "bw_average_MBs",
    "BW average[Gb/sec]": "bw_average_Gbs",
    "MsgRate[Mpps]": "msg_rate_Mpps",
    "t_min[usec]": "latency_min_usec",
    "t_max[usec]": "latency_max_usec",
    "t_typical[usec]": "latency_typical_usec",
    "t_avg[usec]": "latency_avg_usec",
    "t_stdev[usec]": "latency_stdev_usec",
    "99% percentile[usec]": "latency_99percentile_usec",
    "99.9% percentile[usec]": "latency_99.9percentile_usec",
}
"""Column heads of the text -> keys of the JSON; other columns are not read."""

PERCENTILES = {
    "0.5": "latency_typical_usec",
    "0.99": "latency_99percentile_usec",
    "0.999": "latency_99.9percentile_usec",
}
NUMBER = re.compile(r"\d{1,18}(?:\.\d{1,18})?")
TEST = re.compile(r"ib_(send|write|read|atomic)_(bw|lat)")


@dataclass(frozen=True)
class PerftestRow:
    """One message size of one test."""

    test: str
    """"ib_write_bw" and the like."""
    message_size_bytes: int
    iterations: int
    bytes_per_second: float | None
    """None for latency tests."""
    mean_ns: float | None
    """None for bandwidth tests."""
    min_ns: float | None
    max_ns: float | None
    standard_deviation_ns: float | None
    percentiles_ns: Mapping[str, float]


def parse_text(text: str) -> tuple[PerftestRow, ...]:
    """All tables in `text`; lines that are no row (warnings on CPU frequency) are passed over."""
    rows: list[PerftestRow] = []
    kind: str | None = None
    columns: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if title := TITLE.search(line):
            kind, columns = TEST_WORDS[title[1]], []
        elif HEADER.match(line):
            columns = [found.strip() for found in COLUMN.findall(line)]
        elif columns and _is_row(line):
            rows.append(_text_row(line, columns, kind, number))
        elif line.lstrip().startswith("---"):
            columns = []
    if not rows:
        raise FormatError("it has a perftest table without a row: the test ended before its first result")
    return tuple(rows)


def _is_row(line: str) -> bool:
    tokens = line.split()
    return len(tokens) > 1 and all(NUMBER.fullmatch(token) for token in tokens)


def _text_row(line: str, columns: list[str], kind: str | None, number: int) -> PerftestRow:
    tokens = line.split()
    if len(tokens) < len(columns):
        raise FormatError(
            f"line {number} has {len(tokens)} of the table's {len(columns)} columns: it is cut off"
        )
    values = dict(zip(columns, map(float, tokens), strict=False))
    fields = Fields(
        {COLUMN_KEYS[name]: value for name, value in values.items() if name in COLUMN_KEYS}, f"line {number}"
    )
    measured = "lat" if any(name.startswith("t_") for name in columns) else "bw"
    return _row(f"ib_{kind}_{measured}" if kind else f"perftest {measured}", fields)


def parse_json(document: Fields) -> tuple[PerftestRow, ...]:
    """Several tests in one object: {"results": {name: {"test_type", "results": [row ...]}}}."""
    rows = tuple(_json_rows(document.section("results")))
    if not rows:
        raise FormatError("it has no result of perftest in it")
    return rows


def _json_rows(tests: Fields) -> Iterator[PerftestRow]:
    for name in tests.values:
        test = tests.section(name)
        kind = test.text("test_type")
        if not TEST.fullmatch(kind):
            raise FormatError(
                f"{test.place('test_type')} is {shown(kind)}, but should be the name of a perftest test"
            )
        for row in test.sections("results"):
            yield _row(kind, row)


def _row(test: str, row: Fields) -> PerftestRow:
    size_bytes = row.integer("bytes")
    mean_us = row.number("latency_avg_usec" if row.has("latency_avg_usec") else "latency_typical_usec", 0)
    return PerftestRow(
        test=test,
        message_size_bytes=size_bytes,
        iterations=row.integer("iterations"),
        bytes_per_second=None if mean_us else _bytes_per_second(row, size_bytes),
        mean_ns=mean_us * 1000 if mean_us else None,
        min_ns=_nanoseconds(row, "latency_min_usec"),
        max_ns=_nanoseconds(row, "latency_max_usec"),
        standard_deviation_ns=_nanoseconds(row, "latency_stdev_usec"),
        percentiles_ns={name: row.number(key) * 1000 for name, key in PERCENTILES.items() if row.has(key)},
    )


def _nanoseconds(row: Fields, key: str) -> float | None:
    return row.number(key) * 1000 if row.has(key) else None


def _bytes_per_second(row: Fields, size_bytes: int) -> float:
    """From the average bandwidth or the message rate, whichever was printed with more digits that count."""
    megabytes, messages = row.number("bw_average_MBs", 0), row.number("msg_rate_Mpps", 0)
    candidates = [
        (megabytes, megabytes * 2**20, 0.01),
        (row.number("bw_average_Gbs", 0), row.number("bw_average_Gbs", 0) * 1e9 / 8, 0.01),
        (messages, messages * 1e6 * size_bytes, 0.000001),
    ]
    known = [(step / printed, rate) for printed, rate, step in candidates if printed > 0]
    if not known:
        raise FormatError(f"{row.path or 'a row'} states neither bandwidth nor latency")
    return amount(min(known)[1], row.place("bandwidth"))
