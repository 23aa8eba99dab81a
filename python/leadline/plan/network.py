"""An experiment on the network multiplied out. Combinations that a tool does not measure are left out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from leadline.plan.assumptions import STEP_OVERHEAD_SECONDS
from leadline.spec.network import NetworkExperiment, measures
from leadline.store.records import Cell, Scalar

GOODWILL_SECONDS = 20.0
"""For meeting, connecting, and for what still lies in buffers when the time is over."""


def expand_network(experiment: NetworkExperiment) -> Iterator[dict[str, Scalar]]:
    """Every cell, in the order in which the axes are listed."""
    for tool, test, size in product(experiment.tool, experiment.test, experiment.message_size):
        if measures(tool, test, size):
            yield {
                "tool": tool, "test": test, "message_size": size,
                "ramp": experiment.ramp, "runtime": experiment.runtime,
            }  # fmt: skip


def expected_seconds(cell: Cell) -> float:
    """Of one step."""
    return float(cell["ramp"]) + float(cell["runtime"]) + STEP_OVERHEAD_SECONDS


def longest_seconds(cell: Cell) -> float:
    """After which one of the two is taken for lost."""
    return 2 * expected_seconds(cell) + GOODWILL_SECONDS
