"""qperf's output with -uu (bytes, ns) and -vvs (counts): one test, one message size -> NetworkFigures.

tcp_lat:
    latency         =  4063.42 ns
    loc_recv_msgs   =   123049
"""

from __future__ import annotations

import re

from leadline.formats.fields import FormatError, amount, shown
from leadline.formats.network_figures import Flow, NetworkFigures

LINE = re.compile(r"^[ \t]+(\w{1,40})[ \t]*=[ \t]*([\d.,eE+-]{1,40})[ \t]*([\w/]{0,20})[ \t]*$", re.MULTILINE)
UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "sec": 1e9, "bytes/sec": 1.0, "bytes": 1.0, "/sec": 1.0, "": 1.0}


def parse(text: str, message_size_bytes: int) -> NetworkFigures:
    """Raises FormatError where neither a latency nor a bandwidth is stated."""
    stated = {found[1]: _value(found) for found in LINE.finditer(text)}
    if "latency" in stated:
        return _latency(stated)
    if "bw" in stated and "recv_bytes" in stated:
        return _stream(stated, message_size_bytes)
    raise FormatError(f"qperf stated neither latency nor bandwidth but {shown(text.strip())}")


def _value(found: re.Match[str]) -> float:
    name, number, unit = found.groups()
    if unit not in UNITS:
        raise FormatError(f"qperf states {name} in {shown(unit)}, which is none of its units with -uu")
    try:
        return amount(float(number.replace(",", "")), name) * UNITS[unit]
    except ValueError:
        raise FormatError(f"qperf states {shown(number)} for {name}, which is no number") from None


def _latency(stated: dict[str, float]) -> NetworkFigures:
    """qperf's latency is half a round trip."""
    mean_ns, trips = stated["latency"], int(stated.get("loc_recv_msgs", 0))
    if mean_ns <= 0 or trips < 1:
        raise FormatError("qperf states a latency without messages that came back")
    flow = Flow(0, max(1, round(2 * trips * mean_ns)), 2 * trips)
    return NetworkFigures(sent=flow, round_trips=trips, mean_ns=mean_ns)


def _stream(stated: dict[str, float], message_size_bytes: int) -> NetworkFigures:
    """What was received over the bandwidth that follows from it is the time."""
    received, rate = int(stated["recv_bytes"]), stated["bw"]
    if rate <= 0 or received <= 0:
        raise FormatError("qperf states a bandwidth of nothing")
    runtime_ns = max(1, round(received / rate * 1e9))
    return NetworkFigures(sent=Flow(received, runtime_ns, received // message_size_bytes))
