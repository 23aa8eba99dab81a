"""The queue at a FUSE client's daemon, read where the kernel shows it. It is shown in a mount namespace of the test's own: leadline
mounts fusectl nowhere, and neither does the test on the machine it runs on."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from program_parts import skip_unless_built

from attempts import attempts
from leadline.run.lab.juicefs import JUICEFS
from leadline.store.records import StepKind
from leadline.store.run_folder import RunFolder

pytestmark = pytest.mark.fio
SHOWN = 'mount -t fusectl none /sys/fs/fuse/connections && exec "$@"'
CAMPAIGN = """
name = "queue"
baselines = false
noise_repeats = 0
target = "juicefs"
[[experiment]]
name = "deep"
rw = "randread"
block_size = "64k"
ioengine = "libaio"
direct = true
iodepth = 16
size = "16m"
runtime = "3s"
"""


def test_requests_at_the_daemon_are_counted_beside_a_cell(
    argv: Callable[..., list[str]], tmp_path: Path
) -> None:
    skip_unless_built(tmp_path, JUICEFS)
    path = tmp_path / "queue.toml"
    path.write_text(CAMPAIGN)
    for number, attempt in enumerate(attempts()):
        run = tmp_path / f"run{number}"
        command = ["unshare", "-m", "sh", "-c", SHOWN, "sh", *argv("run", path, "--output", run)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        with RunFolder.open(run).locked():
            (cell,) = (each for each in RunFolder.open(run).records() if each.kind is StepKind.CELL)
        (levels,) = (
            series.values
            for table in cell.counters
            for series in table
            if series.name == "fuse.client1.waiting_requests"
        )
        assert max(levels) <= 2 * 16
        assert cell.facts["fuse_queues"]["client1"]["max_background"] > 0
        with (
            attempt
        ):  # looked at once a second: a stall of three leaves the looks before the load and after it
            assert max(levels) > 0
            assert "FUSE queue" in done.stdout
