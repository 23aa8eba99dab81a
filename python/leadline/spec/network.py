"""An experiment on the network between two hosts: what `leadline network` asks, and what campaigns may ask of a target's clients."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from leadline.spec.values import Axis, Count, Duration, Size, Strict

Test = Literal["latency", "one way", "both ways"]
Tool = Literal["leadline", "iperf3", "qperf", "fi_pingpong", "ucx_perftest", "ib_send", "ib_write", "ib_read"]

TOOL_TESTS: dict[str, tuple[str, ...]] = {
    "leadline": ("latency", "one way", "both ways"),
    "iperf3": ("one way", "both ways"),
    "qperf": ("latency", "one way"),
    "fi_pingpong": ("latency",),
    "ucx_perftest": ("latency", "one way"),
    "ib_send": ("latency", "one way", "both ways"),
    "ib_write": ("latency", "one way", "both ways"),
    "ib_read": ("latency", "one way", "both ways"),
}
"""What each tool is asked to measure: what it measures well (docs/guide/network.md says why)."""

TOOL_LARGEST_BYTES = {"iperf3": 1 << 20}
"""The longest message that a tool takes, where one of ours may be longer; iperf3 3.12 says so when it is asked for more."""

SMALLEST_BYTES, LARGEST_BYTES = 2, 8 << 20
ALL_SIZES = tuple(SMALLEST_BYTES << power for power in range(0, 23, 2))
"""2 B to 8 MiB, each four times the one before."""
LARGEST_MESSAGE_BYTES = 1 << 30


def measures(tool: str, test: str, message_size_bytes: int) -> bool:
    """Whether a tool is asked for that; what it does not measure is left out of an experiment."""
    return test in TOOL_TESTS[tool] and message_size_bytes <= TOOL_LARGEST_BYTES.get(tool, message_size_bytes)


class NetworkExperiment(Strict):
    """Messages of each size between the first two clients; lists are axes and multiply."""

    name: str = Field(min_length=1)
    targets: tuple[str, ...] | None = Field(
        None, description="the targets between whose clients it is measured, by label or name; left out: all"
    )
    engine: Literal["network"]
    tool: Axis[Tool] = Field(("leadline",), description="what makes the messages; installed on both hosts")
    test: Axis[Test] = Field(
        ("latency", "one way"),
        description="latency: there and back, half of it; one way, both ways: a stream of messages",
    )
    message_size: Axis[Size] = Field(ALL_SIZES, description="bytes of a message")
    ramp: Duration = Field(0.1, description="before anything is counted, where the tool can leave it out")
    runtime: Duration = Field(1.0, description="seconds measured, of each cell")
    timeout: Duration | None = Field(None, description="hard limit on a cell's wall time")
    repeats: Count = 3

    @model_validator(mode="after")
    def _measurable(self) -> NetworkExperiment:
        if max(self.message_size) > LARGEST_MESSAGE_BYTES:
            raise ValueError("has a `message_size` above 1 GiB; give sizes from 1 B to 1 GiB")
        if self.runtime <= 0:
            raise ValueError('has `runtime` 0; give a time to measure for, such as "1s"')
        for tool in self.tool:
            if not set(self.test) & set(TOOL_TESTS[tool]):
                raise ValueError(
                    f"asks {tool} for nothing that it measures; it does {' and '.join(f'{test!r}' for test in TOOL_TESTS[tool])}"
                )
            if min(self.message_size) > TOOL_LARGEST_BYTES.get(tool, LARGEST_MESSAGE_BYTES):
                longest = f"{TOOL_LARGEST_BYTES[tool] >> 20} MiB"
                raise ValueError(
                    f"asks {tool} for messages above {longest} only, which it does not take; give a smaller one"
                )
        return self
