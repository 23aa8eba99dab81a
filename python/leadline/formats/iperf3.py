"""iperf3's JSON (-J) of its client -> NetworkFigures. Bytes are those that the receiver took."""

from __future__ import annotations

import json

from leadline.formats.fields import Fields, FormatError, object_at
from leadline.formats.network_figures import Flow, NetworkFigures


def parse(text: str, message_size_bytes: int) -> NetworkFigures:
    """Raises FormatError with iperf3's own complaint where it has one."""
    try:
        document = object_at(json.loads(text), "")
    except (ValueError, RecursionError):
        raise FormatError("iperf3 printed no JSON: it was ended before its result") from None
    if document.has("error"):
        raise FormatError(f"iperf3: {document.text('error')}")
    end = document.section("end")
    sent = _flow(end.section("sum_received"), message_size_bytes)
    if sent is None:
        raise FormatError("end.sum_received is missing: iperf3 measured no stream of TCP")
    back = end.section("sum_received_bidir_reverse")
    senders = [end.section("sum_sent"), end.section("sum_sent_bidir_reverse")]
    again = [sender.integer("retransmits") for sender in senders if sender.has("retransmits")]
    return NetworkFigures(
        sent=sent,
        received=_flow(back, message_size_bytes),
        retransmitted_segments=sum(again) if again else None,
    )


def _flow(total: Fields, message_size_bytes: int) -> Flow | None:
    if not total.has("bytes"):
        return None
    size_bytes, seconds = total.integer("bytes"), total.number("seconds")
    if seconds <= 0 or seconds > 366 * 86_400:
        raise FormatError(f"{total.place('seconds')} is {seconds}, but should be a length of time")
    return Flow(size_bytes, max(1, round(seconds * 1e9)), size_bytes // message_size_bytes)
