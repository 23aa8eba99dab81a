"""ucx_perftest, over UCX's tcp transport: tagged messages as MPI on UCX sends them.

It goes by a number of messages and not by time. UCX_TLS=tcp: otherwise two hosts of one machine would talk through shared memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from leadline.formats import ucx_perftest
from leadline.formats.network_figures import NetworkFigures
from leadline.run.engines.network_tool import PORT, Exchange

TESTS = {"latency": "tag_lat", "one way": "tag_bw"}
MOST_MESSAGES, FEWEST_MESSAGES = 2000, 20
AT_MOST_BYTES = 128 << 20
WARM_UP_MESSAGES = 10


@dataclass(frozen=True)
class UcxPerftest:
    """The server learns the test from its client."""

    name: str = "ucx_perftest"
    package: str = "ucx-utils"
    environment: Mapping[str, str] = field(
        default_factory=lambda: {"UCX_TLS": "tcp", "UCX_LOG_LEVEL": "error"}
    )

    def program(self, exchange: Exchange) -> str:
        """One for both sides."""
        return "ucx_perftest"

    def server(self, exchange: Exchange) -> tuple[str, ...]:
        """For one client."""
        return ("ucx_perftest", "-p", PORT)

    def client(self, exchange: Exchange) -> tuple[str, ...]:
        """CSV on its output."""
        fitting = AT_MOST_BYTES // exchange.message_size_bytes
        messages = min(MOST_MESSAGES, max(FEWEST_MESSAGES, fitting))
        return (
            "ucx_perftest", exchange.address, "-p", PORT, "-t", TESTS[exchange.test], "-s", str(exchange.message_size_bytes),
            "-n", str(messages), "-w", str(WARM_UP_MESSAGES), "-v",
        )  # fmt: skip

    def read(self, exchange: Exchange, output: str) -> NetworkFigures:
        """Raises FormatError."""
        return ucx_perftest.parse(output, exchange.message_size_bytes, exchange.test == "latency")
