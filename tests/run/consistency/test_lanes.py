"""Lanes that lose their clients at the same time."""

from __future__ import annotations

from contextlib import AbstractContextManager
from queue import SimpleQueue
from typing import Any

import pytest

from leadline.run.consistency import lanes
from leadline.run.consistency.clients import ClientLost


def test_that_a_mount_hangs_is_remembered_whichever_lane_is_lost_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else cleaning up would hang on it as well."""
    losses = [
        ClientLost("it has ended"),
        ClientLost("it did not answer", hangs=True),
        ClientLost("it has ended"),
    ]

    def lost_at(stations: Any) -> AbstractContextManager[Any]:
        raise losses.pop(0)

    monkeypatch.setattr(lanes, "clients_at", lost_at)
    several = lanes.Lanes((), 1.0, lambda done: None)
    for _ in range(3):
        several._lane(SimpleQueue())
    assert several.lost is not None and several.lost.hangs
