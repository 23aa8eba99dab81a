"""Clients in network namespaces: their own network, this machine's clock, and nothing left behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from leadline.errors import UserError
from leadline.run.crews.fio_servers import FioServers, Server
from leadline.run.crews.together import Together
from leadline.run.hosts.namespace import NamespaceHost
from leadline.run.lab.conditions import limit
from leadline.run.lab.journal import Journal
from leadline.run.lab.network import Network, make_network
from leadline.run.lab.state import lab_state
from leadline.run.seams import Client, Invocation


@pytest.fixture
def network(journal: Journal) -> Network:
    return make_network(journal, lab_state("hosts").prefix, 2)


def test_a_command_sees_the_network_of_its_namespace_only(network: Network, tmp_path: Path) -> None:
    host = NamespaceHost("client1", network.hosts[0].namespace)
    invocation = Invocation(("ip", "-brief", "address", "show", "v0"), tmp_path, tmp_path, 20)
    completed = host.run(invocation, lambda pid: None, lambda line: None)
    assert network.hosts[0].address in completed.stdout
    assert "10.77.1.1" in host.ask(("ip", "-brief", "address", "show", "v0"))


def test_the_process_that_is_told_is_the_one_whose_death_ends_the_command(
    network: Network, tmp_path: Path
) -> None:
    """nsenter and the shell that joins control groups become the supervisor; a parent of it would shield it."""
    host = NamespaceHost("client1", network.hosts[0].namespace)
    told: list[str] = []

    def look(pid: int) -> None:
        told.append(Path(f"/proc/{pid}/stat").read_text().split()[3])

    host.run(Invocation(("true",), tmp_path, tmp_path, 20), look, lambda line: None)
    assert told == [str(os.getpid())]


def test_clients_of_several_namespaces_run_together(network: Network, tmp_path: Path) -> None:
    clients = [
        Client(f"client{each.number}", NamespaceHost("", each.namespace), Path("/")) for each in network.hosts
    ]
    asked = {}
    for each in clients:
        scratch = tmp_path / each.name
        scratch.mkdir()
        meet = f"touch {scratch}/here; while [ $(ls {tmp_path}/*/here | wc -l) -lt 2 ]; do sleep 0.01; done"
        asked[each.name] = Invocation(
            ("sh", "-c", f"{meet}; ip -brief address show v0; sleep 0.05"), scratch, scratch, 60
        )
    crew = Together(clients)
    completed = crew.run(asked, lambda pid: None, lambda line: None)
    assert [completed[f"client{each.number}"].exit_code for each in network.hosts] == [0, 0]
    assert all(each.address in completed[f"client{each.number}"].stdout for each in network.hosts)
    assert crew.facts()["common_window_ns"] > 0


@pytest.mark.fio
def test_fios_own_servers_are_reached_from_a_namespace_only(
    network: Network, tmp_path: Path, work_directory: Path
) -> None:
    servers, asked = [], {}
    for each in network.hosts:
        name = f"client{each.number}"
        (work_directory / name).mkdir()
        (tmp_path / name).mkdir()
        servers.append(Server(name, NamespaceHost(name, each.namespace), each.address))
        words = ("fio", "--name=leadline", f"--directory={work_directory / name}", "--size=1m", "--rw=write")
        asked[name] = Invocation(words, tmp_path / name, work_directory, 20)
    crew = FioServers(servers, NamespaceHost("control", network.hosts[0].namespace))
    completed = crew.run(asked, lambda pid: None, lambda line: None)
    assert [(each.reason, each.exit_code) for each in completed.values()] == [(None, 0), (None, 0)]
    assert all('"jobs"' in (tmp_path / name / "fio.json").read_text() for name in asked)
    assert crew.facts()["windows_unknown"] == list(asked), "no log, so nothing tells when they worked"


def test_a_limited_client_runs_inside_its_groups(network: Network, journal: Journal, tmp_path: Path) -> None:
    group = limit(journal, f"{lab_state('hosts').prefix}-limits", cores=0.5)
    host = NamespaceHost("client1", network.hosts[0].namespace, group.paths)
    invocation = Invocation(("cat", "/proc/self/cgroup"), tmp_path, tmp_path, 20)
    completed = host.run(invocation, lambda pid: None, lambda line: None)
    assert f"{lab_state('hosts').prefix}-limits" in completed.stdout


def test_a_namespace_that_is_not_there_is_named() -> None:
    with pytest.raises(UserError, match="no network namespace nowhere"):
        NamespaceHost("client1", "nowhere")
