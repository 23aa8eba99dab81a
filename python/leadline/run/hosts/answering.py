"""What a command asks on its output while it runs, answered: `barrier NUMBER GREATEST`, and `go NUMBER GREATEST` when all are there.

The engine's end of this wire is crates/leadline-workloads/src/metadata/company.rs.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

from leadline.run.seams import Gate

QUESTION = re.compile(r"barrier (\d{1,20}) (\d{1,20})\s*")
LEFT_ALONE = "it was ended, because another client had ended before it"


class Answering:
    """Hears the lines of one command; questions are answered, everything else is passed on."""

    def __init__(self, gate: Gate, order: Callable[[str], None], on_line: Callable[[str], None]) -> None:
        """`order` reaches the command's supervisor."""
        self._gate = gate
        self._order = order
        self._on_line = on_line
        self.left_alone = False
        """Whether the command was ended, since the others will not come."""

    def hear(self, line: str) -> None:
        """Waits at a barrier for the other clients; the command waits meanwhile, so nobody else's output is held up."""
        question = QUESTION.fullmatch(line)
        if question is None:
            self._on_line(line)
            return
        number, greatest = int(question[1]), int(question[2])
        try:
            agreed = self._gate.meet(number, greatest)
        except threading.BrokenBarrierError:
            self.left_alone = True
            self._order("interrupt\n")
        else:
            self._order(f"tell go {number} {agreed}\n")
