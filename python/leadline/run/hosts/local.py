"""This machine."""

from __future__ import annotations

from leadline.run.hosts.supervised import SupervisedHost


class LocalHost(SupervisedHost):
    """Runs commands as they are."""

    def __init__(self) -> None:
        super().__init__("local")
