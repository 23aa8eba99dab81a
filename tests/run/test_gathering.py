"""Several clients' results put together: labelled, on one clock, no byte lost or counted twice."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.run.gathering import gather, together
from leadline.run.hosts.answering import LEFT_ALONE
from leadline.run.seams import Completed, Outcome
from leadline.store.histogram import Histogram
from leadline.store.records import Direction, JobUse, Latency, Measurement
from leadline.store.series import Series

SECOND = 1_000_000_000


def outcome(bandwidths: list[float] | None = None, reason: str | None = None) -> Outcome:
    latency = Latency(10, 1e6, histogram=Histogram.from_bins({1_000_000: 10}))
    ticks = [SECOND * (place + 1) for place in range(len(bandwidths or []))]
    return Outcome(
        measurements=(Measurement("local", 0, Direction.READ, 10, 40960, SECOND, latency),),
        jobs=(JobUse("local", 0, 0.1, 0.1, 5, SECOND, 0),),
        throughput=(Series("read", "B/s", ticks, bandwidths),) if bandwidths else (),
        warnings=("a warning",),
        reason=reason,
        raw={"fio.json": b"{}"},
        facts={"dataset_bytes": 100, "direct": True},
    )


def completed(start_seconds: float, seconds: float, exit_code: int = 0) -> Completed:
    start = SECOND + int(start_seconds * SECOND)
    end = start + int(seconds * SECOND)
    return Completed(exit_code, "", "", end - start, cpu_seconds=1.5, started_ns=start, ended_ns=end)


def test_measurements_stay_apart_by_client() -> None:
    gathered = gather(
        {"client1": outcome(), "client2": outcome()},
        {"client1": completed(0, 3), "client2": completed(0.1, 3)},
        {"client1": "local", "client2": "node2"},
    )
    assert [part.host for part in gathered.measurements] == ["client1", "client2"]
    assert [job.host for job in gathered.jobs] == ["client1", "client2"]
    assert gathered.warnings == ("client1: a warning", "client2: a warning")
    assert set(gathered.raw) == {"client1.fio.json", "client2.fio.json"}
    assert gathered.facts["dataset_bytes"] == 200
    assert gathered.facts["direct"] is True


def test_when_each_client_worked_is_told_from_the_first_start() -> None:
    gathered = gather(
        {"a": outcome(), "b": outcome()},
        {"a": completed(0.5, 3), "b": completed(0.2, 2)},
        {"a": "local", "b": "local"},
    )
    assert gathered.facts["clients"] == [
        {"name": "a", "host": "local", "started_ns": 300_000_000, "ended_ns": 3_300_000_000},
        {"name": "b", "host": "local", "started_ns": 0, "ended_ns": 2_000_000_000},
    ]
    assert gathered.facts["release_skew_ns"] == 300_000_000


def test_one_failed_client_fails_the_step_by_its_name() -> None:
    gathered = gather(
        {"a": outcome(), "b": outcome(reason="fio moved 3 of 4 bytes"), "c": outcome()},
        {name: completed(0, 1) for name in "abc"},
        {},
    )
    assert gathered.reason == "b: fio moved 3 of 4 bytes"


def test_why_a_host_could_not_run_it_comes_before_what_the_engine_makes_of_that() -> None:
    lost = replace(completed(0, 1), reason="the connection was lost")
    gathered = gather(
        {"a": outcome(), "b": outcome(reason="fio gave no result")}, {"a": completed(0, 1), "b": lost}, {}
    )
    assert gathered.reason == "b: the connection was lost"


def test_the_crew_seen_as_one_lasts_from_the_first_start_to_the_last_end() -> None:
    seen = together({"a": completed(0, 3), "b": completed(1, 4, exit_code=1)})
    assert (seen.wall_ns, seen.exit_code, seen.cpu_seconds) == (5 * SECOND, 1, 3.0)


rates = st.lists(st.floats(0, 1e9), min_size=2, max_size=8)


@given(st.lists(st.tuples(rates, st.floats(0, 2)), min_size=2, max_size=4))
def test_the_sum_over_clients_moves_exactly_the_bytes_of_all(
    clients: list[tuple[list[float], float]],
) -> None:
    gathered = gather(
        {f"c{place}": outcome(values) for place, (values, _) in enumerate(clients)},
        {f"c{place}": completed(start, len(values)) for place, (values, start) in enumerate(clients)},
        {},
    )
    total = gathered.throughput[0]
    assert total.name == "read"
    first = min(each.times_ns[0] for each in gathered.throughput[1:]) - SECOND
    edges = [first, *total.times_ns]
    moved = sum(
        rate * (end - begin) / SECOND
        for rate, begin, end in zip(total.values, edges, edges[1:], strict=False)
    )
    assert moved == pytest.approx(sum(sum(values) for values, _ in clients), rel=1e-6, abs=1)


def test_each_clients_own_throughput_is_kept_beside_the_sum() -> None:
    gathered = gather(
        {"a": outcome([5.0, 5.0]), "b": outcome([1.0, 1.0])}, {"a": completed(0, 2), "b": completed(1, 2)}, {}
    )
    assert [series.name for series in gathered.throughput] == ["read", "read@a", "read@b"]
    assert gathered.throughput[2].times_ns == [2 * SECOND, 3 * SECOND]


def names(rates: list[float], ends: list[int], **phase: object) -> Outcome:
    """Of a client's step on metadata."""
    usual = {
        "operation": "file stat",
        "planned": 10,
        "start_ns": 5,
        "first_done_ns": 7,
        "first_done_operations": 3,
        "last_done_ns": 9,
        "user_ns": 2,
        "system_ns": 4,
    }
    return Outcome(throughput=(Series("file stat", "1/s", ends, rates),), facts={"phases": [usual | phase]})


