"""A host of a client, reached by ssh: the connection, leadline's engine there, and the host's clock."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from leadline.errors import UserError
from leadline.run.consistency.clients import Client, ClientLost, Station
from leadline.run.consistency.clock_watch import HostClock, asking
from leadline.run.hosts.remote_machine import RemoteMachine, look_at
from leadline.run.hosts.ssh_connection import Connection

FAR_PLACE = re.compile(r"([^/:]+):(.*)")
"""`HOST:/mnt/work`; a plain path begins with `/`, `.` or a name without a colon."""


@dataclass(frozen=True, eq=False)
class Far:
    """Where a client that is not here runs."""

    name: str
    """As ssh knows the host."""
    connection: Connection
    """Of this client alone: sshd carries ten sessions on one (MaxSessions), and every lane is one; ssh makes a new one for further ones."""
    machine: RemoteMachine
    clock: HostClock | None
    """Shared by all clients of the host; None for the client that reads the clock."""

    def argv(self, command: Sequence[str]) -> tuple[str, ...]:
        """The command line that runs `command` there; where the connection is lost, it ends with ssh's complaint."""
        return tuple(self.connection.argv(command))


def parted(place: Path) -> tuple[str, Path]:
    """Host and directory; the host is empty for a path of this machine. Raises UserError."""
    found = FAR_PLACE.fullmatch(str(place))
    if found is None:
        return "", place.absolute()
    host, directory = found[1], Path(found[2] or "/")  # pathlib takes the last slash off
    if not directory.is_absolute():
        raise UserError(
            f'"{place}" names no directory on {host}; give the whole path, as in {host}:/mnt/work'
        )
    return host, directory


@contextmanager
def stations_at(places: Mapping[str, Path]) -> Iterator[dict[str, Station]]:
    """A station for each name, with connections and clocks that are closed at the end; raises UserError."""
    clocks: dict[str, HostClock] = {}
    with ExitStack() as stack:
        stations = {}
        for name, place in places.items():
            host, directory = parted(place)
            if host and host not in clocks:
                clocks[host] = _clock(host, stack)
            far = _reached(host, clocks[host], stack) if host else None
            stations[name] = Station(name, directory, far=far)
        yield stations


def _reached(host: str, clock: HostClock | None, stack: ExitStack) -> Far:
    connection = Connection(host)
    stack.callback(connection.close)
    connection.open()
    return Far(host, connection, look_at(connection), clock)


def _clock(host: str, stack: ExitStack) -> HostClock:
    far = _reached(host, None, stack)
    client = Client(Station(host, Path("/"), far=far))
    stack.callback(client.close)
    clock = HostClock(host, asking(client))
    stack.callback(clock.close)
    try:
        clock.start()
    except ClientLost as lost:
        raise UserError(f"{host} does not tell its time: {lost}") from None
    return clock
