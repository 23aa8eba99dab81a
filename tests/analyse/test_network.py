"""Regions of latency, the size that fills a network, and the bandwidth-delay product: laws that the figures must obey."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.analyse.all_reduce import all_reduces
from leadline.analyse.analysis import analyse
from leadline.analyse.conformance_words import RIGHT
from leadline.analyse.network import (
    BOUND,
    FLAT,
    TRANSITION,
    crossing,
    find_filling,
    profiles,
    regions,
    sent_again,
)
from leadline.analyse.network_words import SHOULD, WHERE
from leadline.analyse.recommendations import QUESTION as BEST
from leadline.analyse.results import Estimate, Results
from leadline.analyse.standing_words import IS
from leadline.store.all_reduce import all_reduce_record, bus_bandwidth
from leadline.store.histogram import Histogram
from leadline.store.manifest import Manifest
from leadline.store.records import Cell, Direction, Latency, Measurement, Status, StepKind, StepRecord

SIZES = [2 << power for power in range(0, 23, 2)]
SECOND_NS = 1_000_000_000
MANIFEST = Manifest("network", "campaign", "/", "2026-11-21T00:00:00+00:00", "0.1.0")


def estimate(value: float, share: float | None = 0.02) -> Estimate:
    ends = (None, None) if share is None else (value * (1 - share), value * (1 + share))
    return Estimate(value, *ends, 3, "t interval over 3 repeats")


@given(st.floats(1e3, 1e7), st.floats(1e6, 1e11))
def test_a_floor_and_a_bandwidth_give_flat_then_transition_then_bound(floor_ns: float, rate: float) -> None:
    points = [(size, floor_ns + size / rate * 1e9) for size in SIZES]
    found = regions(points)
    order = [FLAT, TRANSITION, BOUND]
    assert [order.index(name) for name in found] == sorted(order.index(name) for name in found)
    assert found[0] == FLAT
    for (_, latency), name in zip(points, found, strict=True):
        assert (name == FLAT) == (latency <= 1.25 * points[0][1])
        assert (name == BOUND) == (latency >= 5 * points[0][1])


def test_a_single_slow_size_in_the_midst_is_no_region_of_its_own() -> None:
    assert regions([(2, 10.0), (8, 90.0), (32, 11.0), (128, 80.0)]) == [FLAT, TRANSITION, TRANSITION, BOUND]


def test_where_nothing_grows_everything_is_flat_and_one_size_has_no_region() -> None:
    assert regions([(2, 10.0), (8, 10.0), (32, 10.1)]) == [FLAT] * 3
    assert regions([(2, 10.0)]) == [""]


@given(st.lists(st.floats(1, 1e10), min_size=3, max_size=12))
def test_the_size_that_fills_lies_between_the_last_below_and_the_first_at_90_percent(
    rates: list[float],
) -> None:
    sizes = SIZES[: len(rates)]
    found = find_filling([(size, estimate(rate)) for size, rate in zip(sizes, rates, strict=True)])
    assert found is not None
    reaching = next(size for size, rate in zip(sizes, rates, strict=True) if rate >= 0.9 * max(rates))
    before = max((size for size in sizes if size < reaching), default=reaching)
    assert before <= found.size_bytes * 1.000001 and found.size_bytes <= reaching * 1.000001
    assert found.low_bytes is not None and found.low_bytes <= found.size_bytes * 1.000001


def test_without_intervals_the_size_has_none_and_a_peak_at_the_end_may_lie_beyond() -> None:
    found = find_filling([(2, estimate(1, None)), (8, estimate(4, None)), (32, estimate(16, None))])
    assert found is not None and (found.low_bytes, found.high_bytes) == (None, None)
    assert found.censored


def test_what_is_never_reached_has_no_crossing() -> None:
    assert crossing([2, 8], [1.0, 2.0], 3.0) is None


def record(ordinal: int, cell: Cell, parts: list[Measurement], again: int = 0) -> StepRecord:
    return StepRecord(
        ordinal=ordinal, kind=StepKind.CELL, experiment="network", cell=cell, repeat=0, status=Status.FINISHED,
        engine="network", wall_ns=SECOND_NS, measurements=tuple(parts), facts={"retransmitted_segments": again},
    )  # fmt: skip


def stream(direction: Direction, rate: float, size: int) -> Measurement:
    return Measurement("a", 0, direction, int(rate) // size, int(rate), SECOND_NS, Latency(0, 0.0))


def sample(floor_ns: float = 1e6, rate: float = 125e6) -> Results:
    records = []
    for size in (64, 4096, 65_536, 1 << 20):
        latency_ns = round(floor_ns + size / rate * 1e9)
        trips = round(SECOND_NS / latency_ns / 2)
        measured = Latency(trips, latency_ns, histogram=Histogram.from_bins({latency_ns: trips}))
        base: Cell = {"tool": "leadline", "message_size": size, "ramp": 0.1, "runtime": 1.0}
        share = rate * size / (size + 500)
        records += [
            record(len(records), {**base, "test": "latency"}, [Measurement("a", 0, Direction.SEND, 2 * trips, 0, SECOND_NS, measured)]),
            record(len(records) + 1, {**base, "test": "one way"}, [stream(Direction.SEND, share, size)], again=7),
            record(
                len(records) + 2, {**base, "test": "both ways"},
                [stream(Direction.SEND, share, size), stream(Direction.RECEIVE, share / 2, size)], again=3,
            ),
        ]  # fmt: skip
    return analyse(records, MANIFEST, {})


def test_cells_of_one_tool_are_one_profile_with_every_way_in_its_place() -> None:
    (profile,) = profiles(sample().cells)
    assert [row.message_size_bytes for row in profile.rows] == [64, 4096, 65_536, 1 << 20]
    last = profile.rows[-1]
    assert last.one_way is not None and last.there is not None and last.back is not None
    assert last.back.metrics["bandwidth"].value * 2 == pytest.approx(
        last.there.metrics["bandwidth"].value, rel=0.01
    )
    assert [row.region for row in profile.rows] == [FLAT, FLAT, TRANSITION, BOUND]


def test_retransmits_of_a_step_are_counted_once_though_it_has_two_directions() -> None:
    (profile,) = profiles(sample().cells)
    assert [sent_again(row) for row in profile.rows] == [10.0] * 4


def test_the_bandwidth_delay_product_is_a_round_trip_times_the_peak() -> None:
    (profile,) = profiles(sample(floor_ns=1e6, rate=125e6).cells)
    assert profile.bandwidth_delay_bytes is not None
    assert abs(profile.bandwidth_delay_bytes / (2e-3 * 125e6) - 1) < 0.01


def test_the_network_answers_how_fast_it_should_be_and_has_no_best_settings() -> None:
    said = {answer.question: answer.sentence for answer in sample().answers}
    assert said[SHOULD] == (
        "Network, leadline: 1.00 ms at least, half a round trip of 64 B; 119 MiB/s at most, with messages of 1 MiB, "
        "nine tenths of it with 5.03 KiB."
    )
    assert said[WHERE] == "What binds the network's fastest streams: unknown, nothing was counted (leadline)."
    assert not {IS, BEST} & said.keys()


def test_a_latency_test_has_no_bandwidth_that_could_be_taken_for_one_of_the_network() -> None:
    latency = [cell for cell in sample().cells if cell.cell["test"] == "latency"]
    assert latency and all("bandwidth" not in cell.metrics and cell.rate is not None for cell in latency)


def test_the_bus_carries_twice_the_vector_but_one_share() -> None:
    assert bus_bandwidth(100.0, 2) == 100.0
    assert bus_bandwidth(100.0, 4) == 150.0


def test_an_all_reduce_with_a_wrong_element_is_a_failed_step_and_no_figure() -> None:
    def one(wrong: int | None, ordinal: int) -> StepRecord:
        return all_reduce_record(
            ordinal=ordinal, repeat=0, engine="mpi4py", ranks=4, size_bytes=1024 << ordinal, iterations=10, runtime_ns=10_000,
            latency=Latency(10, 1000.0), wrong=wrong, further={}, facts={},
        )  # fmt: skip

    results = analyse([one(0, 0), one(2, 1)], MANIFEST, {})
    (found,) = all_reduces(results.cells)
    assert [row.size_bytes for row in found.rows] == [1024]
    assert found.rows[0].bus_bytes_per_second == pytest.approx(1.5 * 10 * 1024 / 10_000 * 1e9)
    assert "2 elements of the result were wrong" in results.failed[0].reason

    def right(*found: int | None) -> str:
        answers = analyse([one(wrong, at) for at, wrong in enumerate(found)], MANIFEST, {}).answers
        return next(each.sentence for each in answers if each.question == RIGHT)

    assert right(0, 2) == "Data was verified in 1 cell; 1 verifying step failed."
    assert right(2) == "Data was verified in 0 cells; 1 verifying step failed."
    assert right(None).startswith("Not measured: this run did not verify its data")
