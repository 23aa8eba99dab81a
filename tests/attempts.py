"""Measurements on a machine that stalls: one that it spoilt is made again, a few times; what is wrong of itself is wrong every time.

for attempt in attempts():
    measured = ...
    assert measured < ...      what no stall can excuse, in every attempt
    with attempt:
        assert measured > ...  what a stall may take away, in one of them
"""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType


class Attempt:
    """One of several: what does not hold in it is forgiven, unless it is the last."""

    def __init__(self, is_last: bool) -> None:
        self._is_last = is_last
        self.held = False

    def __enter__(self) -> None:
        self.held = False

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        self.held = kind is None
        return kind is not None and issubclass(kind, AssertionError) and not self._is_last


def attempts(at_most: int = 4) -> Iterator[Attempt]:
    """Until one has held."""
    for number in range(at_most):
        attempt = Attempt(number == at_most - 1)
        yield attempt
        if attempt.held:
            return
