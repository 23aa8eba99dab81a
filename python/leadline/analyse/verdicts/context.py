"""Everything a verdict may look at: one cell, its repeats, and what they are judged by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from leadline.analyse.machine import Machine
from leadline.analyse.merge import Trials
from leadline.analyse.network_bytes import client_nic_share, has_servers
from leadline.analyse.resources import device_share, engine_cpu_cores
from leadline.analyse.results import CellResult, Reference
from leadline.analyse.trend import Trend, find_trend
from leadline.analyse.windows import Window
from leadline.store.records import Direction


@dataclass(frozen=True)
class CellContext:
    """One cell in one direction."""

    result: CellResult
    trials: Trials
    reference: Reference = field(default_factory=Reference)
    machine: Machine = field(default_factory=Machine)
    windows: tuple[Window | None, ...] = ()
    """Of the throughput series, one a repeat."""
    failures: tuple[str, ...] = ()
    """Why repeats of this cell failed that were never made good."""

    @property
    def is_read(self) -> bool:
        """Whether this direction reads."""
        return self.trials.direction is Direction.READ

    @property
    def facts(self) -> Mapping[str, Any]:
        """What was so when the first repeat ran."""
        return self.trials.first.facts

    @cached_property
    def bandwidth(self) -> float:
        """Bytes per second; 0 where nothing moved."""
        estimate = self.result.metrics.get("bandwidth")
        return estimate.value if estimate else 0.0

    @cached_property
    def device_share(self) -> float | None:
        """Bytes at the block devices over bytes of the application; None where no device was counted."""
        return device_share(self.trials)

    @cached_property
    def nic_share(self) -> float | None:
        """Bytes at the NICs of the clients over bytes of the application; None where they say nothing of it.

        A target in the lab without any server of its own (JuiceFS on a local directory) moves its data past the NICs.
        """
        over_network = self.machine.crosses_network and self.facts.get("data_over_network", True)
        return client_nic_share(self.trials) if over_network and has_servers(self.trials) else None

    @property
    def available_cores(self) -> float | None:
        """For the load generator, over all clients; None where the machine is not known."""
        if self.machine.client_cores is not None:
            return self.machine.client_cores * self.trials.hosts
        return None if self.machine.threads is None else self.machine.threads * self.trials.machines

    @property
    def caching_memory_bytes(self) -> float | None:
        """Memory of the clients that can hold cached data."""
        held, whole = self.machine.client_memory_bytes, self.machine.memory_bytes
        if held is None:
            return whole
        return min(held * self.trials.hosts, whole or math.inf)

    @cached_property
    def engine_cpu_cores(self) -> float | None:
        """Cores that the load generator kept busy; None where it was not recorded."""
        return engine_cpu_cores(self.trials)

    @cached_property
    def trend(self) -> Trend | None:
        """Across the repeats, in the order in which they ran."""
        rates = [trial.throughput for trial in self.trials.trials]
        return find_trend(rates, self.result.noise_floor)

    @cached_property
    def total_iops(self) -> float:
        """Both directions together: what the generator had to make."""
        windows = [trial.concurrent for trial in self.trials.trials]
        runtime_ns = sum(max(part.runtime_ns for part in window) for window in windows)
        operations = sum(part.operations for window in windows for part in window)
        return operations * 1e9 / runtime_ns if runtime_ns else 0.0