def test_phases_of_all_clients_are_laid_over_each_other_from_their_common_barrier() -> None:
    gathered = gather(
        {
            "a": names([100.0, 50.0], [SECOND, 2 * SECOND], requests={"FUSE lookup": 2, "FUSE getattr": 1}),
            "b": names(
                [30.0], [SECOND], planned=4, first_done_ns=4, last_done_ns=20, requests={"FUSE lookup": 3}
            ),
        },
        {"a": completed(0.5, 3), "b": completed(0, 3)},
        {"a": "local", "b": "local"},
    )
    total, *own = gathered.throughput
    assert (total.name, total.unit, total.times_ns) == ("file stat", "1/s", [SECOND, 2 * SECOND])
    assert total.values == pytest.approx([130.0, 50.0]), "not shifted by the start of the process"
    assert [each.times_ns for each in own] == [[SECOND, 2 * SECOND], [SECOND]]
    assert gathered.facts["phases"] == [
        {
            "operation": "file stat", "planned": 14, "start_ns": 5, "first_done_ns": 4, "first_done_operations": None,
            "last_done_ns": 20, "user_ns": 4, "system_ns": 8, "requests": {"FUSE getattr": 1, "FUSE lookup": 5},
        }
    ]  # fmt: skip


def test_a_phase_that_only_one_client_worked_in_keeps_its_figures() -> None:
    idle = names([], [], planned=0, first_done_ns=None, first_done_operations=None, last_done_ns=0)
    gathered = gather(
        {"a": names([10.0], [SECOND]), "b": replace(idle, throughput=())},
        {"a": completed(0, 1), "b": completed(0, 1)},
        {"a": "local", "b": "local"},
    )
    (phase,) = gathered.facts["phases"]
    assert (phase["planned"], phase["first_done_ns"], phase["first_done_operations"]) == (10, 7, 3)
    assert gathered.throughput[0].values == pytest.approx([10.0])


def test_who_failed_first_is_named_and_not_who_was_ended_because_of_it() -> None:
    left = replace(completed(0, 1), exit_code=None, reason=LEFT_ALONE)
    gathered = gather(
        {"a": outcome(reason="leadline-engine ended"), "b": outcome(reason="rank 2 was killed by SIGKILL")},
        {"a": left, "b": completed(0, 1, exit_code=2)},
        {"a": "local", "b": "local"},
    )
    assert gathered.reason == "b: rank 2 was killed by SIGKILL (2 of 2 clients failed)"
