"""fi_pingpong of libfabric, over its tcp provider: latency of messages as an application of libfabric sees it.

It goes by a number of round trips and not by time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from leadline.formats import fi_pingpong
from leadline.formats.network_figures import NetworkFigures
from leadline.run.engines.network_tool import PORT, Exchange

MOST_ROUND_TRIPS, FEWEST_ROUND_TRIPS = 5000, 20
AT_MOST_BYTES = 128 << 20
"""Each way, so that large messages over a slow link come to an end."""


@dataclass(frozen=True)
class FiPingpong:
    """Connected endpoints (-e msg) of the tcp provider, which every libfabric has."""

    name: str = "fi_pingpong"
    package: str = "libfabric-bin"
    environment: Mapping[str, str] = field(default_factory=dict)

    def program(self, exchange: Exchange) -> str:
        """One for both sides."""
        return "fi_pingpong"

    def server(self, exchange: Exchange) -> tuple[str, ...]:
        """Both sides must be told the same test."""
        return ("fi_pingpong", "-B", PORT, *_test(exchange))

    def client(self, exchange: Exchange) -> tuple[str, ...]:
        """Prints the table."""
        return ("fi_pingpong", "-P", PORT, *_test(exchange), exchange.address)

    def read(self, exchange: Exchange, output: str) -> NetworkFigures:
        """Raises FormatError."""
        return fi_pingpong.parse(output, round_trips(exchange))


def round_trips(exchange: Exchange) -> int:
    """Fewer for larger messages."""
    fitting = AT_MOST_BYTES // exchange.message_size_bytes
    return min(MOST_ROUND_TRIPS, max(FEWEST_ROUND_TRIPS, fitting))


def _test(exchange: Exchange) -> tuple[str, ...]:
    size = str(exchange.message_size_bytes)
    return ("-p", "tcp", "-e", "msg", "-I", str(round_trips(exchange)), "-S", size)
