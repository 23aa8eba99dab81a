"""Traffic rules in the lab's own namespaces: queueing disciplines, dropped packets, offloads. Kinds for the journal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from leadline.run.lab.namespaces import FOLDER
from leadline.run.lab.resource import Ledger, Record
from leadline.run.lab.tools import Toolbox, ToolFailed

TABLE = "leadline"
OFFLOADS = ("tso", "gso", "gro")


@dataclass(frozen=True)
class Shaper:
    """A token bucket (tc-tbf(8)) on what leaves a device."""

    namespace: str
    device: str
    bits_per_second: int
    burst_bytes: int
    latency_ms: int
    only_while_up: ClassVar[bool] = False

    def described(self) -> str:
        """By device and namespace."""
        return f"a shaper on {self.device} in {self.namespace}"

    def found(self, identity: str | None) -> bool:
        """Whether the device has a token bucket."""
        if not (FOLDER / self.namespace).exists():
            return False
        try:
            shown = Toolbox().run("tc", "-n", self.namespace, "qdisc", "show", "dev", self.device, "root")
        except ToolFailed:  # the device is gone
            return False
        return " tbf " in f" {shown}"

    def make(self, ledger: Ledger, record: Record) -> None:
        """Packets wait for tokens at most `latency_ms`, then they are dropped."""
        ledger.tools.run(
            "tc", "-n", self.namespace, "qdisc", "add", "dev", self.device, "root", "tbf", "rate", f"{self.bits_per_second}bit",
            "burst", f"{self.burst_bytes}b", "latency", f"{self.latency_ms}ms",
        )  # fmt: skip

    def remove(self, ledger: Ledger, identity: str | None) -> None:
        """Back to the device's own queue."""
        ledger.tools.run("tc", "-n", self.namespace, "qdisc", "delete", "dev", self.device, "root")


@dataclass(frozen=True)
class PacketLoss:
    """A share of the packets that arrive at a device dropped at random (nft(8), numgen).

    At the device's ingress, as on a bad cable: a packet dropped on its way out would be an error that the sender sees.
    """

    namespace: str
    device: str
    per_thousand: int
    only_while_up: ClassVar[bool] = False

    @property
    def _table(self) -> str:
        return f"netdev {TABLE}_{self.device}"

    def described(self) -> str:
        """By device and namespace."""
        return f"packet loss on {self.device} in {self.namespace}"

    def found(self, identity: str | None) -> bool:
        """Whether our table is there."""
        if not (FOLDER / self.namespace).exists():
            return False
        return f"table {self._table}" in _nft(Toolbox(), self.namespace, "list tables\n").splitlines()

    def make(self, ledger: Ledger, record: Record) -> None:
        """One table with one chain."""
        hook = f"type filter hook ingress device {self.device} priority 0;"
        rule = f"numgen random mod 1000 < {self.per_thousand} counter drop"
        _nft(ledger.tools, self.namespace, f"table {self._table} {{\nchain loss {{\n{hook}\n{rule}\n}}\n}}\n")

    def remove(self, ledger: Ledger, identity: str | None) -> None:
        """The table with its chain."""
        _nft(ledger.tools, self.namespace, f"delete table {self._table}\n")


@dataclass(frozen=True)
class OffloadsOff:
    """Segmentation offload off: veth hands over packets of 64 KiB, and losing one of these is no packet loss (ethtool(8))."""

    namespace: str
    device: str
    only_while_up: ClassVar[bool] = False

    def described(self) -> str:
        """By device and namespace."""
        return f"offloads switched off on {self.device} in {self.namespace}"

    def found(self, identity: str | None) -> bool:
        """Whether segmentation offload is off."""
        if not (FOLDER / self.namespace).exists():
            return False
        try:
            shown = _ethtool(Toolbox(), self.namespace, "--show-features", self.device)
        except ToolFailed:
            return False
        return "tcp-segmentation-offload: off" in shown

    def make(self, ledger: Ledger, record: Record) -> None:
        """Off."""
        self._set(ledger.tools, "off")

    def remove(self, ledger: Ledger, identity: str | None) -> None:
        """On again, as veth comes."""
        self._set(ledger.tools, "on")

    def _set(self, tools: Toolbox, how: str) -> None:
        words = [word for offload in OFFLOADS for word in (offload, how)]
        _ethtool(tools, self.namespace, "--features", self.device, *words)


def _nft(tools: Toolbox, namespace: str, text: str) -> str:
    return tools.run("nsenter", f"--net={FOLDER / namespace}", "nft", "-f", "-", text=text)


def _ethtool(tools: Toolbox, namespace: str, *words: str) -> str:
    return tools.run("nsenter", f"--net={FOLDER / namespace}", "ethtool", *words)
