"""`leadline simulate`: files in, tables or JSON out, by the real engine; mistakes in one sentence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from leadline.analyse.wording import bandwidth
from leadline.cli.simulate_command import command
from leadline.errors import UserError

READY_MADE = sorted((Path(__file__).parents[2] / "campaigns" / "clusters").glob("*.toml"))
NIC = 25e9 / 8 * 0.9415
"""What frames leave of 25 Gb/s."""
CLUSTER = """
[cluster]
name = "four nodes"
storage_nodes = 4
storage_nic = "25Gb/s"
client_nic = "25Gb/s"
replicas = 3
chunk_size = "1MiB"
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


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_figure_is_cut_however_narrow_the_terminal_is(file: Path, width: int) -> None:
    axes = 'rw = ["randrw", "write"]\niodepth = [1, 64]\nstragglers = [0, 1]\nfailed_nodes = [0, 1]\nclients = [8, 9]\n'
    file.write_text(CLUSTER + axes, encoding="utf-8")
    result = CliRunner().invoke(command, [str(file)], env={"COLUMNS": str(width)})
    assert result.exception is None, result.output
    assert "\u2026" not in result.output
    found = points(file, axes)
    assert len(found) == 32
    assert all(bandwidth(point["bandwidth_bytes_per_second"]) in result.output for point in found)


def test_disks_that_hold_three_copies_write_a_third_of_what_they_can(file: Path) -> None:
    found = points(file, 'rw = ["read", "write"]\niodepth = 512\n')
    assert found[0]["bandwidth_bytes_per_second"] == pytest.approx(4 * 500e6, rel=0.03)
    assert found[1]["bandwidth_bytes_per_second"] == pytest.approx(4 * 300e6 / 3, rel=0.03)
    assert all(point["binding"].startswith("disks") for point in found)


def test_the_client_nic_binds_where_there_are_many_nodes(file: Path) -> None:
    [point] = points(file, "storage_nodes = 100\niodepth = 256\n")
    assert point["binding"].startswith("client NIC")
    assert point["bandwidth_bytes_per_second"] == pytest.approx(NIC, rel=0.02)


def test_throughput_grows_with_the_nodes_until_the_clients_are_used_up(file: Path) -> None:
    found = points(file, "storage_nodes = [3, 6, 12, 24]\niodepth = 200\n")
    rates = [point["bandwidth_bytes_per_second"] for point in found]
    assert rates[1] == pytest.approx(2 * rates[0], rel=0.05)
    assert rates[3] == pytest.approx(NIC, rel=0.02)


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


DISK = ((1, 100.0), (8, 400.0), (64, 400.0))
"""iodepth, and requests a second of a disk."""


def grid_of(folder: Path, name: str, rates: Sequence[tuple[int, float]]) -> Path:
    """A grid of random reads of 1 MiB as H. Zhu's journal publishes them."""
    grid = {
        "randread": {
            str(depth): {
                "1": {"bandwidth_gb": rate / 1024, "iops": rate, "latency_us": depth / rate * 1e6,
                      "percentiles": {"p50": depth / rate * 1e6, "p90": depth / rate * 1e6, "p99": depth / rate * 1e6}}
            }
            for depth, rate in rates
        }
    }  # fmt: skip
    path = folder / name
    path.write_text(json.dumps(grid), encoding="utf-8")
    return path


def test_a_baseline_takes_the_place_of_stated_disks(file: Path, tmp_path: Path) -> None:
    baseline = grid_of(tmp_path, "1m_ssd_xfs_iouring_disk_1.json", DISK)
    [point] = points(file, "iodepth = 512\n", "--baseline", str(baseline))
    assert point["iops"] == pytest.approx(4 * 400, rel=0.03)


def test_impossible_clusters_and_misspelt_keys_are_one_sentence(file: Path) -> None:
    assert "3 replicas on 2 storage nodes" in sentence(file, "storage_nodes = 2\n")
    assert 'did you mean "stragglers"' in sentence(file, "straglers = 2\n")
    assert "leave at least one" in sentence(file, "failed_nodes = 4\n")
    file.write_text(CLUSTER.replace('"500MB/s"', '"500Mb/s"'), encoding="utf-8")
    result = call(file)
    assert isinstance(result.exception, UserError) and "in bits" in str(result.exception)


def against(file: Path, tmp_path: Path, measured: Sequence[tuple[int, float]], *words: str) -> Result:
    """On four disks of the baseline."""
    baseline = grid_of(tmp_path, "1m_ssd_xfs_iouring_disk_1.json", DISK)
    target = grid_of(tmp_path, "1m_four_xfs_iouring_disk_4.json", measured)
    return call(file, "--baseline", str(baseline), "--against", str(target), *words)


