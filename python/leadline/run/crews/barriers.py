"""Barriers between clients that their commands ask for: all arrive, then all go on with the greatest number that one of them brought.

Everything is decided under one lock, because a client that ends at the same moment as another arrives must not be waited for.
"""

from __future__ import annotations

import threading


class Barriers:
    """For a fixed number of clients, a thread each. There is no timeout here: commands have theirs, and whoever ends leaves."""

    def __init__(self, clients: int) -> None:
        self._clients = clients
        self._changed = threading.Condition()
        self._opened = 0
        """Barriers that all have passed."""
        self._brought: list[int] = []
        """Of those that wait at the next one."""
        self._agreed = 0
        self._broken = False

    def meet(self, number: int, greatest: int) -> int:
        """Waits for all; raises threading.BrokenBarrierError when one has ended, or is at another barrier."""
        with self._changed:
            if number != self._opened + 1:
                self._break()
            if self._broken:
                raise threading.BrokenBarrierError
            self._brought.append(greatest)
            if len(self._brought) == self._clients:
                self._agreed, self._brought, self._opened = max(self._brought), [], number
                self._changed.notify_all()
                return self._agreed
            self._changed.wait_for(lambda: self._broken or self._opened >= number)
            if self._opened < number:
                raise threading.BrokenBarrierError
            return self._agreed

    def leave(self) -> None:
        """One has ended: whoever waits for it waits in vain, now and later."""
        with self._changed:
            self._break()

    def _break(self) -> None:
        self._broken = True
        self._changed.notify_all()
