"""Counters of other network namespaces: what each host of a lab, or each client in a namespace, has sent and received.

/proc/net shows the namespace of the task that opened it, and a file opened there keeps showing it. So one thread a namespace
enters it once (setns(2); Python 3.11 has no os.setns), opens the two files and ends: a look costs two pread(2) a namespace,
from whatever thread. The open files hold the namespace: close them before it is taken down, or it lives on without a name.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType

from leadline.errors import UserError
from leadline.run.observe.counter_readings import interface_counters, tcp_counters

CLONE_NEWNET = 0x40000000
"""include/uapi/linux/sched.h"""
FILES = ("/proc/thread-self/net/dev", "/proc/thread-self/net/snmp")
LOOPBACK = "lo"
AT_ONCE_BYTES = 1 << 16


@dataclass(frozen=True)
class _Opened:
    interfaces: int
    protocols: int


class NamespaceReader:
    """`with NamespaceReader({"client1": "/run/netns/x"}) as reader:`; made once for many steps."""

    def __init__(self, namespaces: Mapping[str, str]) -> None:
        self._opened: dict[str, _Opened] = {}
        try:
            for name, path in namespaces.items():
                self._opened[name] = _opened(name, path)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> NamespaceReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets the namespaces go; harmless when it has."""
        while self._opened:
            _, opened = self._opened.popitem()
            os.close(opened.interfaces)
            os.close(opened.protocols)

    def counters(self) -> dict[str, int]:
        """`host.<name>.nic.<device>.receive_bytes`, `host.<name>.tcp.retransmitted_segments` ... without loopback."""
        return {
            f"host.{name}.{counter}": value
            for name, opened in self._opened.items()
            for counter, value in _counters(opened)
        }


def _counters(opened: _Opened) -> Iterator[tuple[str, int]]:
    for name, value in interface_counters(_text(opened.interfaces)):
        if not name.startswith(f"nic.{LOOPBACK}."):
            yield name, value
    yield from tcp_counters(_text(opened.protocols))


def _text(descriptor: int) -> str:
    """The whole of a file of /proc, which comes a page at a time."""
    content = b""
    while part := os.pread(descriptor, AT_ONCE_BYTES, len(content)):
        content += part
    return content.decode(errors="replace")


def _opened(name: str, path: str) -> _Opened:
    """By a thread of its own, which is in the namespace for the rest of its short life; raises UserError when it cannot be entered."""
    with ThreadPoolExecutor(1) as thread:
        try:
            return _Opened(*thread.submit(_open_inside, path).result())
        except OSError as error:
            raise UserError(
                f"the network counters of {name} cannot be read: {path}: {error.strerror}; is its namespace there, and are you root?"
            ) from None


def _open_inside(path: str) -> tuple[int, ...]:
    _enter(path)
    opened: list[int] = []
    try:
        for file in FILES:
            opened.append(os.open(file, os.O_RDONLY | os.O_CLOEXEC))
    except OSError:
        for descriptor in opened:
            os.close(descriptor)
        raise
    return tuple(opened)


def _enter(path: str) -> None:
    namespace = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if library.setns(namespace, CLONE_NEWNET):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
    finally:
        os.close(namespace)
