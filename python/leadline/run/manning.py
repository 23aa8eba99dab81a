"""Who generates the load, and how the clients go together: what a campaign's [hosts] comes to.

Without it the load comes from this machine, or from a lab target's own clients.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.run.crews.alone import Alone
from leadline.run.crews.fio_servers import FioServers, Server
from leadline.run.crews.mpi import Launcher, MpiCrew
from leadline.run.crews.together import Together
from leadline.run.engines.fio_capabilities import installed_fio
from leadline.run.hosts.check_host import check_host
from leadline.run.hosts.local import LocalHost
from leadline.run.hosts.ssh import SshHost
from leadline.run.needs import FOR_DATA, Needs, check_cache_drops
from leadline.run.observe.caches import DROP_CACHES
from leadline.run.observe.host_looks import HostLooks
from leadline.run.observe.recording import Below, below_directory, record_command
from leadline.run.seams import Client, Crew, Elsewhere, Target
from leadline.run.targets.mounted_on_hosts import MountedOnHosts, Onlooker
from leadline.spec.campaign import Hosts


@dataclass(frozen=True)
class Manned:
    """The clients of a directory."""

    clients: tuple[Client, ...]
    crew: Crew
    target: Target
    facts: Mapping[str, Any] = field(default_factory=dict)
    addresses: Mapping[str, str] = field(default_factory=dict)
    elsewhere: Sequence[Elsewhere] = ()
    """Counters of hosts that are machines of their own."""
    fuse_queues: Mapping[str, Any] = field(default_factory=dict)
    """What is known of their FUSE mounts' queues, by client."""


@contextmanager
def manned(
    hosts: Hosts,
    directory: Path,
    target: Target,
    filesystem: str,
    clients: int,
    needs: Needs = FOR_DATA,
    mounts: Sequence[Path] = (),
) -> Iterator[Manned]:
    """The clients of a directory that all hosts see under its path, or one for each of its `mounts` on this machine; raises UserError
    when one of them cannot work.

    They are asked for what the steps need, and for nothing else.
    """
    if hosts.kind == "ssh":
        with _by_ssh(hosts, directory, target, filesystem, needs) as several:
            yield several
    elif hosts.kind == "mpi":
        yield _by_mpi(hosts, directory, target, clients)
    elif mounts:
        own = tuple(
            Client(f"client{number}", LocalHost(), path)
            for number, path in enumerate((directory, *mounts), 1)
        )
        yield Manned(own, Together(own), target)
    else:
        client = Client("local", LocalHost(), directory)
        yield Manned((client,), Alone(client), target)


@contextmanager
def _by_ssh(hosts: Hosts, directory: Path, target: Target, filesystem: str, needs: Needs) -> Iterator[Manned]:
    reached = [SshHost(name) for name in hosts.names]
    try:
        version = installed_fio().version if needs.fio else ""
        checked = [check_host(host, version) for host in reached]
        for host in reached:
            check_cache_drops(needs, host.name, partial(_may_write, host))
        clients = tuple(Client(host.name, host, directory, machine=host.name) for host in reached)
        onlookers = [Onlooker(host.name, host.ask, directory) for host in reached]
        addresses = {host.name: host.address() for host in reached}
        facts: dict[str, Any] = {"hosts": {each.name: each.facts for each in checked}}
        if warnings := [line for each in checked for line in each.warnings]:
            facts["host_warnings"] = warnings
        crew = crew_of(clients, hosts, addresses)
        below = {host.name: _below(host, directory) for host in reached}
        for name, there in below.items():
            facts["hosts"][name] = {**facts["hosts"][name], "block_devices": _known(there.devices)}
        yield Manned(
            clients,
            crew,
            MountedOnHosts(target, onlookers, filesystem),
            facts,
            addresses,
            [HostLooks(host.name, host.inside, below[host.name]) for host in reached],
            {name: there.queue.facts() for name, there in below.items() if there.queue},
        )
    finally:
        for host in reached:
            host.close()


def _below(host: SshHost, directory: Path) -> Below:
    """What carries the directory there; nothing where that cannot be told: whether it is there at all is asked elsewhere."""
    try:
        return below_directory(host.ask(record_command(directory)))
    except UserError:
        return Below()


def _known(devices: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Without facts that could not be told from afar."""
    return [{name: value for name, value in each.items() if value is not None} for each in devices]


def _may_write(host: SshHost) -> bool:
    return host.ask(("sh", "-c", f"test -w {DROP_CACHES} && echo yes || echo no")).strip() == "yes"


def _by_mpi(hosts: Hosts, directory: Path, target: Target, clients: int) -> Manned:
    """Ranks are clients. The step's folder must be seen by each, else its fio says that there is none."""
    command, *arguments = shlex.split(hosts.launcher) or [""]
    launcher = Launcher(command, hosts.names, tuple(arguments) or None)
    names = hosts.names or tuple(f"rank{number}" for number in range(max(clients, 1)))
    ranks = tuple(Client(name, LocalHost(), directory, machine=name) for name in names)
    crew = MpiCrew(launcher, directory=directory)
    return Manned(ranks, crew, target, elsewhere=[crew])


def crew_of(clients: Sequence[Client], hosts: Hosts, addresses: Mapping[str, str]) -> Crew:
    """How clients go together; `addresses` are those at which they reach each other."""
    if hosts.load == "fio server":
        if missing := [client.name for client in clients if client.name not in addresses]:
            raise UserError(
                f'load = "fio server" needs clients on a network, and {missing[0]} is on none; set load = "together"'
            )
        servers = [Server(each.name, each.host, addresses[each.name]) for each in clients]  # type: ignore[arg-type]
        return FioServers(servers, clients[0].host if clients[0].namespace else LocalHost())  # type: ignore[arg-type]
    return Together(clients) if len(clients) > 1 else Alone(clients[0])
