"""Counters of another host: a shell that is asked once a second; here the host is this machine, which needs no connection."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from leadline.errors import UserError
from leadline.run.observe.fuse_queues import FuseQueue
from leadline.run.observe.host_looks import HostLooks
from leadline.run.observe.recording import Below

BUSY = "host.node1.cpu.all.busy_share"


def seen(looks: HostLooks, name: str) -> list[float]:
    """A series so far."""
    return next((series.values for series in looks.series() if series.name == name), [])


def be_busy_until_it_was_seen(looks: HostLooks, points: int) -> None:
    """However often it may look on a machine that is busy with other things."""
    until = time.monotonic() + 60
    while len(seen(looks, BUSY)) < points or max(seen(looks, BUSY)) == 0:
        assert time.monotonic() < until, "it does not look any more"
        burnt = time.process_time() + 0.02
        while time.process_time() < burnt:
            pass


def test_a_host_counts_its_cores_and_nics_under_its_own_name() -> None:
    with HostLooks("node1", list, interval_seconds=0.1) as looks:
        be_busy_until_it_was_seen(looks, 3)
    names = looks.totals()
    assert names["host.node1.cpu.all.user_seconds"] > 0
    assert all(name.startswith("host.node1.") for name in names)
    assert not any(".cpu.0." in name or ".nic.lo." in name for name in names), "single cores stay there"
    assert looks.notes() == []


def test_it_looks_beside_one_step_after_the_other() -> None:
    looks = HostLooks("node1", list, interval_seconds=0.1)
    with looks:
        be_busy_until_it_was_seen(looks, 5)
    assert len(seen(looks, BUSY)) >= 5 and looks.totals()["host.node1.cpu.all.user_seconds"] > 0
    looks._interval_ns = 10**12  # no look but the first and the last
    with looks:
        pass
    assert len(seen(looks, BUSY)) <= 1, "of the second step alone"


def test_the_fuse_queue_of_a_host_is_a_level_over_time(tmp_path: Path) -> None:
    waiting = tmp_path / "waiting"
    waiting.write_text("7\n")
    with HostLooks("node1", list, Below(queue=FuseQueue(str(waiting))), 0.1) as looks:
        time.sleep(0.25)
    levels = [series.values for series in looks.series() if series.name == "host.node1.fuse.waiting_requests"]
    assert levels and set(levels[0]) == {7.0}


def test_a_host_that_says_nothing_costs_its_counters_and_never_the_step() -> None:
    with HostLooks("node1", lambda argv: ["false"]) as looks:
        pass
    assert looks.totals() == {}
    assert looks.notes() == ["The counters of node1 were lost: it did not answer."]


def test_a_host_that_cannot_be_reached_is_left_to_the_load_to_complain_about() -> None:
    def unreachable(argv: Sequence[str]) -> Sequence[str]:
        raise UserError("node1 cannot be reached")

    with HostLooks("node1", unreachable) as looks:
        pass
    assert looks.notes() == ["The counters of node1 were not read: it could not be reached."]


def test_only_hosts_that_take_part_are_looked_at() -> None:
    assert HostLooks("node1", list).concerns(["node1", "node2"])
    assert not HostLooks("node3", list).concerns(["node1", "node2"])
