"""`leadline predict` as a user types it: tables, JSON, and mistakes in one sentence."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
CLUSTER = """
[cluster]
name = "five by hand"
storage_nodes = 5
storage_nic = "400Gb/s"
client_nic = "400Gb/s"
chunk_size = "1m"
"""


def grid(path: Path, iops: Callable[[int], float], test: str = "randread") -> Path:
    """A published grid of 1 MiB requests: iodepth 1..32, 1 and 4 jobs."""
    tree: dict[str, Any] = {}
    for depth in (1, 2, 4, 8, 32):
        for jobs in (1, 4):
            rate = iops(depth * jobs)
            mean_us = depth * jobs / rate * 1e6
            tree.setdefault(test, {}).setdefault(str(depth), {})[str(jobs)] = {
                "bandwidth_gb": rate / 1024,
                "iops": rate,
                "latency_us": mean_us,
                "percentiles": {"p50": mean_us, "p90": mean_us, "p99": mean_us, "mean": mean_us},
            }
    path.write_text(json.dumps(tree))
    return path


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    (tmp_path / "cluster.toml").write_text(CLUSTER)
    return {
        "cluster": tmp_path / "cluster.toml",
        "disk": grid(tmp_path / "1m_ssd_libaio_machine_1.json", lambda _: 300.0),
        "small": grid(tmp_path / "4k_ssd_libaio_machine_1.json", lambda _: 300.0),
        "target": grid(tmp_path / "1m_fs_libaio_machine_5.json", lambda load: 1400 * load / (load + 4)),
    }


def test_cells_are_predicted_before_the_target_is_measured(leadline: Run, files: dict[str, Path]) -> None:
    done = leadline("predict", "--baseline", files["disk"], "--cluster", files["cluster"], COLUMNS="140")
    assert done.returncode == 0, done.stderr
    assert "five by hand" in done.stdout and "To calibrate randread 1m, measure two cells" in done.stdout
    assert "latency (disks)" in done.stdout and "Median error" not in done.stdout
    assert "8 of 10 cells; --all shows the others" in done.stdout


def test_actual_stands_beside_predicted_and_each_model_is_scored(
    leadline: Run, files: dict[str, Path]
) -> None:
    words = ("--baseline", files["disk"], "--cluster", files["cluster"], "--against", files["target"])
    done = leadline("predict", *words, "--all", COLUMNS="160")
    assert done.returncode == 0, done.stderr
    for head in ("pred/act", "act/pred", "actual latency", "napkin", "bounds", "queueing", "2 probes"):
        assert head in done.stdout
    assert "Calibrated on two cells, randread 1m" in done.stdout and done.stdout.count("probe") >= 2


def test_programs_get_everything_as_json(leadline: Run, files: dict[str, Path]) -> None:
    words = ("--baseline", files["disk"], "--cluster", files["cluster"], "--against", files["target"])
    document = json.loads(leadline("predict", *words, "--json").stdout)
    assert len(document["cells"]) == 10 and document["cluster"] == "five by hand"
    heavy = document["cells"][-1]
    assert heavy["predicted"]["bounds"]["iops"] == pytest.approx(1500)
    assert heavy["binding"] == "disks" and 0.9 < heavy["disk_share"] <= 1
    assert {score["model"] for score in document["scores"]} == {"napkin", "bounds", "queueing", "calibrated"}
    assert sum(cell["is_probe"] for cell in document["cells"]) == 2


def test_a_run_is_a_baseline_as_much_as_a_grid(leadline: Run, files: dict[str, Path], tmp_path: Path) -> None:
    assert leadline("import", files["disk"], "--output", tmp_path / "run").returncode == 0
    words = ("--cluster", files["cluster"], "--json")
    by_run = json.loads(leadline("predict", "--baseline", tmp_path / "run", *words).stdout)
    by_grid = json.loads(leadline("predict", "--baseline", files["disk"], *words).stdout)
    assert by_run["cells"] == by_grid["cells"]


def test_no_share_of_the_published_workloads_is_cut_in_a_narrow_terminal(leadline: Run) -> None:
    narrow, wide = (leadline("predict", "--published", COLUMNS=width).stdout for width in ("80", "200"))
    assert narrow.count(" %\n") == wide.count(" %\n") > 3 and "\u2026" not in narrow


def test_published_workloads_are_shown_as_shares_of_their_hardware(leadline: Run) -> None:
    done = leadline("predict", "--published", COLUMNS="200")
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if "training reads" in line and "storage" in line)
    assert "6.6 TiB/s" in line and line.endswith("36 %    63 %") and "81 %" in line
    document = json.loads(leadline("predict", "--published", "--json").stdout)
    assert document[0]["network_share"] == pytest.approx(0.806, abs=0.001)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "there is no baseline to predict from"),
        (("--baseline", "disk"), "there is no cluster to predict for"),
        (("--baseline", "missing.json", "--cluster", "cluster"), "missing.json does not exist"),
        (("--baseline", "small", "--cluster", "cluster", "--against", "target"), 'has "randread" at 4k, but'),
        (("--baseline", "disk", "--cluster", "disk"), "is not valid TOML"),
        (("--baseline", "cluster", "--cluster", "cluster"), "no result that leadline understands"),
        (("--baseline", "disk", "--cluster", "cluster", "--target", "nfs"), "--target chooses among what"),
        (("--baseline", "disk", "--cluster", "cluster", "--against", "target", "--target", "nfs"), 'no target "nfs"'),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence_and_no_prediction(
    leadline: Run, files: dict[str, Path], words: tuple[str, ...], sentence: str
) -> None:
    done = leadline("predict", *(files.get(word, word) for word in words))
    assert done.returncode == 2 and done.stdout == ""
    assert sentence in done.stderr and done.stderr.count("\n") == 1 and "Traceback" not in done.stderr
