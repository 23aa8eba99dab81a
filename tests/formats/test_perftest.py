"""perftest's tables, in the layout that its format strings give them (figures made up)."""

import pytest

from leadline.errors import UserError
from leadline.formats.fields import Fields
from leadline.formats.perftest import parse_json, parse_text

RULE = "-" * 87
WRITE_BW = f"""{RULE}
                    RDMA_Write BW Test
 Dual-port       : OFF          Device         : mlx5_0
 TX depth        : 128
{RULE}
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
Conflicting CPU frequency values detected: 3902.477000 != 400.000000. CPU Frequency is not max.
 2          5000             8.50               8.25               4.325376
 65536      5000             11000.00           10000.00           0.160000
{RULE}
"""
READ_LAT = f"""{RULE}
                    RDMA_Read Latency Test
{RULE}
 #bytes #iterations  t_min[usec]  t_max[usec]  t_typical[usec]  t_avg[usec]  t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]
 2       1000          1.42           9.50         1.50                1.60           0.10            2.00                    8.00
{RULE}
"""


def test_bandwidth_tables_are_read_in_binary_megabytes() -> None:
    small, large = parse_text(WRITE_BW)
    assert (large.test, large.message_size_bytes, large.iterations) == ("ib_write_bw", 65536, 5000)
    assert large.bytes_per_second == 10000 * 2**20
    assert large.mean_ns is None
    assert small.bytes_per_second == pytest.approx(4.325376e6 * 2)  # the rate is printed with more digits


def test_gigabits_are_decimal() -> None:
    text = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n 65536 10 0.00 92.50 0.176430\n"
    (row,) = parse_text(text)
    assert (row.test, row.bytes_per_second) == ("perftest bw", pytest.approx(92.5e9 / 8, rel=1e-5))


def test_latency_tables_are_read_by_their_heads() -> None:
    (row,) = parse_text(READ_LAT)
    assert (row.test, row.iterations, row.bytes_per_second) == ("ib_read_lat", 1000, None)
    assert (row.min_ns, row.max_ns, row.mean_ns, row.standard_deviation_ns) == (1420, 9500, 1600, 100)
    assert row.percentiles_ns == {"0.5": 1500, "0.99": 2000, "0.999": 8000}


def test_several_tables_in_one_text_keep_their_names() -> None:
    assert [row.test for row in parse_text(WRITE_BW + READ_LAT)] == [
        "ib_write_bw",
        "ib_write_bw",
        "ib_read_lat",
    ]


def test_a_column_for_the_service_level_does_not_shift_the_others() -> None:
    text = " #bytes    #sl      #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n 64 3 10 9 8.00 0.1\n"
    (row,) = parse_text(text)
    assert (row.message_size_bytes, row.iterations) == (64, 10)


def test_json_rows_are_read_like_those_of_the_text() -> None:
    row = {"bytes": 65536, "iterations": 5000, "bw_average_MBs": 10000.0, "msg_rate_Mpps": 0.16}
    document = {"results": {"write_bw": {"test_type": "ib_write_bw", "results": [row]}}}
    assert parse_json(Fields(document)) == parse_text(WRITE_BW)[1:]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (WRITE_BW[: WRITE_BW.index(" 2   ")], "table without a row"),
        (WRITE_BW[: WRITE_BW.index("10000.00")], "it is cut off"),
        (
            " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n 2 5 0 0 0\n",
            "neither",
        ),
    ],
)
def test_a_table_that_is_not_whole_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        parse_text(text)
