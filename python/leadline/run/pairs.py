"""Two hosts by name, for experiments on the network between them: this machine, a network namespace, or a host by ssh.

"local" is this machine, the name of a namespace below /run/netns is that namespace, and everything else is a destination of ssh;
"ssh:", "netns:" before a name settle what it means. NAME=ADDRESS says at which address the host is to be reached.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from leadline.errors import UserError
from leadline.plan.sites import Site
from leadline.run.crews.together import Together
from leadline.run.grounds import Ground
from leadline.run.hosts.local import LocalHost
from leadline.run.hosts.namespace import FOLDER, NamespaceHost
from leadline.run.hosts.ssh import SshHost
from leadline.run.observe.machine import Machine
from leadline.run.observe.network_interfaces import interface_names
from leadline.run.observe.network_namespaces import NamespaceReader
from leadline.run.seams import Client, Host
from leadline.run.targets.no_files import NoFiles

LOCAL = "local"
LOOPBACK = "127.0.0.1"
RDMA = "/dev/infiniband"
SERVED_BY = {
    "iperf3": "iperf3", "qperf": "qperf", "fi_pingpong": "fi_pingpong", "ucx_perftest": "ucx_perftest",
    "ib_send": "ib_send_bw", "ib_write": "ib_write_bw", "ib_read": "ib_read_bw",
}  # fmt: skip
"""Tool -> the program that must be there."""


@dataclass(frozen=True)
class End:
    """One of the two."""

    name: str
    kind: str
    """"local", "netns" or "ssh"."""
    address: str = ""
    """As the user stated it; empty: to be found."""

    @classmethod
    def of(cls, text: str) -> End:
        """Raises UserError for a namespace that is not there."""
        name, _, address = text.partition("=")
        if address:
            address = _checked(address, text)
        prefix, _, rest = name.partition(":")
        if prefix in ("ssh", "netns") and rest:
            name, kind = rest, prefix
        else:
            kind = LOCAL if name == LOCAL else "netns" if name and (FOLDER / name).exists() else "ssh"
        if not name:
            raise UserError(
                f'"{text}" names no host; write local, a network namespace, or a host as ssh knows it'
            )
        return cls(name, kind, address)

    def host(self) -> LocalHost | NamespaceHost | SshHost:
        """Not reached yet; raises UserError where there is no such namespace."""
        if self.kind == LOCAL:
            return LocalHost()
        return NamespaceHost(self.name, self.name) if self.kind == "netns" else SshHost(self.name)


@dataclass(frozen=True)
class PairGrounds:
    """The only ground of a run between two hosts."""

    names: Sequence[str]
    directory: Path
    """Where commands are started: the run folder."""
    on_ground: Callable[[Ground], None] = lambda ground: None

    @contextmanager
    def standing(self, site: Site) -> Iterator[Ground]:
        """Both reached, both addresses known; raises UserError that names the host with the fault."""
        with reached(self.names) as ends, _reader(ends) as reader:
            addresses = {name: each.address for name, each in ends.items()}
            clients = tuple(
                Client(name, each.host, self.directory, each.namespace, each.machine)
                for name, each in ends.items()
            )
            ground = Ground(
                site=site, name=" and ".join(ends), directory=self.directory, clients=clients,
                crew=Together(clients), target=NoFiles(self.directory), mounted=False,
                interfaces=interface_names(Machine()), namespaces=reader, addresses=addresses,
                facts={"name": "network", "hosts": {name: each.kind for name, each in ends.items()}, "addresses": addresses},
            )  # fmt: skip
            self.on_ground(ground)
            yield ground

    def clear(self, site: Site) -> None:
        """Nothing is left behind."""


@dataclass(frozen=True)
class Reached:
    """A host that answers."""

    kind: str
    host: Host
    address: str
    namespace: str | None
    machine: str
    ask: Callable[[Sequence[str]], str]


@contextmanager
def reached(names: Sequence[str]) -> Iterator[dict[str, Reached]]:
    """By the name that results give them, who asks first; raises UserError."""
    ends = [End.of(text) for text in names]
    with ExitStack() as stack:
        found = {}
        for name, end in zip(_titles(ends), ends, strict=True):
            host = end.host()
            if isinstance(host, SshHost):
                stack.callback(host.close)
            found[name] = _reached(end, host)
        yield found


def _reached(end: End, host: LocalHost | NamespaceHost | SshHost) -> Reached:
    if isinstance(host, SshHost):
        host.machine()
        address, namespace, machine = end.address or host.address(), None, end.name
    elif isinstance(host, NamespaceHost):
        address, namespace, machine = end.address or _address_of(host), host.namespace, LOCAL
    else:
        address, namespace, machine = end.address or LOOPBACK, None, LOCAL
    return Reached(end.kind, host, address, namespace, machine, host.ask)


def tools_on(end: Reached) -> set[str]:
    """The tools that are installed there; leadline's own comes with it. Those of RDMA only where there is a device."""
    programs = " ".join(dict.fromkeys(SERVED_BY.values()))
    script = f'for each in {programs}; do command -v "$each" >/dev/null 2>&1 && echo "$each"; done; [ -d {RDMA} ] && echo {RDMA}; true'
    there = set(end.ask(("sh", "-c", script)).split())
    return {
        "leadline",
        *(
            tool
            for tool, program in SERVED_BY.items()
            if program in there and (RDMA in there or not tool.startswith("ib_"))
        ),
    }


def _titles(ends: Sequence[End]) -> list[str]:
    """The same host twice is told apart, or figures of the two would be one."""
    first, second = ends[0].name, ends[1].name
    return [first, second] if first != second else [f"{first} asking", f"{second} serving"]


def _address_of(host: NamespaceHost) -> str:
    listed = json.loads(host.ask(("ip", "-json", "address", "show", "up", "scope", "global")) or "[]")
    for interface in listed:
        for each in interface.get("addr_info", ()):
            if address := each.get("local"):
                return str(address)
    raise UserError(
        f"{host.name} has no address on any interface that is up; give it one, or write {host.name}=ADDRESS"
    )


def _checked(address: str, text: str) -> str:
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        raise UserError(f'"{address}" in "{text}" is no IP address; write NAME=10.0.0.2') from None


@contextmanager
def _reader(ends: Mapping[str, Reached]) -> Iterator[NamespaceReader | None]:
    """Counters of both, where both are namespaces of this machine."""
    paths = {name: str(FOLDER / each.namespace) for name, each in ends.items() if each.namespace}
    if len(paths) < len(ends):
        yield None
        return
    with NamespaceReader(paths) as reader:
        yield reader
