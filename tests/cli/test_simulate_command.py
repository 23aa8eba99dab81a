"""`leadline simulate`: files in, tables or JSON out, by the real engine; mistakes in one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from leadline.cli.simulate_command import command
from leadline.errors import UserError

READY_MADE = sorted((Path(__file__).parents[2] / "campaigns" / "clusters").glob("*.toml"))
CLUSTER = """
[cluster]
name = "four nodes"
storage_nodes = 4
storage_nic = "25Gb/s"
client_nic = "25Gb/s"
replicas = 3
[cluster.disk]
read = "500MB/s"
write = "300MB/s"
[simulation]
operations = 4000
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.toml"
    path.write_text(CLUSTER, encoding="utf-8")
    return path


def call(file: Path, *words: str) -> Result:
    return CliRunner().invoke(command, [str(file), *words])


def points(file: Path, further: str, *words: str) -> list[dict[str, Any]]:
    file.write_text(CLUSTER + further, encoding="utf-8")
    result = call(file, "--json", *words)
    assert result.exception is None, result.output
    return list(json.loads(result.output))


def sentence(file: Path, further: str) -> str:
    file.write_text(CLUSTER + further, encoding="utf-8")
    result = call(file)
    assert isinstance(result.exception, UserError), result.output
    assert "\n" not in str(result.exception)
    return str(result.exception)


def test_the_terminal_shows_what_is_reached_and_what_binds(file: Path) -> None:
    file.write_text(CLUSTER + 'rw = ["read", "write"]\niodepth = [1, 256]\n', encoding="utf-8")
    result = call(file)
    assert result.exception is None, result.output
    assert "four nodes" in result.output and "Simulated, not measured" in result.output
    lines = [line.strip() for line in result.output.splitlines()]
    reached = lines[lines.index("Simulated") + 1 :]
    assert [line.split()[:2] for line in reached[1:5]] == [
        ["read", "1"], ["read", "256"], ["write", "1"], ["write", "256"],
    ]  # fmt: skip
    assert "disks" in reached[2] and "latency" in reached[1]


def test_disks_that_hold_three_copies_write_a_third_of_what_they_can(file: Path) -> None:
    found = points(file, 'rw = ["read", "write"]\niodepth = 512\n')
    assert found[0]["bandwidth_bytes_per_second"] == pytest.approx(4 * 500e6, rel=0.03)
    assert found[1]["bandwidth_bytes_per_second"] == pytest.approx(4 * 300e6 / 3, rel=0.03)
    assert all(point["binding"].startswith("disks") for point in found)


def test_the_client_nic_binds_where_there_are_many_nodes(file: Path) -> None:
    [point] = points(file, "storage_nodes = 100\niodepth = 256\n")
    assert point["binding"].startswith("client NIC")
    assert point["bandwidth_bytes_per_second"] == pytest.approx(25e9 / 8, rel=0.02)


def test_throughput_grows_with_the_nodes_until_the_clients_are_used_up(file: Path) -> None:
    found = points(file, "storage_nodes = [3, 6, 12, 24]\niodepth = 200\n")
    rates = [point["bandwidth_bytes_per_second"] for point in found]
    assert rates[1] == pytest.approx(2 * rates[0], rel=0.05)
    assert rates[3] == pytest.approx(25e9 / 8, rel=0.02)


def test_the_same_file_gives_the_same_figures_and_another_seed_others(file: Path) -> None:
    one, again = (points(file, "iodepth = 16\n")[0]["iops"] for _ in range(2))
    other = points(file, "iodepth = 16\nseed = 2\n")[0]["iops"]
    assert one == again != other


def test_a_straggler_is_named_as_one_of_its_kind(file: Path) -> None:
    [point] = points(file, "stragglers = 1\niodepth = 32\n")
    assert point["binding"].startswith("one of disks")


def test_what_only_failed_nodes_hold_is_said_to_have_failed(file: Path) -> None:
    file.write_text(CLUSTER.replace("replicas = 3", "replicas = 1") + "failed_nodes = 1\n", encoding="utf-8")
    result = call(file)
    assert "requests failed: what they asked for lies on failed nodes" in " ".join(result.output.split())


def test_more_than_can_be_served_is_doubted(file: Path) -> None:
    [point] = points(file, "arrivals_per_second = 100_000\n")
    assert any("the queue grows as long as it lasts" in doubt for doubt in point["doubts"])
    [calm] = points(file, "arrivals_per_second = 500\n")
    assert calm["doubts"] == [] and calm["iops"] == pytest.approx(500, rel=0.06)


def test_a_baseline_takes_the_place_of_stated_disks(file: Path, tmp_path: Path) -> None:
    grid = {
        "randread": {
            str(depth): {
                "1": {"bandwidth_gb": rate / 1024, "iops": rate, "latency_us": depth / rate * 1e6,
                      "percentiles": {"p50": depth / rate * 1e6, "p90": depth / rate * 1e6, "p99": depth / rate * 1e6}}
            }
            for depth, rate in ((1, 100.0), (8, 400.0), (64, 400.0))
        }
    }  # fmt: skip
    baseline = tmp_path / "1m_ssd_xfs_iouring_disk_1.json"
    baseline.write_text(json.dumps(grid), encoding="utf-8")
    [point] = points(file, "iodepth = 512\n", "--baseline", str(baseline))
    assert point["iops"] == pytest.approx(4 * 400, rel=0.03)


def test_impossible_clusters_and_misspelt_keys_are_one_sentence(file: Path) -> None:
    assert "3 replicas on 2 storage nodes" in sentence(file, "storage_nodes = 2\n")
    assert 'did you mean "stragglers"' in sentence(file, "straglers = 2\n")
    assert "leave at least one" in sentence(file, "failed_nodes = 4\n")
    file.write_text(CLUSTER.replace('"500MB/s"', '"500Mb/s"'), encoding="utf-8")
    result = call(file)
    assert isinstance(result.exception, UserError) and "in bits" in str(result.exception)


@pytest.mark.parametrize("path", READY_MADE, ids=lambda path: path.stem)
def test_ready_made_clusters_can_be_simulated(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    result = CliRunner().invoke(command, [str(path), "--steps"])
    assert result.exception is None, result.output
    assert all(step["workload"] == "simulate" for step in json.loads(result.output))
    assert "assumed" in text.lower()
