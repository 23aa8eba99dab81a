"""ucx_perftest's CSV (-v): the last line, which is over the whole test -> NetworkFigures.

    iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr
    20000,0.930,21.599,21.599,180.85,180.85,46299,46299

Latencies are microseconds, of half a round trip in the tests called _lat; of a stream, the time a message. Its "MB/s" are 2^20
bytes (46,299 messages of 4096 bytes a second are its 180.85), so nothing is taken from them.
"""

from __future__ import annotations

from leadline.formats.fields import FormatError, amount, shown
from leadline.formats.network_figures import Flow, NetworkFigures

MARK = "overall_lat"


def parse(text: str, message_size_bytes: int, latency: bool) -> NetworkFigures:
    """Raises FormatError where the table has no whole last line."""
    lines = [line.strip().split(",") for line in text.splitlines()]
    heads = [place for place, words in enumerate(lines) if MARK in words]
    if not heads:
        raise FormatError(f"ucx_perftest printed no table but {shown(text.strip())}")
    head = lines[heads[-1]]
    rows = [words for words in lines[heads[-1] + 1 :] if len(words) == len(head)]
    if not rows:
        raise FormatError("ucx_perftest's table has no whole line: it ended before its result")
    return _figures(dict(zip(head, rows[-1], strict=True)), message_size_bytes, latency)


def _figures(row: dict[str, str], message_size_bytes: int, latency: bool) -> NetworkFigures:
    iterations, mean_ns = int(_number(row, "iterations")), _number(row, MARK) * 1000
    if iterations < 1 or mean_ns <= 0:
        raise FormatError("ucx_perftest states a time of nothing")
    messages = 2 * iterations if latency else iterations
    flow = Flow(0 if latency else messages * message_size_bytes, max(1, round(messages * mean_ns)), messages)
    if not latency:
        return NetworkFigures(sent=flow)
    ranked = {
        f"{amount(_rank(name), name) / 100:g}": _number(row, name) * 1000
        for name in row
        if name.endswith("_percentile_lat")
    }
    return NetworkFigures(sent=flow, round_trips=iterations, mean_ns=mean_ns, percentiles_ns=ranked)


def _rank(name: str) -> float:
    try:
        return float(name.removesuffix("_percentile_lat"))
    except ValueError:
        raise FormatError(f"ucx_perftest names a column {shown(name)}, which is no percentile") from None


def _number(row: dict[str, str], name: str) -> float:
    try:
        return amount(float(row[name]), name)
    except (KeyError, ValueError, OverflowError):
        raise FormatError(f"ucx_perftest states {shown(row.get(name))} for {name}") from None
