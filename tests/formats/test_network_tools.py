"""What tools that measure a network print: real output read to the digit, and whatever else refused in one sentence."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.formats import fi_pingpong, iperf3, nccl_tests, qperf, ucx_perftest
from leadline.formats.fields import FormatError

QPERF_LATENCY = """tcp_lat:
    latency         =  4063.42 ns
    msg_rate        =   246098 /sec
    loc_send_bytes  =  7875200 bytes
    loc_recv_bytes  =  7875136 bytes
    loc_send_msgs   =   123050 
    loc_recv_msgs   =   123049 
    rem_recv_msgs   =   123049 
"""
QPERF_STREAM = """tcp_bw:
    bw          =  809893888 bytes/sec
    msg_rate    =      12358 /sec
    send_bytes  =  814809088 bytes
    send_msgs   =      12433 
    recv_bytes  =  809893888 bytes
    recv_msgs   =      12358 
"""
PING_PONG = """bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec
4k      2k      =2k      15m         0.51s     32.39     126.45       0.01
"""
UCX = """iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr
20000,0.930,21.599,21.599,180.85,180.85,46299,46299
"""
IPERF: dict[str, Any] = {
    "start": {},
    "end": {
        "sum_sent": {"seconds": 1.000381, "bytes": 632422400, "retransmits": 10, "sender": True},
        "sum_received": {"seconds": 1.01026, "bytes": 627965952},
        "sum_sent_bidir_reverse": {"seconds": 1.000381, "bytes": 652083200, "retransmits": 11},
        "sum_received_bidir_reverse": {"seconds": 1.01026, "bytes": 650903552},
    },
}
NCCL = """# nThread 1 nGpus 2 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid   2748 on host device  0 [0x01] NVIDIA GeForce RTX 4070 Ti SUPER
#  Rank  1 Group  0 Pid   2748 on host device  1 [0x03] NVIDIA GeForce RTX 4070 Ti SUPER
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1     6.21    0.00    0.00      0     6.23    0.00    0.00      0
       32768          8192     float     sum      -1    14.23    2.30    2.30      3    13.90    2.36    2.36    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 1.16
