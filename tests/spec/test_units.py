"""Sizes, durations, rates and fractions: what people write means one number of bytes or seconds, or is refused."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import UserError
from leadline.spec.units import (
    format_duration,
    format_size,
    parse_bandwidth,
    parse_duration,
    parse_fraction,
    parse_size,
)

POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}


@given(st.integers(min_value=1, max_value=2**53))
def test_a_size_that_is_printed_is_read_back_as_the_same_bytes(size_bytes: int) -> None:
    assert parse_size(format_size(size_bytes)) == size_bytes


@given(
    st.integers(1, 10**6), st.sampled_from(sorted(POWERS)), st.sampled_from(["", "i", "iB"]), st.booleans()
)
def test_bare_letters_and_iec_suffixes_are_binary(number: int, letter: str, suffix: str, upper: bool) -> None:
    written = f"{number}{letter.upper() if upper else letter}{suffix if letter else ''}"
    assert parse_size(written) == number * 1024 ** POWERS[letter]


@given(st.integers(1, 10**6), st.sampled_from("kmgtp"))
def test_si_suffixes_with_a_capital_b_are_decimal(number: int, letter: str) -> None:
    assert parse_size(f"{number}{letter.upper()}B") == number * 1000 ** POWERS[letter]


@given(st.integers(1, 2**62))
def test_whole_numbers_of_any_size_are_bytes_exactly(size_bytes: int) -> None:
    assert parse_size(size_bytes) == parse_size(str(size_bytes)) == size_bytes


@pytest.mark.parametrize(
    ("written", "size_bytes"),
    [("4k", 4096), ("4K", 4096), ("64KiB", 65536), ("1.5GiB", 1610612736), ("450MB", 450_000_000), (" 8 m ", 8 << 20),
     ("512", 512), ("512B", 512), ("1t", 1 << 40)],
)  # fmt: skip
def test_sizes_mean_what_the_field_means_by_them(written: str, size_bytes: int) -> None:
    assert parse_size(written) == size_bytes


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("30s", 30), ("500ms", 0.5), ("5m", 300), ("5min", 300), ("1h", 3600), ("2d", 172800), ("250us", 250e-6), (7, 7), (0.5, 0.5),
     ("0.2", 0.2), (0.00001, 1e-5)],
)  # fmt: skip
def test_durations_come_out_in_seconds(written: str | float, seconds: float) -> None:
    assert parse_duration(written) == pytest.approx(seconds, rel=1e-12)


@given(st.floats(min_value=0, max_value=1e9))
def test_a_plain_number_is_seconds(seconds: float) -> None:
    assert parse_duration(seconds) == seconds


@pytest.mark.parametrize(
    ("written", "bytes_per_second"),
    [("450MB/s", 450e6), ("1.2GiB/s", 1.2 * 2**30), ("25Gb/s", 25e9 / 8), ("100 Gbit/s", 12.5e9), ("400MBps", 400e6), (5e8, 5e8),
     ("10GB/s", 1e10)],
)  # fmt: skip
def test_bandwidths_tell_bits_from_bytes(written: str | float, bytes_per_second: float) -> None:
    assert parse_bandwidth(written) == pytest.approx(bytes_per_second)


@given(st.integers(1, 1000), st.sampled_from("kmgt"))
def test_bits_are_an_eighth_of_bytes(number: int, letter: str) -> None:
    bits, whole = f"{number}{letter.upper()}b/s", f"{number}{letter.upper()}B/s"
    assert parse_bandwidth(bits) * 8 == pytest.approx(parse_bandwidth(whole))


@given(st.fractions(min_value=Fraction(1, 4096), max_value=64))
def test_a_scale_is_read_back_exactly(scale: Fraction) -> None:
    assert parse_fraction(str(scale)) == scale


def test_a_scale_may_be_written_as_a_decimal() -> None:
    assert parse_fraction("0.5") == parse_fraction(" 1 / 2 ") == Fraction(1, 2)


NONSENSE: list[tuple[Callable[[Any], object], list[Any]]] = [
    (parse_size, ["", "k", "4 q", "4kb", "-4k", "0", 0, -1, "0.3", "1e3", "4k 4k", None, True, 1.5, [4]]),
    (parse_duration, ["", "s", "5 fortnights", "-3s", -1, "1:30", None, True, float("nan"), float("inf"), "5s5s"]),
    (parse_bandwidth, ["", "450", "450MB", "0MB/s", 0, -5, float("inf"), float("nan"), "fast", "10 apples/s", None, True]),
    (parse_fraction, ["", "0", "-1/2", "1/0", "half", "nan", "inf", "1/16x"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("parse", "written"),
    [
        pytest.param(parse, each, id=f"{parse.__name__}-{each!r}")
        for parse, several in NONSENSE
        for each in several
    ],
)
def test_nonsense_is_refused_in_one_sentence_that_repeats_it(
    parse: Callable[[Any], object], written: Any
) -> None:
    with pytest.raises(UserError) as refusal:
        parse(written)
    assert str(written) in str(refusal.value)
    assert ";" in str(refusal.value) or ":" in str(refusal.value), "it says what to write instead"


@given(st.text(max_size=12))
def test_no_text_makes_a_parser_fail_otherwise_than_by_a_sentence(text: str) -> None:
    for parse in (parse_size, parse_duration, parse_bandwidth, parse_fraction):
        try:
            assert parse(text) >= 0
        except UserError:
            continue


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(4, "4.0 s"), (0.04, "0.0 s"), (200, "3 min 20 s"), (7500, "2 h 5 min"), (3600, "1 h 0 min")],
)
def test_durations_are_said_in_the_words_of_people(seconds: float, words: str) -> None:
    assert format_duration(seconds) == words
