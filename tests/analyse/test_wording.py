"""Figures in words: three digits, always a unit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.analyse import wording


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (wording.bandwidth(3.214 * 2**30), "3.21 GiB/s"),
        (wording.bandwidth(512 * 2**10), "512 KiB/s"),
        (wording.bandwidth(1023.9 * 2**20), "1.00 GiB/s"),
        (wording.bandwidth(0), "0 B/s"),
        (wording.iops(842_345), "842k IOPS"),
        (wording.iops(1_234_567), "1.23M IOPS"),
        (wording.iops(99.51), "99.5 IOPS"),
        (wording.latency(812_345), "812 us"),
        (wording.latency(999_900), "1.00 ms"),
        (wording.latency(1.2e9), "1.20 s"),
        (wording.latency(412), "412 ns"),
        (wording.size(4096), "4 KiB"),
        (wording.size(3 << 29), "1.50 GiB"),
        (wording.percent(0.43), "43 %"),
        (wording.percent(0.021), "2.1 %"),
        (wording.percent(0), "0 %"),
        (wording.seconds(9.87e9), "9.87 s"),
        (wording.setting("numjobs", 1), "1 job"),
        (wording.setting("numjobs", 16), "16 jobs"),
        (wording.setting("direct", 0), "buffered"),
        (wording.setting("direct", True), "direct"),
        (wording.setting("ioengine", "io_uring"), "io_uring"),
        (wording.setting("filesize", 1 << 20), "file size 1 MiB"),
        (wording.setting("queue_pairs", 3), "queue pairs 3"),
        (wording.interval("mean", 1e6, None), "[1.00 ms, beyond the data]"),
        (wording.interval("iops", None, None), ""),
        (wording.listed(["a", "b", "c"]), "a, b and c"),
        (wording.listed(["a"]), "a"),
        (wording.listed([]), ""),
    ],
)
def test_figures_read_as_people_write_them(words: str, expected: str) -> None:
    assert words == expected


def test_settings_come_in_a_fixed_order() -> None:
    cell = {"ioengine": "libaio", "iodepth": 8, "block_size": 4096, "numjobs": 2, "rw": "read"}
    assert wording.settings(cell) == "4 KiB, iodepth 8, 2 jobs, libaio"


@given(st.floats(1e-3, 1e17))
def test_a_bandwidth_in_words_is_within_half_a_percent_of_itself(value: float) -> None:
    number, unit = wording.bandwidth(value).split()
    power = ["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s", "PiB/s"].index(unit)
    assert float(number.replace(",", "")) * 1024**power == pytest.approx(value, rel=0.0051)


@given(st.floats(1, 1e12))
def test_a_latency_in_words_is_within_half_a_percent_of_itself(value: float) -> None:
    number, unit = wording.latency(value).split()
    factor = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]
    assert float(number.replace(",", "")) * factor == pytest.approx(value, rel=0.0051)
