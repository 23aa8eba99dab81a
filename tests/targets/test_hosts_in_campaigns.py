"""Campaigns whose load comes from several hosts: by ssh, by fio's own servers, by MPI, and from a lab target's clients."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cluster_parts import skip_unless_installed
from lab_parts import eventually
from ssh_parts import Remote

from leadline.store.records import StepKind, StepRecord
from leadline.store.run_folder import RunFolder

Leadline = Callable[..., subprocess.CompletedProcess[str]]
CAMPAIGN = """
name = "several hosts"
baselines = false
noise_repeats = 0
{where}
[[experiment]]
name = "small"
rw = "randread"
block_size = "4k"
ioengine = "psync"
size = "1m"
runtime = "400ms"
clients = [1, 2]
"""

pytestmark = pytest.mark.fio


def measured(leadline: Leadline, folder: Path, where: str) -> list[StepRecord]:
    """The cells of a campaign that went well, in the order of clients."""
    path, run = folder / "hosts.toml", folder / "run"
    path.write_text(CAMPAIGN.format(where=where))
    done = leadline("run", path, "--output", run)
    assert done.returncode == 0, done.stderr
    with RunFolder.open(run).locked():
        records = RunFolder.open(run).records()
    assert [record.reason for record in records if record.reason] == []
    return sorted(
        (record for record in records if record.kind is StepKind.CELL),
        key=lambda record: record.cell["clients"],
    )


def hosts_of(record: StepRecord) -> list[str]:
    return sorted({part.host for part in record.measurements})


def counted_machines(record: StepRecord) -> list[str]:
    """Whose cores were counted apart from this machine's."""
    found = (re.fullmatch(r"host\.(.+)\.cpu\.all\.user_seconds", name) for name in record.totals)
    return sorted(match[1] for match in found if match)


def spent_reading(record: StepRecord, host: str) -> bool:
    """Whether a disk of the host was counted."""
    return any(re.fullmatch(rf"host\.{host}\.disk\..+\.read_bytes", name) for name in record.totals)


def test_hosts_by_ssh_measure_a_directory_that_all_of_them_see(
    leadline: Leadline, remotes: list[Remote], tmp_path: Path, work_directory: Path
) -> None:
    where = f'[target]\ndirectory = "{work_directory}"\n[hosts]\nkind = "ssh"\nnames = ["remote1", "remote2"]'
    one, two = measured(leadline, tmp_path, where)
    assert hosts_of(two) == ["remote1", "remote2"]
    assert [window["name"] for window in two.facts["clients"]] == ["remote1", "remote2"]
    assert {part.host for part in one.measurements} <= {"remote1", "local"}
    assert counted_machines(one) == ["remote1"] and counted_machines(two) == ["remote1", "remote2"]
    assert spent_reading(two, "remote1") and spent_reading(two, "remote2"), (
        "the disks below the directory there, too"
    )
    assert list(work_directory.iterdir()) == [], "only what leadline made is removed, and all of it"
    assert [remote.leavings() for remote in remotes] == [[], []]
    assert eventually(lambda: [remote.processes() for remote in remotes] == [[], []]), (
        "nobody counts there any more"
    )


def test_a_host_that_does_not_see_the_directory_is_named_before_anything_is_measured(
    leadline: Leadline, remotes: list[Remote], tmp_path: Path, work_directory: Path
) -> None:
    path = tmp_path / "hosts.toml"
    hosts = '[hosts]\nkind = "ssh"\nnames = ["remote1", "elsewhere.invalid"]'
    path.write_text(CAMPAIGN.format(where=f'[target]\ndirectory = "{work_directory}"\n{hosts}'))
    done = leadline("run", path, "--output", tmp_path / "run")
    assert done.returncode == 2
    assert "elsewhere.invalid" in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "run").exists()
    assert list(work_directory.iterdir()) == []


@pytest.mark.skipif(
    not (shutil.which("mpirun") and importlib.util.find_spec("mpi4py")),
    reason="mpirun or mpi4py is not installed",
)
def test_ranks_of_mpi_are_clients(leadline: Leadline, tmp_path: Path, work_directory: Path) -> None:
    launcher = "mpirun --allow-run-as-root --oversubscribe --map-by slot"
    where = f'[target]\ndirectory = "{work_directory}"\n[hosts]\nkind = "mpi"\nlauncher = "{launcher}"'
    one, two = measured(leadline, tmp_path, where)
    assert hosts_of(two) == ["rank0", "rank1"]
    assert counted_machines(one) == counted_machines(two) == ["rank0"], (
        "two ranks of one machine count it once"
    )
    assert two.totals["host.rank0.engine.cpu_seconds"] >= 0


@pytest.mark.parametrize("load", ["together", "fio server"])
def test_clients_of_a_lab_target_work_at_once_on_their_own_mounts(
    load: str, leadline: Leadline, tmp_path: Path
) -> None:
    skip_unless_installed("glusterfs")
    _, two = measured(leadline, tmp_path, f'target = "glusterfs"\n[hosts]\nload = "{load}"')
    assert hosts_of(two) == ["client1", "client2"]
    received = sum(
        value
        for name, value in two.totals.items()
        if name.startswith("host.client") and name.endswith(".receive_bytes")
    )
    assert received > 0, "the clients' own network counters are read"


@pytest.mark.parametrize("load", ["together", "fio server"])
def test_jobs_of_several_clients_are_spread_over_several_servers(
    load: str, leadline: Leadline, tmp_path: Path
) -> None:
    skip_unless_installed("nfs")
    target = '[target]\nname = "nfs"\nioengine = "nfs"\nstorage_nodes = 2\n[defaults]\nnumjobs = 2\n'
    _, two = measured(leadline, tmp_path, f'{target}[hosts]\nload = "{load}"')
    assert [(part.host, part.job) for part in two.measurements] == [
        ("client1", 0), ("client1", 1), ("client2", 0), ("client2", 1)
    ]  # fmt: skip
    assert all(part.operations > 0 for part in two.measurements)
    sent = [two.totals[f"host.ganesha{number}.nic.v0.transmit_bytes"] for number in (1, 2)]
    of_one_job = [
        min(part.size_bytes for part in two.measurements if part.host == client)
        for client in ("client1", "client2")
    ]
    assert min(sent) > sum(of_one_job) > 0, f"both servers answered a job of each client, not one all: {sent}"


def test_a_target_of_one_machine_refuses_several_clients(leadline: Leadline, tmp_path: Path) -> None:
    path, run = tmp_path / "hosts.toml", tmp_path / "run"
    path.write_text(CAMPAIGN.format(where='target = "ext4"'))
    done = leadline("run", path, "--output", run)
    assert done.returncode == 2 and "ext4 is a filesystem of one machine" in done.stderr
    assert not run.exists()
