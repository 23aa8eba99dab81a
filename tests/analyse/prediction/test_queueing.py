"""The solver of closed networks, against solutions got another way: convolution, simulation, single stations."""

from __future__ import annotations

import heapq
import random
from dataclasses import replace
from itertools import product
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.analyse.prediction import queueing
from leadline.analyse.prediction.queueing import EXACT, rounds_per_second, rounds_with
from leadline.analyse.prediction.stations import Correction, Network, Pinned, Resource, Stations, steady


def stations(
    count: int, service: float, channels: int = 1, visits: float = 1.0, variability: float = 1.0
) -> Stations:
    """Alike stations of `channels` servers each."""
    return Stations(
        Resource.DISK,
        count,
        visits,
        lambda waiting: np.minimum(waiting, channels) / service,
        channels / service,
        variability,
    )


def by_convolution(network: Network, customers: int) -> list[float]:
    """Buzen 1973: G(N) over all ways to place N customers, station after station, in plain floats."""
    parts = [
        [
            prod(kind.visits / kind.count / float(kind.rates(np.array([j]))[0]) for j in range(1, k + 1))
            for k in range(customers + 1)
        ]
        for kind in network.stations
        for _ in range(kind.count)
    ]
    parts.append([network.delay_seconds**k / factorial(k) for k in range(customers + 1)])
    total = [1.0] + [0.0] * customers
    for part in parts:
        total = [sum(total[i] * part[n - i] for i in range(n + 1)) for n in range(customers + 1)]
    return [total[n - 1] / total[n] for n in range(1, customers + 1)]


KINDS = st.builds(
    stations,
    count=st.integers(1, 4),
    service=st.floats(0.1, 3),
    channels=st.integers(1, 5),
    visits=st.floats(0.3, 3),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(KINDS, min_size=1, max_size=3), st.floats(0, 5), st.integers(1, 24))
def test_a_product_form_network_is_solved_exactly(
    kinds: list[Stations], delay: float, customers: int
) -> None:
    network = Network(tuple(kinds), delay)
    assert rounds_per_second(network, customers) == pytest.approx(
        by_convolution(network, customers), rel=1e-6
    )


@settings(max_examples=40, deadline=None)
@given(
    st.lists(KINDS, min_size=1, max_size=3),
    st.floats(0, 5),
    st.integers(1, 60),
    st.sampled_from([0.0, 0.3, 1.0]),
)
def test_no_bound_is_ever_exceeded(
    kinds: list[Stations], delay: float, customers: int, variability: float
) -> None:
    even = tuple(Stations(k.resource, k.count, k.visits, k.rates, k.peak_rate, variability) for k in kinds)
    network = Network(even, delay)
    rates = rounds_per_second(network, customers)
    alone = np.arange(1, customers + 1) / network.alone_seconds
    # Channels make a customer's own round no shorter, so N alone customers are the most that N give.
    assert all(rate <= bound * (1 + 1e-9) for rate, bound in zip(rates, alone, strict=True))
    assert max(rates) <= network.most_rounds * (1 + 1e-9)


@pytest.mark.parametrize("variability", [0.0, 1.0])
def test_one_disk_alone_does_what_was_measured_of_it(variability: float) -> None:
    measured = {1: 250.0, 2: 310.0, 4: 330.0, 8: 340.0}
    curve = lambda waiting: np.interp(waiting, list(measured), list(measured.values()))  # noqa: E731
    network = Network((Stations(Resource.DISK, 1, 1.0, curve, 340.0, variability),))
    rates = rounds_per_second(network, 8)
    assert [rates[load - 1] for load in measured] == pytest.approx(list(measured.values()), rel=1e-9)


def simulated(disks: int, service: float, wire: float, delay: float, channels: int, customers: int) -> float:
    """Rounds a second of even services: a random disk, then the one wire, then the delay; first come, first served."""
    chance, events, waiting, busy = random.Random(1), [], [0] * (disks + 1), [0] * (disks + 1)
    order = done = 0
    started = 0.0

    def arrive(station: int, now: float) -> None:
        nonlocal order
        if busy[station] >= (channels if station < disks else 1):
            waiting[station] += 1
            return
        busy[station] += 1
        order += 1
        heapq.heappush(events, (now + (service if station < disks else wire), order, station))

    for _ in range(customers):
        arrive(chance.randrange(disks), 0.0)
    while done < 20_000:
        now, _, station = heapq.heappop(events)
        if station < 0:
            arrive(chance.randrange(disks), now)
            continue
        busy[station] -= 1
        if waiting[station]:
            waiting[station] -= 1
            arrive(station, now)
        if station < disks:
            arrive(disks, now)
            continue
        done += 1
        started = now if done == 2_000 else started
        order += 1
        heapq.heappush(events, (now + delay, order, -1))
    return 18_000 / (now - started)


