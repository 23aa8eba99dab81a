"""Network namespaces and the wiring between them, as ip-netns(8) and ip-link(8) make them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from leadline.run.lab.resource import Ledger, Record
from leadline.run.lab.tools import Toolbox, ToolFailed

FOLDER = Path("/run/netns")
BRIDGE = "br0"
DEVICE = "v0"
"""Every host's only network interface; names inside a namespace are nobody else's business."""


@dataclass(frozen=True)
class Namespace:
    """A network namespace with a name under /run/netns."""

    name: str
    only_while_up: ClassVar[bool] = False

    def described(self) -> str:
        """By its name."""
        return f"the network namespace {self.name}"

    def found(self, identity: str | None) -> bool:
        """By the inode of the namespace itself."""
        try:
            return identity in (None, str((FOLDER / self.name).stat().st_ino))
        except FileNotFoundError:
            return False

    def make(self, ledger: Ledger, record: Record) -> None:
        """Makes it; loopback comes up with the wiring."""
        try:
            ledger.tools.run("ip", "netns", "add", self.name)
        except ToolFailed as error:
            if "File exists" in error.said:
                raise FileExistsError(self.name) from None
            raise
        record(str((FOLDER / self.name).stat().st_ino))

    def remove(self, ledger: Ledger, identity: str | None) -> None:
        """Takes its name away; the kernel drops it with its last process."""
        ledger.tools.run("ip", "netns", "delete", self.name)


@dataclass(frozen=True)
class Wiring:
    """A bridge in the switch's namespace, and from each host a veth pair to it: `v0` here, port `p1`, `p2` ... there."""

    switch: str
    hosts: tuple[str, ...]
    subnet: str
    """The first three numbers of the address; host i gets `.i`."""
    only_while_up: ClassVar[bool] = False

    def described(self) -> str:
        """By its bridge."""
        return f"the bridge {BRIDGE} in {self.switch}"

    def found(self, identity: str | None) -> bool:
        """Bridge and ports live and die inside the lab's own namespaces, so their names are enough."""
        return bool(self._made()) if (FOLDER / self.switch).exists() else False

    def make(self, ledger: Ledger, record: Record) -> None:
        """In few calls of ip, each a batch: six hosts in a tenth of a second."""
        pairs = [
            f"link add {DEVICE} netns {host} type veth peer name {port(number)} netns {self.switch}"
            for number, host in enumerate(self.hosts, 1)
        ]
        _batch(ledger, None, pairs)
        ports = [f"link set {port(number)} master {BRIDGE} up" for number in range(1, len(self.hosts) + 1)]
        _batch(
            ledger,
            self.switch,
            ["link set lo up", f"link add {BRIDGE} type bridge", f"link set {BRIDGE} up", *ports],
        )
        for number, host in enumerate(self.hosts, 1):
            address = f"addr add {self.subnet}.{number}/24 dev {DEVICE}"
            _batch(ledger, host, ["link set lo up", address, f"link set {DEVICE} up"])

    def remove(self, ledger: Ledger, identity: str | None) -> None:
        """The bridge and the ports; each takes its peer in the host along."""
        _batch(ledger, self.switch, [f"link delete {name}" for name in self._made()])

    def _made(self) -> list[str]:
        wanted = {BRIDGE, *(port(number) for number in range(1, len(self.hosts) + 1))}
        return [name for name in links(self.switch) if name in wanted]


def port(number: int) -> str:
    """The switch's end of host `number`'s cable."""
    return f"p{number}"


def links(namespace: str) -> dict[str, set[str]]:
    """Interfaces of a namespace -> their flags (UP, LOWER_UP, NO-CARRIER)."""
    found = {}
    for line in Toolbox().run("ip", "-n", namespace, "-oneline", "link", "show").splitlines():
        _, name, rest = line.split(": ", 2)
        found[name.partition("@")[0]] = set(rest[rest.index("<") + 1 : rest.index(">")].split(","))
    return found


def _batch(ledger: Ledger, namespace: str | None, lines: list[str]) -> None:
    where = ("-n", namespace) if namespace else ()
    ledger.tools.run("ip", *where, "-batch", "-", text="\n".join(lines) + "\n")
