"""Predictions of real runs on directories: told before the target is measured, kept over a resume, and none where the baseline is none."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.fio
Leadline = Callable[..., subprocess.CompletedProcess[str]]

CAMPAIGN = """
name = "foretold"
baselines = false
noise_repeats = 0
[[target]]
directory = "{disk}"
label = "disk"
[[target]]
directory = "{farm}"
label = "farm"
[cluster]
name = "the farm"
baselines = ["{baseline}"]
targets = ["farm"]
storage_nodes = 1
storage_nic = "100Gb/s"
client_nic = "100Gb/s"
[defaults]
rw = "randread"
block_size = "64k"
ioengine = "libaio"
direct = {direct}
size = "2m"
runtime = "200ms"
[[experiment]]
name = "one disk"
targets = ["disk"]
iodepth = [1, 4]
[[experiment]]
name = "served"
targets = ["farm"]
iodepth = [1, 4]
"""


@pytest.fixture
def campaign(disk: Path, tmp_path: Path) -> Callable[..., Path]:
    """Two directories of the same disk: what one does is the baseline of the other."""
    places = {name: disk / f"{tmp_path.name}-{name}" for name in ("disk", "farm")}
    for place in places.values():
        place.mkdir()

    def write(baseline: str = "one disk", direct: str = "true") -> Path:
        path = tmp_path / "foretold.toml"
        path.write_text(CAMPAIGN.format(**places, baseline=baseline, direct=direct))
        return path

    return write


def predictions(leadline: Leadline, run: Path) -> Any:
    return json.loads(leadline("show", run, "--json").stdout)["runs"][0]["predictions"]


def test_a_run_tells_its_prediction_before_it_measures_and_shows_actual_beside_it(
    campaign: Callable[..., Path], leadline: Leadline, tmp_path: Path
) -> None:
    done = leadline("run", campaign(), "--output", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    told, measured = (
        done.stdout.index("Predicted before it is measured: the farm"),
        done.stdout.index("libaio, farm"),
    )
    assert told < measured
    (made,) = predictions(leadline, tmp_path / "run")
    assert made["is_before"] and [cell["binding"] for cell in made["cells"]]
    assert all(cell["actual"] for cell in made["cells"])

    run = tmp_path / "run"
    planned = leadline("plan", campaign(baseline=str(run)))
    assert planned.returncode == 2 and "holds several targets (disk, farm)" in planned.stderr


def test_plan_tells_what_can_be_foretold_from_a_run_of_before(
    campaign: Callable[..., Path], leadline: Leadline, tmp_path: Path
) -> None:
    whole = campaign().read_text()
    head, first = whole.split("[[target]]")[:2]
    experiments = "[defaults]" + whole.split("[defaults]")[1].split('[[experiment]]\nname = "served"')[0]
    alone = tmp_path / "alone.toml"
    alone.write_text(f"{head}[target]{first}{experiments}")
    assert leadline("run", alone, "--output", tmp_path / "before").returncode == 0
    planned = leadline("plan", campaign(baseline=str(tmp_path / "before")))
    assert planned.returncode == 0, planned.stderr
    assert "Predicted before it is measured: the farm, 2 cells" in planned.stdout


def test_where_the_baseline_did_not_measure_its_disk_nothing_is_predicted_and_the_run_goes_on(
    campaign: Callable[..., Path], leadline: Leadline, tmp_path: Path
) -> None:
    done = leadline("run", campaign(direct="false"), "--output", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "FAILED: the baselines hold no cell of a disk" in done.stdout
    assert predictions(leadline, tmp_path / "run") == []
