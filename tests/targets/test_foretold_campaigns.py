"""A campaign with a cluster, live: the prediction is stored before its target is measured, and both name what was held back."""

from __future__ import annotations

import json
import sqlite3
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
experiments = ["held back"]
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
"""


@pytest.fixture
def run(tmp_path: Path, leadline: Leadline) -> Path:
    campaign = tmp_path / "foretold.toml"
    campaign.write_text(CAMPAIGN)
    done = leadline("run", campaign, "--output", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "Predicted before it is measured: one server, 2 cells, from one disk" in done.stdout
    return tmp_path / "run"


def test_the_prediction_is_stored_before_its_cells_and_names_what_was_held_back(
    run: Path, leadline: Leadline
) -> None:
    with sqlite3.connect(run / "results.sqlite") as connection:
        steps: list[Any] = connection.execute(
            "SELECT kind, experiment, ordinal, started_unix_ns FROM step WHERE kind IN ('prediction', 'cell') ORDER BY started_unix_ns"
        ).fetchall()
    kinds = [kind if kind == "prediction" else experiment for kind, experiment, _, _ in steps]
    assert kinds == ["one disk", "one disk", "cost", "prediction", "held back", "held back"]
    assert [step[2] for step in steps] == sorted(step[2] for step in steps)

    shown = leadline("show", run, "--json")
    (made,) = json.loads(shown.stdout)["runs"][0]["predictions"]
    assert made["is_before"]
    by_target = {cell["settings"]["target"]: cell for cell in made["cells"]}
    narrow, weak = by_target["narrow"], by_target["weak servers"]
    assert narrow["binding"] in ("client NIC", "storage NIC") and narrow["named_by_counters"] == "network"
    assert narrow["predicted"]["queueing"]["iops"] / narrow["actual"]["iops"] == pytest.approx(1, abs=0.25)
    assert weak["binding"] == "server software" and weak["named_by_counters"] == "server CPU"
    assert narrow["disagreement"] is None and weak["disagreement"] is None

    told = leadline("show", run).stdout
    assert "one server: predicted before it was measured" in told
    assert "network-bound" in (run / "report.html").read_text()
