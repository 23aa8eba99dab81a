"""The network between hosts of other kinds, and what is left when leadline is killed in the midst of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from lab_parts import eventually
from ssh_parts import Remote

from leadline.run.lab.journal import Journal
from leadline.run.lab.network import Network, make_network
from leadline.run.lab.state import lab_state
from leadline.store.records import Status
from leadline.store.run_folder import RunFolder

Leadline = Callable[..., subprocess.CompletedProcess[str]]
COMMAND = "from leadline.cli.main import main; main()"
USUAL = ("--sizes", "64KiB", "--time", "0.3s", "--repeats", "1")


@pytest.fixture
def network(journal: Journal) -> Network:
    return make_network(journal, lab_state("net").prefix, 2)


def inside(namespace: str) -> list[str]:
    """Process ids of what runs there."""
    listed = subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, text=True, check=False)
    return listed.stdout.split()


def test_two_hosts_by_ssh_are_measured_with_tools_that_are_there(
    leadline: Leadline, remotes: list[Remote], tmp_path: Path
) -> None:
    first, second = (remote.name for remote in remotes)
    done = leadline(
        "network", first, second, "--tool", "leadline,iperf3", *USUAL, "--output", tmp_path / "run"
    )
    assert done.returncode == 0, done.stderr
    folder = RunFolder.open(tmp_path / "run")
    records = folder.records()
    folder.close()
    assert [each.reason for each in records if each.status is Status.FAILED] == []
    hosts = {part.host for each in records for part in each.measurements}
    assert hosts == {first, second}  # a stream is counted by whoever received it


@pytest.mark.parametrize("tool", ["leadline", "iperf3"])
def test_a_killed_leadline_leaves_nothing_running_on_either_host_and_is_resumed(
    network: Network, leadline: Leadline, tmp_path: Path, tool: str
) -> None:
    first, second = (host.namespace for host in network.hosts)
    run = tmp_path / "run"
    arguments = [
        "network",
        first,
        second,
        "--tool",
        tool,
        "--sizes",
        "64KiB",
        "--time",
        "2s",
        "--repeats",
        "2",
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments, "--output", str(run)], env=dict(os.environ),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert eventually(
        lambda: (run / "manifest.json").exists() and bool(inside(first)) and bool(inside(second))
    )
    time.sleep(0.3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert eventually(lambda: not inside(first) and not inside(second))
    done = leadline("run", "--resume", run)
    assert done.returncode == 0, done.stderr
    folder = RunFolder.open(run)
    assert all(each.status is Status.FINISHED for each in folder.records())
    folder.close()