"""


def test_latency_by_qperf_is_half_a_round_trip_and_moves_nothing_worth_a_rate() -> None:
    read = qperf.parse(QPERF_LATENCY, 64)
    assert (read.mean_ns, read.round_trips) == (4063.42, 123_049)
    assert read.sent is not None and read.sent.size_bytes == 0
    assert read.sent.runtime_ns == pytest.approx(1e9, rel=0.01)  # it ran for a second


def test_a_stream_by_qperf_is_what_was_received() -> None:
    sent = qperf.parse(QPERF_STREAM, 65_536).sent
    assert sent is not None
    assert (sent.size_bytes, sent.operations, sent.runtime_ns) == (809_893_888, 12_358, 10**9)


def test_both_ways_by_iperf3_are_two_flows_with_the_retransmits_of_both_senders() -> None:
    read = iperf3.parse(json.dumps(IPERF), 65_536)
    assert read.sent is not None and read.received is not None
    assert (read.sent.size_bytes, read.received.size_bytes) == (627_965_952, 650_903_552)
    assert read.sent.runtime_ns == 1_010_260_000
    assert read.retransmitted_segments == 21


def test_iperf3_says_itself_why_it_failed() -> None:
    with pytest.raises(FormatError, match="unable to connect to server: Connection refused"):
        iperf3.parse(json.dumps({"error": "unable to connect to server: Connection refused"}), 1)


def test_a_transfer_of_fi_pingpong_is_one_way() -> None:
    read = fi_pingpong.parse(PING_PONG, 2000)
    assert (read.mean_ns, read.round_trips) == (126_450.0, 2000)
    assert read.sent is not None and read.sent.runtime_ns == pytest.approx(0.51e9, rel=0.02)


def test_the_last_line_of_ucx_perftest_is_over_everything() -> None:
    latency, stream = (ucx_perftest.parse(UCX, 4096, latency) for latency in (True, False))
    assert latency.mean_ns == pytest.approx(21_599)
    assert latency.percentiles_ns == {"0.5": pytest.approx(930)}
    assert stream.sent is not None
    rate = stream.sent.size_bytes / stream.sent.runtime_ns * 1e9
    assert rate == pytest.approx(46_299 * 4096, rel=0.001)  # as its own column of messages says


def test_all_reduce_perf_is_read_in_both_places_with_its_ranks_and_wrong_elements() -> None:
    rows = nccl_tests.parse(NCCL)
    assert [(row.size_bytes, row.place, row.wrong) for row in rows] == [
        (8, "out of place", 0), (8, "in place", 0), (32_768, "out of place", 3), (32_768, "in place", None),
    ]  # fmt: skip
    assert {(row.ranks, row.iterations) for row in rows} == {(2, 20)}
    assert rows[2].mean_ns == pytest.approx(14_230)


def test_an_older_table_without_a_root_has_its_time_in_the_right_column() -> None:
    older = NCCL.replace("    root  ", "  ").replace("      -1  ", "  ").replace("#wrong", " error")
    assert nccl_tests.parse(older)[2].mean_ns == pytest.approx(14_230)
    assert nccl_tests.parse(older)[2].wrong is None


def test_a_table_without_ranks_or_rows_is_refused() -> None:
    with pytest.raises(FormatError, match="names no rank"):
        nccl_tests.parse(NCCL.replace("#  Rank", "#  Thing"))
    with pytest.raises(FormatError, match="cut off"):
        nccl_tests.parse(NCCL[: NCCL.index("6.23")])


@pytest.mark.parametrize(
    "collective, ranks, bus",
    [
        ("all_gather_perf", 2, "1.15"),
        ("broadcast_perf", 4, "2.30"),
        ("all_reduce_perf with its first lines cut off", 2, "4.03"),
    ],
)
def test_a_table_of_another_collective_or_without_all_its_ranks_is_refused_by_its_own_quotient(
    collective: str, ranks: int, bus: str
) -> None:
    named = "".join(f"#  Rank  {rank} Group  0 Pid  2748 on host device\n" for rank in range(ranks))
    table = NCCL.replace("2.30    2.30", f"2.30    {bus}")
    with pytest.raises(FormatError, match="another collective, or lines of ranks are missing"):
        nccl_tests.parse(named + table)


@pytest.mark.parametrize("ranks", [2, 3, 8, 1024])
@pytest.mark.parametrize("algorithm", [1.0, 1.004, 7.77, 412.3])
def test_the_quotient_of_an_all_reduce_is_taken_through_all_rounding(ranks: int, algorithm: float) -> None:
    named = "".join(f"#  Rank  {rank} Group  0 Pid  2748 on host device\n" for rank in range(ranks))
    bus = 2 * (ranks - 1) / ranks * algorithm
    table = NCCL.replace("2.30    2.30", f"{algorithm:.2f}    {bus:.2f}").replace(
        "2.36    2.36", "0.99    0.01"
    )
    assert {row.ranks for row in nccl_tests.parse(named + table)} == {ranks}


PARSERS: list[tuple[str, Callable[[str], object]]] = [
    (QPERF_LATENCY, lambda text: qperf.parse(text, 64)),
    (QPERF_STREAM, lambda text: qperf.parse(text, 64)),
    (PING_PONG, lambda text: fi_pingpong.parse(text, 10)),
    (UCX, lambda text: ucx_perftest.parse(text, 64, True)),
    (json.dumps(IPERF), lambda text: iperf3.parse(text, 64)),
    (NCCL, nccl_tests.parse),
]


@settings(max_examples=400, deadline=60_000)
@given(
    st.sampled_from(PARSERS),
    st.text('0123456789. =,eE-#N/\n\t{}[]":abcs\x00', max_size=40),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_anything_in_their_output_is_read_or_refused(
    case: tuple[str, Callable[[str], object]], noise: str, begin: float, end: float
) -> None:
    text, parse = case
    with contextlib.suppress(FormatError):
        parse(text[: int(begin * len(text))] + noise + text[int(end * len(text)) :])
