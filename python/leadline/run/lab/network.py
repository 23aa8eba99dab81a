"""Hosts as network namespaces on a bridge: a small cluster's network on one machine, in a tenth of a second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leadline.errors import UserError
from leadline.run.lab.journal import Journal
from leadline.run.lab.namespaces import FOLDER, Namespace, Wiring, port

SUBNET = "10.77.1"
"""The same in every lab: no address is ever given to this machine itself, so labs do not meet."""
HOSTS_AT_MOST = 250


@dataclass(frozen=True)
class LabHost:
    """One host of a lab."""

    number: int
    namespace: str
    address: str
    switch: str
    port: str

    def inside(self, argv: Sequence[str]) -> tuple[str, ...]:
        """The command line that runs there.

        nsenter(1) and not `ip netns exec`, which makes a mount namespace too: FUSE mounts made in it nobody else would see.
        """
        return ("nsenter", f"--net={FOLDER / self.namespace}", "--", *argv)


@dataclass(frozen=True)
class Network:
    """The hosts of a lab, numbered from 1."""

    switch: str
    hosts: tuple[LabHost, ...]


def make_network(journal: Journal, prefix: str, hosts: int) -> Network:
    """Namespaces `<prefix>-switch`, `<prefix>-h1` ... wired up; raises UserError when one of that name exists."""
    if not 1 <= hosts <= HOSTS_AT_MOST:
        raise UserError(f"a lab has 1 to {HOSTS_AT_MOST} hosts, not {hosts}")
    network = network_of(prefix, hosts)
    names = tuple(host.namespace for host in network.hosts)
    for name in (network.switch, *names):
        journal.make(Namespace(name))
    journal.make(Wiring(network.switch, names, SUBNET))
    return network


def network_of(prefix: str, hosts: int) -> Network:
    """The network of that many hosts by its names alone: what a lab that is already up has."""
    switch = f"{prefix}-switch"
    return Network(
        switch,
        tuple(
            LabHost(number, f"{prefix}-h{number}", f"{SUBNET}.{number}", switch, port(number))
            for number in range(1, hosts + 1)
        ),
    )
