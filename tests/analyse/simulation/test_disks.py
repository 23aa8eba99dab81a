"""What one disk does, from what is stated of it or from its baseline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from leadline.analyse.prediction.baselines import Baselines, NetworkBaseline
from leadline.analyse.prediction.paths import Parts
from leadline.analyse.prediction.service_curves import ServiceCurve
from leadline.analyse.simulation.disks import Curve, measured_curve, stated_curve
from leadline.errors import UserError
from leadline.spec.cluster import Disk

from .cluster_files import CLUSTER, cluster_file

MB = 1_000_000


def curve(disk: Mapping[str, Any], test: str = "read", part_bytes: int = MB, copied: bool = False) -> Curve:
    return stated_curve(Disk.model_validate(disk), test, part_bytes, copied)


def test_a_bandwidth_alone_is_the_same_at_any_depth() -> None:
    assert curve({"read": "500MB/s"}) == [(1, pytest.approx(500))]


def test_with_a_latency_more_requests_fill_the_bandwidth() -> None:
    # 2 ms + 2 ms each: 250 a second alone, 500 from two on.
    found = curve({"read": "500MB/s", "read_latency": "2ms"})
    assert found == [(1, pytest.approx(250)), (2, pytest.approx(500))]


def test_parallelism_ends_before_the_bandwidth_where_it_is_small() -> None:
    found = curve({"read": "5000MB/s", "read_latency": "1ms", "parallelism": 2})
    assert found[-1] == (2, pytest.approx(2 / 1.2e-3))


def test_a_measured_service_time_wins_over_bandwidth_and_latency() -> None:
    service = [{"size": MB, "time": "10ms"}]
    assert curve({"read_service": service}) == [(1, pytest.approx(100))]
    assert curve({"read_service": service, "parallelism": 4})[-1] == (4, pytest.approx(400))
    assert curve({"read_service": service, "read": "500MB/s"})[-1] == (5, pytest.approx(500))


def test_random_requests_take_the_sequential_figure_where_there_is_no_other() -> None:
    assert curve({"read": "500MB/s", "randread": "100MB/s"}, "randread") == [(1, pytest.approx(100))]
    assert curve({"read": "500MB/s"}, "randread") == [(1, pytest.approx(500))]


def test_a_copied_chunk_is_read_and_written() -> None:
    found = curve({"read": "500MB/s", "write": "250MB/s"}, "randwrite", copied=True)
    assert found == [(1, pytest.approx(1 / 6e-3))]
    both = {"read_service": [{"size": MB, "time": "2ms"}], "write_service": [{"size": MB, "time": "4ms"}]}
    assert curve(both, "randwrite", copied=True) == [(1, pytest.approx(1 / 6e-3))]


def test_service_times_of_another_size_are_refused() -> None:
    with pytest.raises(
        UserError, match=r"`read_service` .* is measured at 4k, but requests reach the disks as 64k"
    ):
        curve({"read_service": [{"size": "4k", "time": "80us"}]}, part_bytes=65536)


def test_a_disk_of_which_nothing_is_known_is_refused() -> None:
    with pytest.raises(UserError, match=r"says neither `write` \(a bandwidth\) nor `write_service`"):
        curve({"read": "500MB/s"}, "write")


def test_a_baseline_gives_its_own_rates() -> None:
    measured = ServiceCurve((1.0, 8.0), (100.0, 400.0), 0.0, 0.0, 400.0)
    baselines = Baselines({("read", MB): measured}, NetworkBaseline({}, None))
    parts = Parts(cluster_file({}, **CLUSTER).cluster, baselines)
    found = dict(measured_curve(parts, "read", MB, copied=False))
    assert (found[1], found[8], max(found)) == (pytest.approx(100), pytest.approx(400), 8)
    with pytest.raises(UserError, match="measure one storage disk at that block size"):
        measured_curve(parts, "read", 4096, copied=False)
