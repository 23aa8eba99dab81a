"""iperf3: streams of TCP, with the segments that were sent again. It states no latency of messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from leadline.formats import iperf3
from leadline.formats.network_figures import NetworkFigures
from leadline.run.engines.network_tool import PORT, Exchange


@dataclass(frozen=True)
class Iperf3:
    """-N: a message is sent when it is written, as the other tools do. Times are whole seconds, at least one."""

    name: str = "iperf3"
    package: str = "iperf3"
    environment: Mapping[str, str] = field(default_factory=dict)

    def program(self, exchange: Exchange) -> str:
        """One for both sides."""
        return "iperf3"

    def server(self, exchange: Exchange) -> tuple[str, ...]:
        """For one client."""
        return ("iperf3", "--server", "--port", PORT)

    def client(self, exchange: Exchange) -> tuple[str, ...]:
        """JSON on its output."""
        both = ("--bidir",) if exchange.test == "both ways" else ()
        return (
            "iperf3", "--client", exchange.address, "--port", PORT, "--len", str(exchange.message_size_bytes),
            "--time", str(max(1, round(exchange.runtime_seconds))), "--no-delay", "--json", *both,
        )  # fmt: skip

    def read(self, exchange: Exchange, output: str) -> NetworkFigures:
        """Raises FormatError."""
        return iperf3.parse(output, exchange.message_size_bytes)
