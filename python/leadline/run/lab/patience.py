"""How long is waited for what was ordered: by the clock and by looks, since a machine that stood still let nobody get on meanwhile."""

from __future__ import annotations

import time

LEAST_LOOKS = 25


class Patience:
    """Over when the time is, and when there was a look often enough: after a stall the last look would be the first one."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._looks = 0

    def is_over(self) -> bool:
        """Asked once a look, after it."""
        self._looks += 1
        return self._looks >= LEAST_LOOKS and time.monotonic() > self._until