def test_what_was_measured_stands_beside_what_is_simulated_and_modelled(file: Path, tmp_path: Path) -> None:
    result = against(file, tmp_path, ((1, 90.0), (512, 800.0)), "--json")
    assert result.exception is None, result.output
    found = json.loads(result.output)
    light, heavy = found["cells"]
    assert (light["iodepth"], heavy["iodepth"]) == (1, 512)
    assert heavy["actual"]["iops"] == pytest.approx(800)
    assert heavy["said"]["simulated"]["iops"] == pytest.approx(1600, rel=0.04)  # four disks of 400
    assert heavy["said"]["queueing model"]["iops"] == pytest.approx(1600, rel=0.04)
    [error] = [
        each
        for each in found["median_errors"]
        if (each["who"], each["metric"]) == ("simulated", "throughput")
    ]
    ratios = [cell["said"]["simulated"]["iops"] / cell["actual"]["iops"] for cell in (light, heavy)]
    assert error["cells"] == 2
    assert error["over_actual"] == pytest.approx(sum(abs(ratio - 1) for ratio in ratios) / 2)
    assert error["over_said"] == pytest.approx(sum(abs(1 / ratio - 1) for ratio in ratios) / 2)


def test_the_terminal_shows_both_directions_of_the_error(file: Path, tmp_path: Path) -> None:
    result = against(file, tmp_path, ((1, 90.0), (512, 800.0)))
    assert result.exception is None, result.output
    words = result.output.split()
    assert "sim/act" in words and "act/sim" in words, result.output
    lines = result.output.splitlines()
    heavy = next(line for line in lines if line.startswith("randread") and "512 x 1" in line).split()
    places = [float(word) for word in heavy if word.replace(".", "", 1).isdigit()]
    assert pytest.approx(2.0, abs=0.09) in places and pytest.approx(0.5, abs=0.03) in places


def test_loads_of_the_file_are_left_aside_for_those_that_were_measured(file: Path, tmp_path: Path) -> None:
    file.write_text(CLUSTER + "iodepth = [2, 3]\nstragglers = 1\n", encoding="utf-8")
    result = against(file, tmp_path, ((1, 90.0), (512, 800.0)), "--json")
    found = json.loads(result.output)
    assert [cell["iodepth"] for cell in found["cells"]] == [1, 512]
    assert any("`iodepth` of [simulation] are left aside" in note for note in found["notes"])
    assert found["cells"][1]["said"]["simulated"]["iops"] < 400  # the straggler is not left aside


def test_what_cannot_be_compared_is_refused_in_one_sentence(file: Path, tmp_path: Path) -> None:
    def refused(result: Result) -> str:
        assert isinstance(result.exception, UserError), result.output
        assert "\n" not in str(result.exception)
        return str(result.exception)

    assert "does not exist" in refused(call(file, "--against", str(tmp_path / "none")))
    assert "--target chooses among what --against holds" in refused(call(file, "--target", "nfs"))
    assert "--all shows every cell" in refused(call(file, "--all"))
    assert "leave --against out" in refused(against(file, tmp_path, DISK, "--steps"))
    assert 'no target "nfs"' in refused(against(file, tmp_path, DISK, "--target", "nfs"))
    assert "--steps simulates nothing" in refused(call(file, "--steps", "--html", str(tmp_path / "c.html")))
    assert "cannot be written" in refused(call(file, "--html", str(file / "c.html")))
    file.write_text(CLUSTER + "stragglers = [0, 1]\n", encoding="utf-8")
    assert "`stragglers` in [simulation] has several values" in refused(against(file, tmp_path, DISK))


def test_mixed_loads_tell_reads_and_writes_apart(file: Path) -> None:
    [point] = points(file, 'rw = "randrw"\nread_percentage = 70\niodepth = 512\n')
    assert point["read"]["iops"] + point["write"]["iops"] == pytest.approx(point["iops"], rel=1e-9)
    assert point["read"]["iops"] / point["iops"] == pytest.approx(0.7, abs=0.03)
    # Of each second of the four disks, reads take 1/500 of a MB each, and the three copies of a write 1/300 each.
    per_second = 4 / (0.7 * 2**20 / 500e6 + 0.3 * 3 * 2**20 / 300e6)
    assert point["iops"] == pytest.approx(per_second, rel=0.05)
    assert point["write"]["mean_latency_ns"] > point["read"]["mean_latency_ns"]
    result = call(file)
    assert "Reads and writes apart" in result.output


def test_the_page_needs_nothing_else_and_holds_every_point(file: Path, tmp_path: Path) -> None:
    page = tmp_path / "curves.html"
    found = points(
        file, "storage_nodes = [4, 8]\niodepth = [4, 256]\nstragglers = [0, 1]\n", "--html", str(page)
    )
    text = page.read_text(encoding="utf-8")
    assert "Against storage nodes" in text and "Against iodepth" in text
    assert text.count('<svg class="drawn" ') == 4  # throughput and latency along both axes
    assert "1 straggler" in text and 'class="line straggler"' in text
    assert all(point["binding"] in text for point in found)
    assert "<script" not in text and "http://" not in text and "https://" not in text


@pytest.mark.parametrize("path", READY_MADE, ids=lambda path: path.stem)
def test_ready_made_clusters_can_be_simulated(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    result = CliRunner().invoke(command, [str(path), "--steps"])
    assert result.exception is None, result.output
    assert all(step["workload"] == "simulate" for step in json.loads(result.output))
    assert "assumed" in text.lower()
