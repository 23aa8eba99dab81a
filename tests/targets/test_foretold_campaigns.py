"""A campaign with a cluster, live: the prediction is stored before its target is measured, and both name what was held back."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attempts import attempts

pytestmark = pytest.mark.fio
Leadline = Callable[..., subprocess.CompletedProcess[str]]

CAMPAIGN = """
name = "foretold"
baselines = false
noise_repeats = 0
order = "as written"
[[target]]
name = "xfs"
label = "disk"
[[target]]
name = "nfs"
label = "free"
ioengine = "nfs"
[[target]]
name = "nfs"
label = "narrow"
ioengine = "nfs"
conditions = { link = "100Mb/s" }
[[target]]
name = "nfs"
label = "weak servers"
ioengine = "nfs"
conditions = { server_cores = 0.04 }
[cluster]
name = "one server"
baselines = ["one disk"]
processors = "cost"
experiments = ["held back", "swept"]
storage_nodes = 1
storage_nic = "10Gb/s"
client_nic = "10Gb/s"
[defaults]
rw = "randread"
block_size = "64k"
size = "4m"
runtime = "1500ms"
[[experiment]]
name = "one disk"
targets = ["disk"]
ioengine = "libaio"
direct = true
iodepth = [1, 8]
[[experiment]]
name = "cost"
targets = ["free"]
numjobs = 4
[[experiment]]
name = "held back"
targets = ["narrow", "weak servers"]
numjobs = 8
[[experiment]]
name = "swept"
targets = ["narrow"]
numjobs = [1, 2, 4]
"""


def test_the_prediction_is_stored_before_its_cells_and_names_what_was_held_back(
    leadline: Leadline, tmp_path: Path
) -> None:
    campaign = tmp_path / "foretold.toml"
    campaign.write_text(CAMPAIGN)
    for number, attempt in enumerate(attempts()):
        run = tmp_path / f"run{number}"
        done = leadline("run", campaign, "--output", run)
        assert done.returncode == 0, done.stderr
        assert "Predicted before it is measured: one server, 5 cells, from one disk" in done.stdout
        assert "Predicted once more from two probes of each test: one server, 1 cell" in done.stdout
        check_the_order(run)
        made = json.loads(leadline("show", run, "--json").stdout)["runs"][0]["predictions"]
        with attempt:
            check_the_figures(*made)

    told = leadline("show", run).stdout
    assert "one server: predicted before it was measured" in told
    assert "network-bound" in (run / "report.html").read_text()


def check_the_order(run: Path) -> None:
    with sqlite3.connect(run / "results.sqlite") as connection:
        steps: list[Any] = connection.execute(
            "SELECT kind, experiment, ordinal, started_unix_ns FROM step WHERE kind IN ('prediction', 'cell') ORDER BY started_unix_ns"
        ).fetchall()
    kinds = [kind if kind == "prediction" else experiment for kind, experiment, _, _ in steps]
    assert kinds == [
        "one disk", "one disk", "cost", "prediction", "swept", "swept", "prediction", "held back", "swept", "held back",
    ]  # fmt: skip
    assert [step[2] for step in steps] == sorted(step[2] for step in steps)


def check_the_figures(made: dict[str, Any]) -> None:
    """As right as a machine lets them be that does not stall in a cell of a second and a half."""
    assert made["is_before"]
    by_target = {
        cell["settings"]["target"]: cell for cell in made["cells"] if cell["experiment"] == "held back"
    }
    narrow, weak = by_target["narrow"], by_target["weak servers"]
    assert narrow["binding"] in ("client NIC", "storage NIC") and narrow["named_by_counters"] == "network"
    assert narrow["predicted"]["queueing"]["iops"] / narrow["actual"]["iops"] == pytest.approx(1, abs=0.25)
    assert weak["binding"] == "server software" and weak["named_by_counters"] == "server CPU"
    assert narrow["disagreement"] is None and weak["disagreement"] is None

    swept = [cell for cell in made["cells"] if cell["experiment"] == "swept"]
    (again,) = [cell for cell in swept if not cell["is_probe"]]
    assert again["predicted"]["calibrated"]["iops"] / again["actual"]["iops"] == pytest.approx(1, abs=0.25)
    assert all("calibrated" not in cell["predicted"] for cell in swept if cell["is_probe"])
    assert any("Calibrated on two probes" in note for note in made["notes"])
