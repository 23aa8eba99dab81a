"""What every tool that measures a network must say of itself, so that a pair of hosts can run it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from leadline.formats.network_figures import NetworkFigures

PORT = "PORT"
"""Stands for the port in a command line: it is known when the server has found a free one."""


@dataclass(frozen=True)
class Exchange:
    """One cell."""

    test: str
    message_size_bytes: int
    ramp_seconds: float
    runtime_seconds: float
    address: str
    """The server's."""


class NetworkTool(Protocol):
    """A foreign tool with a server and a client, found by the server's TCP port."""

    @property
    def name(self) -> str: ...

    @property
    def package(self) -> str:
        """Debian's, for the hint where it is missing."""
        ...

    @property
    def environment(self) -> Mapping[str, str]: ...

    def program(self, exchange: Exchange) -> str:
        """What must be installed on both hosts."""
        ...

    def server(self, exchange: Exchange) -> tuple[str, ...]:
        """Its command line; the server is ended when the client is done."""
        ...

    def client(self, exchange: Exchange) -> tuple[str, ...]:
        """Its command line."""
        ...

    def read(self, exchange: Exchange, output: str) -> NetworkFigures:
        """What the client printed; raises FormatError."""
        ...
