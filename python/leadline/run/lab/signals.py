"""How Ctrl-C and SIGTERM meet a lab: both walk the way down, and nothing interrupts it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def ending_orderly() -> Iterator[None]:
    """SIGTERM raises like Ctrl-C does, so that the way down is walked; the run itself hears both in its own way."""

    def end(signum: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def undisturbed() -> Iterator[None]:
    """The way down takes seconds and is not interrupted: a signal that comes meanwhile is heard when it is over; `kill -9` still is
    answered by `leadline lab down`.

    Held back by a handler and not by SIG_IGN, which would be inherited (execve(2)): a server that is started again meanwhile
    would be deaf to SIGTERM. Signals reach the main thread only, so any other is undisturbed already.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def hold(signum: int, frame: FrameType | None) -> None:
        came.append(signum)

    before = {number: signal.signal(number, hold) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])
