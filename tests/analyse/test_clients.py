"""Several clients in one cell: each one's own figures, first done and last done, the window they shared."""

from __future__ import annotations

from typing import Any

import pytest

from leadline.analyse.analysis import analyse
from leadline.analyse.results import CellResult
from leadline.store.records import StepRecord
from leadline.store.series import Series

from .client_samples import BLOCK, IOPS, client, together
from .samples import CLEAN, ENVIRONMENT, SECOND_NS, histogram, manifest, measurement, record

RATE = IOPS * BLOCK
"""Bytes per second of one client."""


def sound(*records: StepRecord) -> CellResult:
    (cell,) = analyse(records, manifest(), ENVIRONMENT).cells
    return cell


def staggered(**known: Any) -> StepRecord:
    """The second client begins when half of the first one's time is over; both take 10 s."""
    parts = client("client1"), client("client2")
    return together(*parts, windows={"client1": (0, 10), "client2": (5, 15)}, **known)


def test_a_cell_of_one_client_has_none_to_tell_apart() -> None:
    cell = sound(record(measurement()))
    assert cell.clients == () and cell.together is None and cell.hosts == ()


def test_first_done_counts_what_all_had_moved_until_the_first_was_done() -> None:
    found = sound(staggered()).together
    assert found is not None
    assert found.first_done_bytes_per_second == pytest.approx(
        1.5 * RATE
    )  # 10 s of one and 5 s of the other, in 10 s
    assert found.last_done_bytes_per_second == pytest.approx(20 / 15 * RATE)


def test_inside_the_common_window_all_clients_run() -> None:
    found = sound(staggered()).together
    assert found is not None
    assert found.common_ns == 5 * SECOND_NS
    assert found.common_bytes_per_second == pytest.approx(2 * RATE)
    assert found.overlap_share == pytest.approx(5 / 15)


def test_a_clients_own_series_says_when_it_moved_its_bytes() -> None:
    """The second client moves everything in the first half of its time, while the first still runs."""
    uneven = Series(
        "read@client2", "bytes/s", [SECOND_NS * (n + 1) for n in range(10)], [2.0 * RATE] * 5 + [0.0] * 5
    )
    found = sound(staggered(series=(uneven,))).together
    assert found is not None
    assert found.first_done_bytes_per_second == pytest.approx(2 * RATE)
    assert found.common_bytes_per_second == pytest.approx(3 * RATE)
    assert found.last_done_bytes_per_second == pytest.approx(20 / 15 * RATE)


def test_the_origin_of_a_clients_series_does_not_matter() -> None:
    uneven = [2.0 * RATE] * 5 + [0.0] * 5
    found = [
        sound(staggered(series=(Series("read@client2", "bytes/s", times, uneven),))).together
        for times in ([SECOND_NS * (n + 1) for n in range(10)], [SECOND_NS * (n + 400) for n in range(10)])
    ]
    assert found[0] == found[1]


def test_the_start_of_the_engine_and_its_ramp_are_not_load() -> None:
    """Both processes run 13 s for 10 s of load, which is the last part of it."""
    parts = client("client1"), client("client2")
    cell = sound(together(*parts, windows={"client1": (0, 13), "client2": (0, 13)}))
    assert cell.together is not None
    assert cell.together.overlap_share == 1
    assert cell.together.first_done_bytes_per_second == pytest.approx(2 * RATE)


def test_clients_without_recorded_times_are_taken_to_have_begun_together() -> None:
    parts = client("north", seconds=8), client("south", seconds=10)
    cell = sound(record(*parts, cell=CLEAN))
    assert cell.together is not None
    assert cell.together.overlap_share == pytest.approx(0.8)


def test_repeats_are_put_together_from_totals_and_the_worst_overlap_is_kept() -> None:
    even = together(client("client1"), client("client2"), ordinal=1, repeat=1)
    found = sound(staggered(), even).together
    assert found is not None
    assert found.overlap_share == pytest.approx(5 / 15)
    assert found.last_done_bytes_per_second == pytest.approx(40 / 25 * RATE)


def test_each_client_has_its_own_figures_and_n() -> None:
    slow, fast = histogram(8e6, 20_000), histogram(2e6, 40_000)
    cell = sound(together(client("client1", shape=slow), client("client2", iops=2 * IOPS, shape=fast)))
    first, second = cell.clients
    assert (first.name, second.name) == ("client1", "client2")
    assert second.metrics["bandwidth"].value == pytest.approx(2 * RATE)
    assert (first.metrics["p99"].n, second.metrics["p99"].n) == (20_000, 40_000)
    assert first.metrics["p99"].value > 8e6 > second.metrics["p99"].value
    assert sum(client.size_bytes for client in cell.clients) == cell.size_bytes


def test_a_clients_interval_comes_from_its_own_repeats() -> None:
    steps = [
        together(client("client1"), client("client2", iops=iops), ordinal=n, repeat=n)
        for n, iops in enumerate((900, 1_000, 1_100))
    ]
    first, second = sound(*steps).clients
    assert first.metrics["bandwidth"].low == pytest.approx(RATE)
    assert second.metrics["bandwidth"].low is not None and second.metrics["bandwidth"].low < 0.9 * RATE
    assert second.metrics["bandwidth"].n == 3


def test_clients_stand_in_the_order_of_their_numbers() -> None:
    cell = sound(together(*(client(f"client{n}") for n in (10, 2, 1))))
    assert [client.name for client in cell.clients] == ["client1", "client2", "client10"]


def test_the_largest_release_skew_of_the_repeats_is_told() -> None:
    steps = [
        together(client("client1"), client("client2"), ordinal=n, repeat=n, facts={"release_skew_ns": skew})
        for n, skew in enumerate((150_000, 900_000))
    ]
    found = sound(*steps).together
    assert found is not None and found.release_skew_ns == 900_000


def test_concurrency_counts_the_clients() -> None:
    cell = sound(together(client("client1"), client("client2"), client("client3")))
    assert cell.concurrency == 24
    assert cell.effective_concurrency == pytest.approx(24)


def test_a_missing_client_does_not_lower_what_was_offered() -> None:
    cell = sound(together(client("client1"), client("client2"), cell={"clients": 3}))
    assert cell.concurrency == 24
    assert cell.effective_concurrency == pytest.approx(16)


def test_more_clients_are_a_curve_with_its_growth_in_words() -> None:
    steps = [
        together(*(client(f"client{n + 1}") for n in range(clients)), ordinal=clients)
        for clients in (1, 2, 4)
    ]
    results = analyse(steps, manifest(), ENVIRONMENT)
    (curve,) = results.curves
    assert (curve.axis, curve.loads) == ("clients", (1, 2, 4))
    assert any(
        "from 1 to 4 clients throughput grows × 4.00, 100 % of perfect growth" in answer.sentence
        for answer in results.answers
    )