@pytest.mark.parametrize("customers", [2, 4, 8, 16, 64])
@pytest.mark.parametrize(
    ("disks", "wire", "delay", "channels"),
    [(5, 0.1, 0.0, 1), (3, 0.1, 0.3, 1), (18, 0.11, 0.2, 1), (5, 0.05, 0.3, 4)],
)
def test_even_services_are_met_within_five_percent_where_product_form_errs_by_up_to_seventeen(
    disks: int, wire: float, delay: float, channels: int, customers: int
) -> None:
    even, wires = stations(disks, 1.0, channels, variability=0.0), stations(1, wire, variability=0.0)
    found = rounds_with(Network((even, wires), delay), customers)
    actual = simulated(disks, 1.0, wire, delay, channels, customers)
    assert found == pytest.approx(actual, rel=0.05)
    by_product_form = rounds_with(
        Network((stations(disks, 1.0, channels), stations(1, wire)), delay), customers
    )
    assert abs(found / actual - 1) <= abs(by_product_form / actual - 1) + 0.015


def test_beyond_the_exact_ones_the_approximation_goes_on_where_they_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = Network(
        (stations(40, 1.0, 4, variability=0.1), Stations(Resource.CLIENT_NIC, 1, 1.0, steady(0.01), 100.0)),
        2.0,
    )
    exact = rounds_with(network, 600)
    monkeypatch.setattr(queueing, "EXACT", 500)
    assert rounds_with(network, 600) == pytest.approx(exact, rel=0.01)
    assert rounds_with(network, 10 * EXACT) == pytest.approx(100.0, rel=1e-3)


def test_a_slower_network_gives_in_proportion_and_a_delay_adds() -> None:
    network = Network((stations(5, 0.003),), 0.001)
    assert network.corrected(Correction(speed=0.5)).most_rounds == network.most_rounds / 2
    assert network.corrected(Correction(0.002)).alone_seconds == pytest.approx(network.alone_seconds + 0.002)


def behind_a_wide_client(rate: float, places: int, files: int) -> Network:
    """One disk a place, each file at one of them; the client's NIC is never in the way."""
    pinned = Pinned(files, places)
    disks = Stations(Resource.DISK, pinned.taken, 1.0, steady(1 / rate), rate, 0.0)
    wire = Stations(Resource.CLIENT_NIC, 1, 1.0, steady(1e-9), 1e9, 0.0)
    return Network((disks, wire), pinned=pinned)


@given(places=st.integers(2, 12), files=st.integers(1, 60), depth=st.integers(1, 8))
def test_files_that_lie_on_one_disk_each_keep_every_disk_busy_that_has_one(
    places: int, files: int, depth: int
) -> None:
    found = rounds_with(behind_a_wide_client(100.0, places, files), files * depth)
    assert found == pytest.approx(100.0 * Pinned(files, places).taken, rel=0.01)


@given(places=st.integers(2, 6), files=st.integers(1, 5))
def test_the_places_that_files_take_by_chance_are_those_of_all_ways_to_lay_them(
    places: int, files: int
) -> None:
    ways = [len(set(way)) for way in product(range(places), repeat=files)]
    assert Pinned(files, places).taken == pytest.approx(sum(ways) / len(ways))
    assert sum(Pinned(files, places).likely().values()) == pytest.approx(
        Pinned(files, places).taken / places, abs=1e-3
    )


def test_what_all_places_share_binds_as_it_would_otherwise() -> None:
    network = behind_a_wide_client(100.0, 4, 64)
    narrow = replace(
        network,
        stations=(network.stations[0], replace(network.stations[1], rates=steady(1 / 150), peak_rate=150.0)),
    )
    assert rounds_with(narrow, 256) == pytest.approx(150.0, rel=0.02)
