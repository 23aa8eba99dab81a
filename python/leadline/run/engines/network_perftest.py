"""perftest (ib_send_bw, ib_write_lat ...), where there is RDMA. Command lines by its manual; never run here against a device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from leadline.formats import perftest
from leadline.formats.fields import FormatError
from leadline.formats.network_figures import Flow, NetworkFigures
from leadline.formats.perftest import PerftestRow
from leadline.run.engines.network_tool import PORT, Exchange

ITERATIONS = 5000
"""perftest's own number for small messages is 1000 (latency) or 5000; a run by time (-D) prints no percentiles."""
FEWEST_ITERATIONS = 100
AT_MOST_BYTES = 4 << 30


@dataclass(frozen=True)
class Perftest:
    """`name` is the verb: ib_send, ib_write, ib_read. Both sides take the same options."""

    name: str
    package: str = "perftest"
    environment: Mapping[str, str] = field(default_factory=dict)

    def program(self, exchange: Exchange) -> str:
        """ib_send_lat, ib_send_bw."""
        return f"{self.name}_{'lat' if exchange.test == 'latency' else 'bw'}"

    def server(self, exchange: Exchange) -> tuple[str, ...]:
        """For one client; then it ends."""
        return (self.program(exchange), *self._options(exchange))

    def client(self, exchange: Exchange) -> tuple[str, ...]:
        """Prints the table."""
        return (self.program(exchange), *self._options(exchange), exchange.address)

    def read(self, exchange: Exchange, output: str) -> NetworkFigures:
        """Raises FormatError."""
        if not perftest.HEADER.search(output):
            said = [line for line in output.splitlines() if line.strip()]
            raise FormatError(f"{self.name} printed no table: {said[-1].strip() if said else 'nothing'}")
        return _figures(perftest.parse_text(output)[-1], exchange)

    def _options(self, exchange: Exchange) -> tuple[str, ...]:
        fitting = AT_MOST_BYTES // exchange.message_size_bytes
        iterations = min(ITERATIONS, max(FEWEST_ITERATIONS, fitting))
        both = ("-b",) if exchange.test == "both ways" else ()
        return ("-F", "-p", PORT, "-s", str(exchange.message_size_bytes), "-n", str(iterations), *both)


def _figures(row: PerftestRow, exchange: Exchange) -> NetworkFigures:
    moved = row.iterations * row.message_size_bytes
    if row.bytes_per_second is not None:
        # -b states the sum of both directions, over iterations of either; the two are not told apart.
        runtime_ns = max(1, round(moved / row.bytes_per_second * 1e9))
        return NetworkFigures(sent=Flow(moved, runtime_ns, row.iterations))
    mean_ns = row.mean_ns or 0.0
    if mean_ns <= 0:
        raise FormatError(f"{row.test} states a time of nothing")
    messages = (
        row.iterations if "read" in row.test else 2 * row.iterations
    )  # a read states a whole round trip
    flow = Flow(0, max(1, round(messages * mean_ns)), messages)
    return NetworkFigures(
        sent=flow, round_trips=row.iterations, mean_ns=mean_ns, percentiles_ns=dict(row.percentiles_ns)
    )
