"""The crew of one: no gate, nobody to wait for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from leadline.run.seams import Client, Completed, Invocation


@dataclass(frozen=True)
class Alone:
    """One client on its host."""

    client: Client

    def run(
        self,
        invocations: Mapping[str, Invocation],
        on_start: Callable[[int], None],
        on_line: Callable[[str], None],
    ) -> Mapping[str, Completed]:
        """Runs its invocation."""
        completed = self.client.host.run(invocations[self.client.name], on_start, on_line)
        return {self.client.name: completed}

    def interrupt(self) -> None:
        """Passed on."""
        self.client.host.interrupt()

    def facts(self) -> Mapping[str, Any]:
        """None: there is nobody to compare with."""
        return {}
