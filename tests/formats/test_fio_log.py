"""Bandwidth logs of several jobs on one grid."""

from itertools import pairwise

import pytest
from fio_samples import bandwidth_logs, sample
from hypothesis import assume, given
from hypothesis import strategies as st

from leadline.errors import UserError
from leadline.formats import fio_json, fio_log
from leadline.store.series import Series


def moved_bytes(series: Series, begin_ns: int) -> float:
    times_ns = [begin_ns, *series.times_ns]
    spans = [later - earlier for earlier, later in pairwise(times_ns)]
    return sum(value * span / 1e9 for value, span in zip(series.values, spans, strict=True))


def test_logs_of_two_jobs_add_up_to_what_fio_reports() -> None:
    jobs = fio_json.parse(sample("with_bandwidth_log")).jobs
    for series in fio_log.parse(bandwidth_logs()):
        parts = [part for job in jobs for part in job.measurements if part.direction == series.name]
        rate = sum(part.size_bytes for part in parts) / (parts[0].runtime_ns / 1e9)
        assert series.unit == "B/s"
        assert sum(series.values) / len(series.values) == pytest.approx(rate, rel=0.1)


def test_jobs_that_do_not_tick_together_are_summed_over_time_not_line_by_line() -> None:
    first = "100, 1000, 0, 4096, 0\n200, 1000, 0, 4096, 0\n300, 1000, 0, 4096, 0\n"
    second = "150, 1000, 0, 4096, 0\n250, 1000, 0, 4096, 0\n350, 1000, 0, 4096, 0\n"
    (series,) = fio_log.parse([first, second])
    assert series.times_ns == sorted(series.times_ns)
    assert max(series.values) == pytest.approx(2 * 1000 * 1024)
    assert moved_bytes(series, 0) == pytest.approx(2 * 0.3 * 1000 * 1024)


def test_a_log_that_begins_after_a_ramp_does_not_smear_its_first_line_over_it() -> None:
    (series,) = fio_log.parse(["5100, 1000, 1, 0, 0\n5200, 1000, 1, 0, 0\n"])
    assert (series.name, series.times_ns[0]) == ("write", 5_100_000_000)
    assert series.values == pytest.approx([1024000, 1024000])


def test_priority_columns_and_syncs_are_passed_over() -> None:
    (series,) = fio_log.parse(["1000, 10, 0, 4096, 0, 0x0004, 77\n1000, 10, 3, 0, 0, 0\n"])
    assert (series.name, series.values) == ("read", [10240])


def test_a_last_line_torn_by_a_kill_is_dropped() -> None:
    (series,) = fio_log.parse(["1000, 10, 0, 4096, 0\n2000, 10, 0, 4096, 0\n30"])
    assert series.times_ns == [1_000_000_000, 2_000_000_000]


def test_empty_logs_give_no_series() -> None:
    assert fio_log.parse(["", "\n"]) == ()


@pytest.mark.parametrize(
    "line", ["1000 10 0", "a, b, c, d", "-5, 10, 0, 0", "10, 1e400, 0, 0", "10, nan, 0, 0"]
)
def test_a_line_that_is_not_fios_is_named(line: str) -> None:
    with pytest.raises(UserError, match="line 2 of the bandwidth log"):
        fio_log.parse([f"1000, 10, 0, 4096, 0\n{line}\n"])


JOBS = st.lists(
    st.dictionaries(st.integers(1, 10**7), st.integers(0, 10**7), min_size=2, max_size=20),
    min_size=1,
    max_size=4,
)


@given(JOBS)
def test_no_byte_is_lost_or_counted_twice(jobs: list[dict[int, int]]) -> None:
    texts, expected = [], 0.0
    for rates in jobs:
        times_ms = [0, *sorted(rates)]  # an idle first line, so that nothing is moved before what is known
        texts.append("".join(f"{time_ms}, {rates.get(time_ms, 0)}, 0, 4096, 0\n" for time_ms in times_ms))
        expected += sum(rates[later] * 1.024 * (later - earlier) for earlier, later in pairwise(times_ms))
    (series,) = fio_log.parse(texts)
    assume(len(series.times_ns) > 2)
    begin_ns = 2 * series.times_ns[0] - series.times_ns[1]
    assert series.times_ns[-1] == max(max(rates) for rates in jobs) * 1_000_000
    assert moved_bytes(series, begin_ns) == pytest.approx(expected, rel=1e-6, abs=1)
