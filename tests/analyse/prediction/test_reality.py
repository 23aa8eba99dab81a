"""Published workloads against their own hardware: figures that can be checked by hand."""

from __future__ import annotations

import pytest

from leadline.analyse.prediction.reality import RealityCheck, check_reality
from leadline.published.tables import table


@pytest.fixture
def checks() -> dict[tuple[str, str, str], RealityCheck]:
    found = check_reality(table("3fs_workloads").rows)
    return {(check.workload, check.what, check.of): check for check in found}


def test_training_reads_fill_four_fifths_of_the_storage_nics(
    checks: dict[tuple[str, str, str], RealityCheck],
) -> None:
    found = checks["training reads", "read, average of all", "storage nodes"]
    assert found.bytes_per_second == 6.6 * 2**40
    assert found.network_bytes_per_second == 180 * 2 * 200e9 / 8
    assert found.network_share == pytest.approx(0.806, abs=0.001)
    assert found.sequential_share == pytest.approx(6.6 * 2**40 / (180 * 16 * 7e9))
    assert found.random_share == pytest.approx(6.6 * 2**40 / (180 * 16 * 4e9))


def test_all_three_workloads_are_within_their_hardware(
    checks: dict[tuple[str, str, str], RealityCheck],
) -> None:
    assert {workload for workload, _, _ in checks} == {"training reads", "GraySort", "KV cache"}
    for check in checks.values():
        shares = (check.network_share, check.sequential_share, check.random_share)
        assert all(share is None or 0 < share < 1 for share in shares), check
    assert checks["KV cache", "read, peak of one client", "clients"].random_share is None
