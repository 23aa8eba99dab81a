"""A host that starts nothing: it tells a few lines, lets a test do something meanwhile, and is done."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from leadline.run.seams import Completed, Gate, Invocation


def _nothing(invocation: Invocation) -> None:
    return None


@dataclass
class FakeHost:
    """Remembers what it was told to run."""

    meanwhile: Callable[[Invocation], Completed | None] = _nothing
    """Called as the command would run: what a test wants to happen just then. What it returns is what came of the command."""
    lines: Sequence[str] = ("0.5",)
    ran: list[Invocation] = field(default_factory=list)
    interrupts: int = 0
    name: str = "fake"

    def run(
        self,
        invocation: Invocation,
        on_start: Callable[[int], None],
        on_line: Callable[[str], None],
        gate: Gate | None = None,
    ) -> Completed:
        """Ends at once, with exit code 0 unless the test says otherwise."""
        try:
            if gate is not None:
                gate.wait()
        except threading.BrokenBarrierError:
            return Completed(None, "", "", 0, reason="another client could not come")
        self.ran.append(invocation)
        on_start(os.getpid())
        for line in self.lines:
            on_line(line)
        completed = self.meanwhile(invocation)
        return completed or Completed(0, "", "", wall_ns=1_000_000_000, cpu_seconds=0.5)

    def interrupt(self) -> None:
        """Counted."""
        self.interrupts += 1
