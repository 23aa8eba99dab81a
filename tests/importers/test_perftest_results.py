"""perftest's figures become steps whose totals give the stated rates."""

from pathlib import Path

import pytest
from foreign_results import JOURNAL, needs_journal, write_json

from leadline.analyse.analysis import analyse
from leadline.analyse.network import BOUND, FLAT, profiles
from leadline.errors import UserError
from leadline.importers import import_paths
from leadline.store.records import Direction

TEXT = """                    RDMA_Read BW Test
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 65536      5000             11000.00           10000.00           0.160000
 4194304    5000             11000.00           11000.00           0.002750
"""
LATENCY = {
    "bytes": 64,
    "iterations": 1000,
    "latency_min_usec": 1.5,
    "latency_max_usec": 9.0,
    "latency_typical_usec": 1.9,
    "latency_avg_usec": 2.0,
    "latency_stdev_usec": 0.1,
    "latency_99percentile_usec": 3.0,
    "latency_99.9percentile_usec": 8.0,
}


def test_a_text_table_gives_a_step_a_message_size(tmp_path: Path) -> None:
    path = tmp_path / "read_bw.txt"
    path.write_text(TEXT)
    _, (small, large) = import_paths([path])
    assert (small.engine, small.cell) == ("perftest", {"test": "ib_read_bw", "message_size": 65536})
    (measurement,) = large.measurements
    assert (measurement.direction, measurement.operations) == (Direction.READ, 5000)
    assert measurement.size_bytes * 1e9 / measurement.runtime_ns == pytest.approx(11000 * 2**20)
    assert measurement.latency.count == 0  # a bandwidth test measures none


@pytest.mark.parametrize(("test", "microseconds"), [("ib_read_lat", 2000), ("ib_write_lat", 4000)])
def test_latency_of_sends_and_writes_is_half_a_round_trip(
    tmp_path: Path, test: str, microseconds: int
) -> None:
    document = {"results": {"x": {"test_type": test, "results": [LATENCY]}}}
    _, (record,) = import_paths([write_json(tmp_path / "ib.json", document)])
    (measurement,) = record.measurements
    assert measurement.runtime_ns == microseconds * 1000
    assert (measurement.latency.count, measurement.latency.mean_ns) == (1000, 2000)
    assert measurement.latency.stated_percentiles_ns == {"0.5": 1900, "0.99": 3000, "0.999": 8000}


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"bytes": 64, "iterations": 5}, "neither bandwidth nor latency"),
        ({"bytes": 64, "bw_average_MBs": 5.0}, "iterations is missing"),
        ({"bytes": 64, "iterations": 0, "bw_average_MBs": 5.0}, "a rate that no network has"),
        ({"bytes": 2**60, "iterations": 2**60, "bw_average_MBs": 5.0}, "a rate that no network has"),
    ],
)
def test_rows_that_cannot_be_are_refused(tmp_path: Path, row: dict[str, float], sentence: str) -> None:
    document = {"results": {"x": {"test_type": "ib_send_bw", "results": [row]}}}
    with pytest.raises(UserError, match=sentence):
        import_paths([write_json(tmp_path / "ib.json", document)])


@needs_journal
def test_the_published_run_has_a_profile_for_each_verb_with_the_size_that_fills_the_network() -> None:
    """The article: close to 100 Gb/s, reached with messages of 4 to 8 KiB; 90 % of it somewhat earlier."""
    manifest, records = import_paths([JOURNAL / "ib_benchmark_unidirectional.json"])
    by_verb = {profile.tool: profile for profile in profiles(analyse(records, manifest, {}).cells)}
    assert set(by_verb) == {"ib_send", "ib_write", "ib_read"}
    for profile in by_verb.values():
        assert profile.filling is not None and profile.floor is not None
        assert profile.filling.peak.value == pytest.approx(11.2e9, rel=0.13)  # of at most 12.5 GB/s
        assert 1024 < profile.filling.size_bytes <= 8192
        assert [profile.rows[0].region, profile.rows[-1].region] == [FLAT, BOUND]
