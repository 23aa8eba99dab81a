"""qperf: latency of messages over TCP, and streams of them. Means only, no percentiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from leadline.formats import qperf
from leadline.formats.network_figures import NetworkFigures
from leadline.run.engines.network_tool import PORT, Exchange

TESTS = {"latency": "tcp_lat", "one way": "tcp_bw"}


@dataclass(frozen=True)
class Qperf:
    """Its data goes over another port than PORT, which the server's kernel chooses. Times are whole seconds."""

    name: str = "qperf"
    package: str = "qperf"
    environment: Mapping[str, str] = field(default_factory=dict)

    def program(self, exchange: Exchange) -> str:
        """One for both sides."""
        return "qperf"

    def server(self, exchange: Exchange) -> tuple[str, ...]:
        """Serves any test."""
        return ("qperf", "--listen_port", PORT)

    def client(self, exchange: Exchange) -> tuple[str, ...]:
        """-uu: bytes and nanoseconds; -vvs: with counts."""
        return (
            "qperf", exchange.address, "--listen_port", PORT, "--time", str(max(1, round(exchange.runtime_seconds))),
            "--msg_size", str(exchange.message_size_bytes), "--precision", "6", "-uu", "-vvs", TESTS[exchange.test],
        )  # fmt: skip

    def read(self, exchange: Exchange, output: str) -> NetworkFigures:
        """Raises FormatError."""
        return qperf.parse(output, exchange.message_size_bytes)
