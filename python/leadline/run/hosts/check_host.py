"""A host before the run: reachable, fit, and described for the environment record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from leadline.errors import UserError
from leadline.run.hosts.ssh import SshHost


@dataclass(frozen=True)
class CheckedHost:
    """What a reader of the results should know of a host."""

    name: str
    facts: dict[str, Any]
    """Kernel, cores, memory, fio's version, round trip, and how far its clock is known to be off."""
    warnings: tuple[str, ...] = ()


def check_host(host: SshHost, fio_version: str = "") -> CheckedHost:
    """Connects and looks; raises UserError when steps cannot run there. `fio_version` is this machine's ("fio-3.33"); empty where
    the campaign needs no fio.
    """
    machine = host.machine()
    if not fio_version:
        return CheckedHost(host.name, machine.facts())
    if not machine.fio_version:
        raise UserError(f"{host.name} has no fio; install it there: apt-get install fio")
    different = f"{host.name} has {machine.fio_version} where this machine has {fio_version}: options and figures may differ"
    return CheckedHost(host.name, machine.facts(), () if machine.fio_version == fio_version else (different,))
