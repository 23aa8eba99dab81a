"""fi_pingpong's table -> NetworkFigures.

    bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec
    4k      2k      =2k      15m         0.51s     32.39     126.45       0.01

A transfer is one way: half a round trip. Counts are rounded for people, so they are taken from the command's own -I.
"""

from __future__ import annotations

import re

from leadline.formats.fields import FormatError, shown
from leadline.formats.network_figures import Flow, NetworkFigures

ROW = re.compile(r"^\s*\S+\s+\S+\s+=?\S+\s+\S+\s+[\d.]+s\s+[\d.]+\s+(\d{1,12}(?:\.\d{1,6})?)\s+[\d.]+\s*$")


def parse(text: str, round_trips: int) -> NetworkFigures:
    """The last row; raises FormatError where there is none."""
    rows = [found for line in text.splitlines() if (found := ROW.match(line[:400]))]
    mean_ns = float(rows[-1][1]) * 1000 if rows else 0.0
    if mean_ns <= 0:
        raise FormatError(f"fi_pingpong printed no row with a time a transfer but {shown(text.strip())}")
    transfers = 2 * round_trips
    flow = Flow(0, max(1, round(transfers * mean_ns)), transfers)
    return NetworkFigures(sent=flow, round_trips=round_trips, mean_ns=mean_ns)
